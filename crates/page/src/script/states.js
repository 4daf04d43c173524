// States of an element: visible, enabled, editable, checked. Each test gives the reason why not.

/** Why the element cannot be seen, or null if it can. */
function invisibleBecause(element) {
  const stand = visibleStandIn(element);
  if (!stand) return 'it belongs to an image map without an image';
  if (getComputedStyle(stand).display === 'contents') {
    return showsSomething(stand) ? null : 'it is display:contents without visible content';
  }
  if (!isRendered(stand)) return unrenderedBecause(stand);
  if (getComputedStyle(stand).visibility !== 'visible') return 'visibility is hidden';
  const box = boundingBoxOf(stand);
  if (box.width > 0 && box.height > 0) return null;
  // A block inside an inline element gives that element its extent.
  if ([...clientRectsOf(stand)].some((rect) => rect.width > 0 && rect.height > 0)) return null;
  return `its box is empty (${box.width}x${box.height})`;
}

function isVisible(element) {
  return invisibleBecause(element) === null;
}

/** The element whose box is seen: an area shows in its image, an option of a drop-down in its select. */
function visibleStandIn(element) {
  if (isHtml(element, 'area')) return imageOfArea(element);
  return dropDownOf(element) || element;
}

/** The select whose closed list holds an option or group; null for lists that are always open. */
function dropDownOf(element) {
  if (!isHtml(element, 'option') && !isHtml(element, 'optgroup')) return null;
  const select = closestOf(element, 'select');
  return select && !select.multiple && select.size <= 1 ? select : null;
}

function unrenderedBecause(element) {
  const hider = flatClosest(element, (at) => getComputedStyle(at).display === 'none');
  if (hider === element) return 'display is none';
  if (hider) return `it is inside ${previewOf(hider)}, whose display is none`;
  if (!isConnected(element)) return 'it is not in the document';
  return flatClosest(element, (at) => isHtml(at, 'details') && !at.open) ? 'it is inside a closed <details>' : 'it is not rendered';
}

/** Whether a display:contents element has a visible element or text below it. */
function showsSomething(element) {
  for (const child of flatChildren(element)) {
    if (nodeTypeOf(child) === ELEMENT && isVisible(child)) return true;
    if (nodeTypeOf(child) === TEXT && rectsOfText(child).length) return true;
  }
  return false;
}

function rectsOfText(node) {
  const range = document.createRange();
  range.selectNodeContents(node);
  return [...range.getClientRects()].filter((rect) => rect.width > 0 && rect.height > 0);
}

/** Why the element does not react to the user, or null. A label is as dead as its control. */
function disabledBecause(element) {
  return nativelyDisabledBecause(element) || ariaDisabledBecause(element) || labelDisabledBecause(element) || inertBecause(element);
}

function labelDisabledBecause(element) {
  const control = isHtml(element, 'label') && element.control;
  const why = control && nativelyDisabledBecause(control);
  return why ? why.replace(/^it /, `it labels ${previewOf(control)}, which `) : null;
}

/** Why the browser keeps the user from the element altogether, or null. */
function inertBecause(element) {
  const isModal = (at) => isHtml(at, 'dialog') && matchesSelector(at, ':modal');
  // A modal dialog is alive in an inert part of the page.
  const stop = flatClosest(element, (at) => isModal(at) || hasAttribute(at, 'inert'));
  if (stop && hasAttribute(stop, 'inert')) return stop === element ? 'it is inert' : `it is inside ${previewOf(stop)}, which is inert`;
  const modal = stop ? null : modalDialog();
  return modal ? `a modal dialog is open: ${previewOf(modal)}` : null;
}

function nativelyDisabledBecause(element) {
  if (matchesSelector(element, ':disabled')) {
    return hasAttribute(element, 'disabled') ? 'it has the disabled attribute' : 'it is inside a disabled container';
  }
  const list = isHtml(element, 'option') && closestOf(element, 'select');
  return list && list.disabled ? 'its select is disabled' : null;
}

function ariaDisabledBecause(element) {
  const marked = flatClosest(element, (at) => attributeOf(at, 'aria-disabled')?.toLowerCase() === 'true');
  if (!marked) return null;
  return marked === element ? 'aria-disabled is true' : `aria-disabled is true on ${previewOf(marked)}`;
}

/** Why text cannot be changed although the element is a field, or null. */
function readonlyBecause(element) {
  if ((isHtml(element, 'input') || isHtml(element, 'textarea')) && element.readOnly) return 'readonly';
  return attributeOf(element, 'aria-readonly')?.toLowerCase() === 'true' ? 'aria-readonly' : null;
}

/** true, false or 'mixed'; undefined if the element has no such state. */
function checkedState(element) {
  if (isHtml(element, 'input') && (element.type === 'checkbox' || element.type === 'radio')) {
    return element.indeterminate && element.type === 'checkbox' ? 'mixed' : element.checked;
  }
  if (!CHECKABLE_ROLES.has(roleOf(element))) return undefined;
  const value = attributeOf(element, 'aria-checked')?.toLowerCase();
  return value === 'mixed' ? 'mixed' : value === 'true';
}

const CHECKABLE_ROLES = new Set(['checkbox', 'radio', 'switch', 'menuitemcheckbox', 'menuitemradio']);

function isEditingHost(element) {
  const value = attributeOf(element, 'contenteditable');
  return value !== null && /^(?:|true|plaintext-only)$/i.test(value.trim());
}

/** The contenteditable root around an element, or the body in design mode. */
function editingHostOf(element) {
  if (document.designMode === 'on') return document.body;
  if (!isContentEditable(element)) return null;
  let host = element;
  for (let parent; (parent = parentElementOf(host)) && isContentEditable(parent); ) host = parent;
  return host;
}
