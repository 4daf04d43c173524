// Filling fields: what a field takes, how its value is set, and whether it kept it.
//
// Text is typed by the browser (Input.insertText) so that the page sees real events; here the field
// is found, focused and its content selected. Fields without a text cursor are set right here.

/** Fields with a picker: the form in which the browser wants their value. */
const PICKED_FORMATS = {
  __proto__: null,
  date: 'YYYY-MM-DD',
  time: 'HH:MM or HH:MM:SS',
  month: 'YYYY-MM',
  week: 'YYYY-Www',
  'datetime-local': 'YYYY-MM-DDTHH:MM',
  color: '#rrggbb',
  range: 'a number',
};

/** Inputs that are no text fields, with the verb that works for them. */
const OTHER_VERBS = {
  __proto__: null,
  checkbox: 'check',
  radio: 'check',
  file: 'upload',
  button: 'click',
  submit: 'click',
  reset: 'click',
  image: 'click',
};

const MASK = '••••••••';
/** Attributes that call a field something, besides its accessible name. */
const FIELD_NAMES = ['aria-label', 'placeholder', 'name', 'id'];
const SECRET_AUTOCOMPLETE = /(?:^|\s)(?:one-time-code|cc-|current-password|new-password)/;

async function fillStart({ locator, value, timeout, clear_only: clearOnly }) {
  const wanted = clearOnly ? '' : String(value ?? '');
  const { result, waited } = await keepTrying(timeout, () => startFilling(locator, wanted));
  return { ...result, waited };
}

async function startFilling(locator, wanted) {
  const field = readyField(locator);
  const isPicked = field.type in PICKED_FORMATS && isHtml(field, 'input');
  const accepted = isPicked ? acceptedValue(field, wanted) : wanted;
  if (isHtml(field, 'input') && field.type === 'number') refuseNoNumber(field, wanted);
  const was = fieldValue(field);
  const answer = { ...describeField(field), was: shownValue(field, was) };
  await takeFocus(field);
  if (isPicked) return { ...answer, mode: setDirectly(field, accepted) };
  if (wanted === '' && was === '') return { ...answer, mode: 'done' };
  selectAll(field);
  return { ...answer, mode: wanted === '' ? 'delete' : 'insert' };
}

/** A page may pass the focus on as soon as it comes: what is typed then would land somewhere else. */
async function takeFocus(field) {
  const focusable = focusableOf(field);
  if (hasFocus(focusable)) return;
  focusField(field);
  await sleep(0);
  if (!hasFocus(focusable)) failAbout(field, 'focus-moved', { what: whereKeysGo() });
}

/** Who has the keyboard, in words. */
function whereKeysGo() {
  if (!document.hasFocus()) return 'another frame';
  const active = deepActiveElement();
  return active ? previewOf(active) : 'nowhere';
}

/** The field that a locator means, visible, enabled and editable. */
function readyField(locator) {
  const field = fieldOf(labelledControl(locateOne(locator)));
  checkStates({ target: field, shown: field }, new Set(['visible', 'enabled', 'editable']));
  return field;
}

/** The element that takes the text; `wrong-type` for what can never take any. */
function fieldOf(element) {
  if (isHtml(element, 'textarea')) return element;
  if (isHtml(element, 'select')) failAbout(element, 'wrong-type', { why: 'it is a list: use select', verb: 'select' });
  if (isHtml(element, 'input')) return inputField(element);
  const host = editingHostOf(element);
  if (host) return element;
  if (isHtml(element, 'button')) failAbout(element, 'wrong-type', { why: 'it is a button: use click', verb: 'click' });
  return failNotAField(element);
}

function inputField(input) {
  if (input.type === 'hidden') failAbout(input, 'wrong-type', { why: 'a hidden input cannot be filled by a user' });
  const verb = OTHER_VERBS[input.type];
  if (verb) failAbout(input, 'wrong-type', { why: `it is an input of type ${input.type}: use ${verb}`, verb });
  return input;
}

function failNotAField(element) {
  const inner = innerFields(element);
  if (inner.length !== 1) return failAbout(element, 'wrong-type', { why: 'it is not an editable element' });
  const selector = selectorFor(inner[0]);
  const why = `it is not editable itself but contains ${previewOf(inner[0])}: use ${selector}`;
  return failAbout(element, 'wrong-type', { why, inside: selector });
}

/** Fields below an element, through shadow roots. */
function innerFields(element, found = []) {
  for (const child of flatChildren(element)) {
    if (child.nodeType !== ELEMENT) continue;
    const isInput = isHtml(child, 'input') && child.type !== 'hidden' && !(child.type in OTHER_VERBS);
    if (isInput || isHtml(child, 'textarea') || isEditingHost(child)) found.push(child);
    else innerFields(child, found);
  }
  return found;
}

/** A fresh input of the same kind: asks the browser what it would make of a value, without touching the page. */
function probeValue(field, value) {
  const probe = document.createElement('input');
  probe.type = field.type;
  for (const name of ['min', 'max', 'step']) if (field.hasAttribute(name)) probe.setAttribute(name, field.getAttribute(name));
  probe.value = value;
  return probe.value;
}

/** The value in the browser's own form; `bad-value` if it would not take it. */
function acceptedValue(field, wanted) {
  const value = wanted.trim();
  const accepted = probeValue(field, value);
  const isTaken = {
    color: () => /^#[0-9a-f]{6}$/i.test(value),
    range: () => value !== '' && Number(value) === Number(accepted),
  }[field.type] || (() => value === '' || accepted !== '');
  if (!isTaken()) failAbout(field, 'bad-value', { why: `${JSON.stringify(wanted)} does not fit: expected ${expectedFormat(field)}` });
  return accepted;
}

function expectedFormat(field) {
  const format = PICKED_FORMATS[field.type];
  if (field.type !== 'range') return format;
  return `${format} from ${field.min || 0} to ${field.max || 100} in steps of ${field.step || 1}`;
}

function refuseNoNumber(field, wanted) {
  if (wanted.trim() !== '' && probeValue(field, wanted.trim()) === '') {
    failAbout(field, 'bad-value', { why: `${JSON.stringify(wanted)} is not a number` });
  }
}

/** Sets a value as a picker would; the page is told next. An isolated world's setter is always the native one. */
function setDirectly(field, value) {
  if (field.value === value) return 'done';
  field.value = value;
  return 'announce';
}

/** What has the focus while a field is edited: itself, or the editor that it is a part of. */
function focusableOf(field) {
  return 'value' in field ? field : editingHostOf(field) || field;
}

function focusField(field) {
  const focusable = focusableOf(field);
  giveFocus(focusable);
  if (!hasFocus(focusable)) failAbout(field, 'not-editable', { why: 'it does not take the focus' });
}

/** A body that is edited is the active element of its document already: it gets the keyboard only with its window. */
function giveFocus(element) {
  if (editingHostOf(element) === document.body) window.focus();
  element.focus({ preventScroll: false });
}

/** Whether keys that are pressed now go to this element, or to the editor that it is a part of. */
function hasFocus(element) {
  const active = deepActiveElement();
  return active !== null && isKeyboardAt(active) && (active === element || editingHostOf(element) === active);
}

/**
 * Whether the active element of this document has the keyboard: it may be in another frame, and a body is active also
 * when nothing is. In design mode a body takes the keys without having the focus.
 */
function isKeyboardAt(active) {
  return document.hasFocus() && (active !== document.body || document.designMode === 'on' || matchesSelector(active, ':focus'));
}

function selectAll(field) {
  if ('select' in field && 'value' in field) field.select();
  else getSelection().selectAllChildren(field);
}

function moveCaretToEnd(field) {
  if (!('value' in field)) {
    const selection = getSelection();
    selection.selectAllChildren(field);
    selection.collapseToEnd();
    return;
  }
  try {
    field.setSelectionRange(field.value.length, field.value.length);
  } catch {
    // Number, email and date fields have no selection to speak of; the caret is where the browser put it.
  }
}

function fieldValue(field) {
  return 'value' in field ? field.value : normalEditorText(field.innerText);
}

/** Editors keep a last line break and non-breaking spaces that the user did not type. */
function normalEditorText(text) {
  return text.replace(/\u00a0/g, ' ').replace(/\r\n?/g, '\n').replace(/\n+$/, '');
}

function isSecret(field) {
  return field.type === 'password' || SECRET_AUTOCOMPLETE.test(field.getAttribute('autocomplete')?.toLowerCase() || '');
}

/** A field, with everything that it is called: a program may know a secret by that, where the browser does not. */
function describeField(field) {
  const called = FIELD_NAMES.map((name) => attributeOf(field, name)).filter(Boolean).map((text) => cutAt(tidy(text), NAME_LENGTH));
  return { ...describeTarget(field), secret: isSecret(field), called };
}

function shownValue(field, value) {
  return value !== '' && isSecret(field) ? MASK : value;
}

/** Reads back what the field holds now. */
function fillCheck({ id, value }) {
  const field = elementOf(id);
  const held = fieldValue(field);
  return { value: shownValue(field, held), same: isSameValue(field, held, String(value ?? '')) };
}

function isSameValue(field, held, wanted) {
  const lines = wanted.replace(/\r\n?/g, '\n');
  if (!('value' in field)) return held === normalEditorText(lines) || squeezed(held) === squeezed(lines);
  switch (field.type) {
    case 'email':
    case 'url':
      return held.trim() === lines.trim();
    case 'number':
      return held.trim() === lines.trim() || (held !== '' && Number(held) === Number(lines));
    case 'textarea':
    case 'text':
    case 'search':
    case 'tel':
    case 'password':
      return held === lines;
    default:
      return field.type in PICKED_FORMATS ? held === probeValue(field, lines.trim()) : held === lines;
  }
}

/** Editors turn a line break into one or two, depending on their markup. */
function squeezed(text) {
  return text.replace(/\n+/g, '\n').replace(/[ \t]+/g, ' ').trim();
}

async function focusElement({ locator, timeout }) {
  const { result } = await keepTrying(timeout, () => {
    const element = labelledControl(locateOne(locator));
    giveFocus(element);
    const active = deepActiveElement();
    if (active && isKeyboardAt(active) && (hasFocus(element) || flatContains(element, active))) return describeTarget(element);
    const why = invisibleBecause(element);
    if (why) failAbout(element, 'not-visible', { why });
    const disabled = nativelyDisabledBecause(element);
    if (disabled) failAbout(element, 'disabled', { why: disabled });
    return failAbout(element, 'wrong-type', { why: 'it cannot take the focus' });
  });
  return { id: result.id, role: result.role, name: result.name, preview: result.preview };
}

/** Fields may put spaces and signs between what was typed, or change its case; keys that leave a field may empty it. */
function holdsTyped(field, held, text) {
  if (/[\n\t]/.test(text) || field.type in PICKED_FORMATS) return true;
  const bare = (written) => written.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');
  return held.includes(text) || (bare(text) !== '' && bare(held).includes(bare(text)));
}

/** The field that has the focus, or whether it is in a frame of this document. */
function focusedField() {
  const active = deepActiveElement();
  if (!active) return {};
  if (isHtml(active, 'iframe') || isHtml(active, 'frame')) return { inFrame: true };
  const takesText = isHtml(active, 'textarea') || (isHtml(active, 'input') && !OTHER_VERBS[active.type]) || editingHostOf(active);
  if (!takesText || active.readOnly || active.disabled) return {};
  return { field: describeField(active) };
}
