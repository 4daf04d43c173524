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
  const isField = HTML_FIELDS.has(element.localName);
  let flags = '';
  if (role === 'heading') flags += ` level=${headingLevel(element)}`;
  if (CHECKABLE_ROLES.has(role)) flags += checkedFlag(element);
  if (EXPANDABLE_ROLES.has(role)) flags += expandedFlag(element);
  if (SELECTABLE_ROLES.has(role) && isSelected(element)) flags += ' selected';
  if (element.getAttribute('aria-disabled') === 'true' || (isField && element.matches(':disabled'))) flags += ' disabled';
  if (element.getAttribute('aria-required') === 'true' || (isField && element.required)) flags += ' required';
  const pressed = role === 'button' && element.getAttribute('aria-pressed');
  if (pressed) flags += ` pressed=${pressed}`;
  if (isMarkedInvalid(element, isField)) flags += ' invalid';
  if (element === active) flags += ' active';
  if (urls && role === 'link') flags += urlFlag(element);
  return flags.slice(1);
}

function headingLevel(element) {
  const asked = Number.parseInt(element.getAttribute('aria-level'), 10);
  if (asked > 0) return asked;
  const tag = /^h([1-6])$/.exec(element.localName);
  return tag ? tag[1] : 2;
}

function checkedFlag(element) {
  const checked = checkedState(element);
  return checked === true ? ' checked' : ` checked=${checked === 'mixed' ? 'mixed' : 'false'}`;
}

function expandedFlag(element) {
  const tag = element.localName;
  if (tag === 'summary') return ` expanded=${element.parentElement.open}`;
  const asked = element.getAttribute('aria-expanded');
  if (asked === 'true' || asked === 'false') return ` expanded=${asked}`;
  if (tag === 'select' && !element.multiple && element.size <= 1) return ` expanded=${isOpenSelect(element)}`;
  return '';
}

const KNOWS_OPEN = CSS.supports('selector(:open)');

function isOpenSelect(select) {
  return KNOWS_OPEN && select.matches(':open');
}

function isSelected(element) {
  if (isHtml(element, 'option')) return element.selected;
  return element.getAttribute('aria-selected') === 'true';
}

/** Required fields that nobody touched yet are not shown as wrong, as on the page itself. */
function isMarkedInvalid(element, isField) {
  const asked = element.getAttribute('aria-invalid');
  if (asked !== null) return asked !== '' && asked !== 'false';
  return isField && element.matches(':user-invalid');
}

function urlFlag(element) {
  const href = element.href;
  const url = typeof href === 'string' ? href : element.getAttribute('href');
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
  if (!VALUE_ROLES.has(role)) return isEditable ? tidy(element.innerText || '') : '';
  const tag = element.localName;
  if (tag === 'input' || tag === 'textarea') return valueOfInput(element);
  if (tag === 'select') return tidy([...element.selectedOptions].map((option) => option.label).join(', '));
  if (tag === 'progress') return element.hasAttribute('value') ? String(element.value) : '';
  if (tag === 'meter') return String(element.value);
  const said = element.getAttribute('aria-valuetext') || element.getAttribute('aria-valuenow');
  if (said || !/box$/.test(role)) return said || '';
  return role === 'combobox' ? tidy(chosenText(element) || '') : tidy(element.innerText || '');
}

function valueOfInput(input) {
  // The length of a password is a secret too.
  if (input.value !== '' && isSecret(input)) return MASK;
  return tidy(input.value);
}
