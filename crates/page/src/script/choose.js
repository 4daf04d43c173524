// Choosing: options of a list, files of a field, the state of a checkbox; and noticing that a drag began.

async function selectOptions({ locator, values, timeout }) {
  const { result } = await keepTrying(timeout, () => chooseOnce(locator, values));
  return result;
}

function chooseOnce(locator, values) {
  const list = labelledControl(locateOne(locator));
  if (!isHtml(list, 'select')) failAbout(list, 'wrong-type', { why: 'it is no list to select from' });
  if (values.length > 1 && !list.multiple) failAbout(list, 'wrong-type', { why: 'it takes only one option' });
  checkStates({ target: list, shown: list }, new Set(['visible', 'enabled']));
  const chosen = values.map((value) => optionFor(list, value));
  const before = [...list.selectedOptions].map((option) => option.index).join();
  for (const option of list.options) option.selected = chosen.includes(option);
  const isChanged = [...list.selectedOptions].map((option) => option.index).join() !== before;
  return { ...describeTarget(list), isChanged, selected: [...list.selectedOptions].map((option) => option.value) };
}

/** Tells the page that a field was set. A call of its own: the page may answer with a dialog, or leave. */
function announce({ id }) {
  const field = elementOf(id);
  field.dispatchEvent(new Event('input', { bubbles: true, composed: true }));
  field.dispatchEvent(new Event('change', { bubbles: true, composed: true }));
  return {};
}

/** What is chosen now that the page has heard of it: it may have chosen otherwise. */
function selectedValues({ id }) {
  return { selected: [...elementOf(id).selectedOptions].map((option) => option.value) };
}

/** By value first, then by label; what is not there yet may still be loaded. */
function optionFor(list, wanted) {
  const options = [...list.options];
  const found =
    options.find((option) => option.value === wanted) ||
    options.find((option) => tidy(option.label) === tidy(wanted)) ||
    options.find((option) => tidy(option.text) === tidy(wanted));
  if (!found) failAbout(list, 'no-option', { why: `there is no option ${JSON.stringify(wanted)}; there are ${listed(options)}` });
  const why = disabledBecause(found);
  if (why) fail('disabled', { preview: `the option ${JSON.stringify(wanted)} of ${previewOf(list)}`, why });
  return found;
}

function listed(options) {
  const names = options.slice(0, 20).map((option) => JSON.stringify(tidy(option.label)));
  return names.join(', ') + (options.length > 20 ? ` and ${options.length - 20} more` : '');
}

/** What is about to be checked or unchecked; fails if a click can never do that. */
function toggle({ locator, wanted }) {
  const element = labelledControl(locateOne(locator));
  if (!wanted && isHtml(element, 'input') && element.type === 'radio') {
    failAbout(element, 'wrong-type', { why: 'a radio cannot be unchecked: check another one of its group' });
  }
  return describeTarget(element);
}

/** What a file can be given to: a file field, or something that may open a chooser when it is clicked. */
function uploadTarget({ locator }) {
  const element = labelledControl(locateOne(locator));
  const isInput = isHtml(element, 'input');
  if (isInput && element.type === 'file') {
    const why = nativelyDisabledBecause(element);
    if (why) failAbout(element, 'disabled', { why });
    return { ...describeTarget(element), isField: true, isMultiple: element.multiple || element.webkitdirectory, takesFolders: element.webkitdirectory };
  }
  const canOpen = !isHtml(element, 'textarea') && !isHtml(element, 'select') && (!isInput || /^(?:button|submit|image)$/.test(element.type));
  if (!canOpen) failAbout(element, 'wrong-type', { why: 'it takes no files' });
  return { ...describeTarget(element), isField: false, isMultiple: true, takesFolders: true };
}

/** The files that a field holds now. */
function uploadedFiles({ id }) {
  return { names: [...elementOf(id).files].map((file) => file.name) };
}

let dragSeen = { started: false };

/** Watches for the page's own drag and drop: once it began, the page hears drag events instead of mouse events. */
function dragWatch() {
  const seen = { started: false };
  dragSeen = seen;
  const note = (event) => {
    // The page's own listeners decide after this one whether the drag begins.
    if (event.isTrusted) setTimeout(() => (seen.started = !event.defaultPrevented));
  };
  addEventListener('dragstart', note, { capture: true, once: true });
  return {};
}

/** One task later, so that what `dragstart` decided has been noted. */
async function dragBegan() {
  await sleep(0);
  return { started: dragSeen.started };
}

let dropSeen = { dropped: false, over: null, watch: new AbortController() };

/** Watches whether what is dragged is taken: the browser tells a target that wants nothing nothing either. */
function dropWatch() {
  dropSeen.watch.abort();
  const seen = { dropped: false, over: null, watch: new AbortController() };
  dropSeen = seen;
  const options = { capture: true, signal: seen.watch.signal };
  addEventListener('dragover', (event) => event.isTrusted && (seen.over = { event, target: event.composedPath()[0] }), options);
  addEventListener('drop', (event) => (seen.dropped ||= event.isTrusted), options);
  return {};
}

/** Would a drop be taken now? Where nothing is heard, nothing can be waited for either. */
async function dropWelcome() {
  await sleep(0);
  const { over } = dropSeen;
  return { taken: !over || over.event.defaultPrevented || takesDropsByItself(over.target) };
}

/** Fields take texts and files without any help of the page. */
function takesDropsByItself(target) {
  return target instanceof Element && (isHtml(target, 'input') || isHtml(target, 'textarea') || editingHostOf(target) !== null);
}

async function dropTaken() {
  await sleep(0);
  dropSeen.watch.abort();
  return { taken: dropSeen.dropped };
}

function scrollBy({ locator, x, y }) {
  const places = locator ? [locateOne(locator)] : scrollersInView();
  for (const element of places) {
    const before = [scrollLeftOf(element), scrollTopOf(element)];
    scrollElementBy(element, { left: x, top: y, behavior: 'instant' });
    const after = [scrollLeftOf(element), scrollTopOf(element)];
    if (after[0] !== before[0] || after[1] !== before[1]) return { moved: true, x: after[0], y: after[1] };
  }
  return { moved: false, x: scrollLeftOf(places[0]), y: scrollTopOf(places[0]) };
}

/** What a person would scroll: the page, else what can be scrolled in the middle of the view, innermost first. */
function scrollersInView() {
  const page = document.scrollingElement || document.documentElement;
  const places = [page];
  for (let at = elementAt(innerWidth / 2, innerHeight / 2); at; at = flatParent(at)) {
    // `overflow: hidden` is not for the user to scroll.
    const { overflowX, overflowY } = getComputedStyle(at);
    if (at !== page && /auto|scroll/.test(`${overflowX} ${overflowY}`)) places.push(at);
  }
  return places;
}
