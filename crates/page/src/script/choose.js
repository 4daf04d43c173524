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
  if ([...list.selectedOptions].map((option) => option.index).join() !== before) {
    list.dispatchEvent(new Event('input', { bubbles: true, composed: true }));
    list.dispatchEvent(new Event('change', { bubbles: true, composed: true }));
  }
  return { ...describeTarget(list), selected: [...list.selectedOptions].map((option) => option.value) };
}

/** By value first, then by label; what is not there yet may still be loaded. */
function optionFor(list, wanted) {
  const options = [...list.options];
  const found =
    options.find((option) => option.value === wanted) ||
    options.find((option) => tidy(option.label) === tidy(wanted)) ||
    options.find((option) => tidy(option.text) === tidy(wanted));
  if (!found) failAbout(list, 'no-option', { why: `there is no option ${JSON.stringify(wanted)}; there are ${listed(options)}` });
  if (disabledBecause(found)) failAbout(list, 'disabled', { why: `the option ${JSON.stringify(wanted)} is disabled` });
  return found;
}

function listed(options) {
  const names = options.slice(0, 20).map((option) => JSON.stringify(tidy(option.label)));
  return names.join(', ') + (options.length > 20 ? ` and ${options.length - 20} more` : '');
}

/** What a file can be given to: a file field, or something that may open a chooser when it is clicked. */
function uploadTarget({ locator }) {
  const element = labelledControl(locateOne(locator));
  const isInput = isHtml(element, 'input');
  if (isInput && element.type === 'file') {
    const why = nativelyDisabledBecause(element);
    if (why) failAbout(element, 'disabled', { why });
    return { ...describeTarget(element), isField: true, isMultiple: element.multiple || element.webkitdirectory };
  }
  const canOpen = !isHtml(element, 'textarea') && !isHtml(element, 'select') && (!isInput || /^(?:button|submit|image)$/.test(element.type));
  if (!canOpen) failAbout(element, 'wrong-type', { why: 'it takes no files' });
  return { ...describeTarget(element), isField: false, isMultiple: true };
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

function scrollBy({ locator, x, y }) {
  const element = locator ? locateOne(locator) : document.scrollingElement || document.documentElement;
  const before = [element.scrollLeft, element.scrollTop];
  element.scrollBy({ left: x, top: y, behavior: 'instant' });
  return { moved: element.scrollLeft !== before[0] || element.scrollTop !== before[1], x: element.scrollLeft, y: element.scrollTop };
}
