// Reading: texts, values, attributes, boxes and states of elements, without touching anything.

/** The styles worth a look when none is named. */
const USUAL_STYLES =
  'display visibility opacity position color background-color font-family font-size font-weight line-height text-align ' +
  'width height margin padding border border-radius box-shadow overflow z-index cursor pointer-events transform';

const READERS = {
  __proto__: null,
  text: (element) => renderedText(element),
  html: (element) => element.innerHTML,
  value: (element) => readValue(element),
  attr: (element, name) => element.getAttribute(name),
  box: (element) => plainBox(element),
  styles: (element, names) => readStyles(element, names),
};

function read({ locator, what, name }) {
  if (what === 'count') {
    const { length } = locateAll(locator);
    return { value: length, count: length };
  }
  const reader = READERS[what];
  if (!reader) fail('bad-value', { why: `there is nothing to read called ${JSON.stringify(what)}` });
  const { element, count } = locateToRead(locator);
  return { value: reader(element, name), count, id: idOf(element) };
}

/** The text as it is shown; for fields their value, for what is not rendered the text in the markup. */
function renderedText(element) {
  if (isHtml(element, 'select')) return [...element.selectedOptions].map((option) => option.label).join('\n');
  if (isHtml(element, 'input') || isHtml(element, 'textarea')) return element.value;
  if (!element.checkVisibility() || typeof element.innerText !== 'string') return element.textContent;
  return shadowRootOf(element) ? shadowText(element) : element.innerText;
}

/** innerText stops at shadow roots: put their parts in. */
function shadowText(element) {
  const parts = [];
  for (const child of flatChildren(element)) {
    if (child.nodeType === TEXT) parts.push(child.data);
    else if (child.nodeType === ELEMENT && !UNREAD_TAGS.has(child.localName)) parts.push(renderedText(child));
  }
  return parts.map((part) => part.trim()).filter(Boolean).join('\n');
}

function readValue(element) {
  if ('value' in element && typeof element.value !== 'function') return String(element.value);
  if (editingHostOf(element)) return normalEditorText(element.innerText);
  const said = element.getAttribute('aria-valuetext') ?? element.getAttribute('aria-valuenow');
  return said ?? failAbout(element, 'wrong-type', { why: 'it has no value' });
}

function readStyles(element, names) {
  const style = getComputedStyle(element);
  const wanted = (names || USUAL_STYLES).split(/[\s,]+/).filter(Boolean);
  return Object.fromEntries(wanted.map((name) => [name, style.getPropertyValue(name)]));
}

const STATES = {
  __proto__: null,
  visible: (element) => isVisible(element),
  enabled: (element) => disabledBecause(element) === null,
  editable: (element) => isField(element) && disabledBecause(element) === null && readonlyBecause(element) === null,
  focused: (element) => deepActiveElement() === element,
  checked: readChecked,
};

function state({ locator, what }) {
  const test = STATES[what];
  if (!test) fail('bad-value', { why: `there is no state called ${JSON.stringify(what)}` });
  const found = locateAll(locator);
  if (found.length === 0) {
    // What is not there is not visible: a plain answer. Any other state of nothing is an error.
    if (what === 'visible') return { value: false, count: 0 };
    fail('not-found');
  }
  const element = found.find(isVisible) || found[0];
  return { value: test(element), count: found.length, id: idOf(element) };
}

function isField(element) {
  if (isHtml(element, 'textarea') || isHtml(element, 'select')) return true;
  if (isHtml(element, 'input')) return element.type !== 'hidden' && !(element.type in OTHER_VERBS);
  return editingHostOf(element) !== null;
}

function readChecked(element) {
  const checked = checkedState(labelledControl(element));
  if (checked === undefined) failAbout(element, 'wrong-type', { why: 'it is no checkbox, radio or switch' });
  return checked === true;
}

function matches({ locator, limit = LISTED_MATCHES }) {
  const found = locateAll(locator);
  const items = found.slice(0, limit).map((element) => ({
    id: idOf(element),
    preview: previewOf(element),
    selector: selectorFor(element),
    visible: isVisible(element),
  }));
  return { count: found.length, items };
}
