// Reading: texts, values, attributes, boxes and states of elements, without touching anything.

/** The styles worth a look when none is named. */
const USUAL_STYLES =
  'display visibility opacity position color background-color font-family font-size font-weight line-height text-align ' +
  'width height margin padding border border-radius box-shadow overflow z-index cursor pointer-events transform';

const READERS = {
  __proto__: null,
  text: (element) => renderedText(element),
  html: (element) => innerHtmlOf(element),
  'outer-html': (element) => outerHtmlOf(element),
  value: (element) => readValue(element),
  attr: (element, name) => attributeOf(element, name),
  box: readBox,
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
  if (!isRendered(element) || typeof innerTextOf(element) !== 'string') return textContentOf(element);
  return shadowRootOf(element) ? shadowText(element) : innerTextOf(element);
}

/** innerText stops at shadow roots: put their parts in. */
function shadowText(element) {
  const parts = [];
  for (const child of flatChildren(element)) {
    if (nodeTypeOf(child) === TEXT) parts.push(child.data);
    else if (nodeTypeOf(child) === ELEMENT && !UNREAD_TAGS.has(localNameOf(child))) parts.push(renderedText(child));
  }
  return parts.map((part) => part.trim()).filter(Boolean).join('\n');
}

function readValue(element) {
  if (!isHtml(element, 'form') && 'value' in element && typeof element.value !== 'function') return String(element.value);
  if (editingHostOf(element)) return normalEditorText(innerTextOf(element));
  const said = attributeOf(element, 'aria-valuetext') ?? attributeOf(element, 'aria-valuenow');
  return said ?? failAbout(element, 'wrong-type', { why: 'it has no value' });
}

/** Something without a box is nowhere: 0, 0, 0, 0 would be a lie. */
function readBox(element) {
  if (boxesOf(element).length === 0 && !hasArea(boundsOf(element)) && !clientRectsOf(element).length) {
    failAbout(element, 'not-visible', { why: invisibleBecause(element) || 'it has no box' });
  }
  return plainBox(element);
}

function readStyles(element, names) {
  const style = getComputedStyle(element);
  const wanted = (names || USUAL_STYLES).split(/[\s,]+/).filter(Boolean);
  const unknown = wanted.find((name) => style.getPropertyValue(name) === '' && !CSS.supports(name, 'initial') && !name.startsWith('--'));
  if (unknown) fail('bad-setting', { why: `there is no style called ${JSON.stringify(unknown)}` });
  return Object.fromEntries(wanted.map((name) => [name, style.getPropertyValue(name)]));
}

const STATES = {
  __proto__: null,
  visible: (element) => isVisible(element),
  enabled: (element) => disabledBecause(element) === null,
  editable: (element) => isField(element) && disabledBecause(element) === null && readonlyBecause(element) === null,
  focused: (element) => deepActiveElement() === element && isKeyboardAt(element),
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

/** The state, as soon as it is what is wanted or when the time is over. */
async function stateBecomes({ locator, what, wanted, timeout }) {
  try {
    await keepTrying(timeout, () => state({ locator, what }).value === wanted || fail('unmet'));
    return { value: wanted };
  } catch (error) {
    if (error instanceof Failure && error.kind === 'unmet') return { value: !wanted };
    throw error;
  }
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
