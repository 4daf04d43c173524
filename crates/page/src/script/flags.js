// Flags and values of a snapshot row: the states of an element that a reader needs to know.

const EXPANDABLE_ROLES = new Set(
  ('application button checkbox columnheader combobox gridcell link listbox menuitem menuitemcheckbox menuitemradio row rowheader ' +
    'switch tab treeitem').split(' '),
);
const SELECTABLE_ROLES = new Set(['option', 'tab', 'treeitem', 'row', 'gridcell', 'columnheader', 'rowheader']);
const VALUE_ROLES = new Set(['textbox', 'searchbox', 'combobox', 'spinbutton', 'slider', 'progressbar', 'meter', 'scrollbar']);
const HTML_FIELDS = new Set(['input', 'textarea', 'select', 'button', 'fieldset', 'option', 'optgroup']);

/** Tokens in a fixed order, separated by spaces. */
function flagsOf(element, role, { active, urls }) {
  const isField = HTML_FIELDS.has(localNameOf(element));
  let flags = '';
  if (role === 'heading') flags += ` level=${headingLevel(element)}`;
  if (CHECKABLE_ROLES.has(role)) flags += checkedFlag(element);
  if (EXPANDABLE_ROLES.has(role)) flags += expandedFlag(element);
  if (SELECTABLE_ROLES.has(role) && isSelected(element)) flags += ' selected';
  if (attributeOf(element, 'aria-disabled') === 'true' || (isField && matchesSelector(element, ':disabled'))) flags += ' disabled';
  if (attributeOf(element, 'aria-required') === 'true' || (isField && element.required)) flags += ' required';
  const pressed = role === 'button' && attributeOf(element, 'aria-pressed');
  if (pressed) flags += ` pressed=${pressed}`;
  if (isMarkedInvalid(element, isField)) flags += ' invalid';
  if (element === active) flags += ' active';
  if (urls && role === 'link') flags += urlFlag(element);
  return flags.slice(1);
}

function headingLevel(element) {
  const asked = Number.parseInt(attributeOf(element, 'aria-level'), 10);
  if (asked > 0) return asked;
  const tag = /^h([1-6])$/.exec(localNameOf(element));
  return tag ? tag[1] : 2;
}

function checkedFlag(element) {
  const checked = checkedState(element);
  return checked === true ? ' checked' : ` checked=${checked === 'mixed' ? 'mixed' : 'false'}`;
}

function expandedFlag(element) {
  const tag = localNameOf(element);
  if (tag === 'summary') return ` expanded=${parentElementOf(element).open}`;
  const asked = attributeOf(element, 'aria-expanded');
  if (asked === 'true' || asked === 'false') return ` expanded=${asked}`;
  if (tag === 'select' && !element.multiple && element.size <= 1) return ` expanded=${isOpenSelect(element)}`;
  return '';
}

// Electron apps carry browsers that are years old (before 119 there is no :user-invalid).
const KNOWS_OPEN = CSS.supports('selector(:open)');
const KNOWS_USER_INVALID = CSS.supports('selector(:user-invalid)');

function isOpenSelect(select) {
  return KNOWS_OPEN && matchesSelector(select, ':open');
}

function isSelected(element) {
  if (isHtml(element, 'option')) return element.selected;
  return attributeOf(element, 'aria-selected') === 'true';
}

/** Required fields that nobody touched yet are not shown as wrong, as on the page itself. */
function isMarkedInvalid(element, isField) {
  const asked = attributeOf(element, 'aria-invalid');
  if (asked !== null) return asked !== '' && asked !== 'false';
  return isField && KNOWS_USER_INVALID && matchesSelector(element, ':user-invalid');
}

function urlFlag(element) {
  const href = element.href;
  const url = typeof href === 'string' ? href : attributeOf(element, 'href');
  if (!url) return '';
  try {
    return ` url=${encodeURI(decodeURI(url))}`;
  } catch {
    return ` url=${encodeURI(url)}`;
  }
}

/** What the element holds, for roles that hold something. */
function valueOf(element, role, isEditable) {
  if (element.type === 'file' && element.files) return tidy([...element.files].map((file) => file.name).join(', '));
  if (!VALUE_ROLES.has(role)) return isEditable ? tidy(innerTextOf(element) || '') : '';
  const tag = localNameOf(element);
  if (tag === 'input' || tag === 'textarea') return valueOfInput(element);
  if (tag === 'select') return tidy([...element.selectedOptions].map((option) => option.label).join(', '));
  if (tag === 'progress') return hasAttribute(element, 'value') ? String(element.value) : '';
  if (tag === 'meter') return String(element.value);
  const said = attributeOf(element, 'aria-valuetext') || attributeOf(element, 'aria-valuenow');
  if (said || !/box$/.test(role)) return said || '';
  return role === 'combobox' ? tidy(chosenText(element) || '') : tidy(innerTextOf(element) || '');
}

function valueOfInput(input) {
  // The length of a password is a secret too.
  if (input.value !== '' && isSecret(input)) return MASK;
  return tidy(input.value);
}
