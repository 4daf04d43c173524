// The composed tree: what the user sees, with shadow roots and slots in place.
//
// "Flat" relations follow slots and shadow roots the way rendering does; "open roots" are the
// document and every open shadow root in it.

/** `visibility` counts, too; browsers before 121 know it by its first name. */
const WITH_VISIBILITY = { visibilityProperty: true, checkVisibilityCSS: true };

const ELEMENT = Node.ELEMENT_NODE;
const TEXT = Node.TEXT_NODE;
const SVG_NAMESPACE = 'http://www.w3.org/2000/svg';

/** Tags whose content is never text for a reader. */
const UNREAD_TAGS = new Set(['head', 'script', 'style', 'template', 'noscript', 'link', 'meta', 'base', 'param', 'source', 'track']);

/** Tags whose children are a fallback that is not rendered. */
const FALLBACK_TAGS = new Set(['iframe', 'frame', 'object', 'embed', 'canvas', 'video', 'audio']);

function isHtml(element, name) {
  return localNameOf(element) === name && namespaceOf(element) !== SVG_NAMESPACE;
}

/** Whether the element is an SVG `title`, `desc` or `metadata`: text that is there but not painted. */
function isSvgMetadata(element) {
  return namespaceOf(element) === SVG_NAMESPACE && /^(?:title|desc|metadata|defs|symbol)$/.test(localNameOf(element));
}

function flatParent(node) {
  const parent = slotOf(node) || parentNodeOf(node);
  return parent instanceof ShadowRoot ? parent.host : parent instanceof Element ? parent : null;
}

/** The parent for selectors, names and ids: shadow content hangs below its host, slots are ignored. */
function parentOrHost(node) {
  const parent = parentNodeOf(node);
  return parent instanceof ShadowRoot ? parent.host : parent instanceof Element ? parent : null;
}

/** The nodes rendered as children of an element, as an iterable. */
function flatChildren(element) {
  const root = shadowRootOf(element);
  if (root) return childNodesOf(root);
  if (localNameOf(element) === 'slot') {
    const assigned = element.assignedNodes?.();
    if (assigned?.length) return assigned;
  }
  if (localNameOf(element) === 'details' && element.open === false) return allIn(element, ':scope > summary:first-of-type');
  return childNodesOf(element);
}

function flatContains(ancestor, node) {
  for (let at = node; at; at = flatParent(at)) if (at === ancestor) return true;
  return false;
}

/** The nearest of the element and its ancestors that the test accepts, across shadow boundaries. */
function flatClosest(element, test) {
  for (let at = element; at; at = flatParent(at)) if (test(at)) return at;
  return null;
}

/** The document and all open shadow roots, outer before inner. */
function openRoots() {
  const roots = [document];
  for (const root of roots) {
    for (const element of allIn(root, '*')) {
      const inner = shadowRootOf(element);
      if (inner) roots.push(inner);
    }
  }
  return roots;
}

/** Elements of `wanted` (a Set) in document order, shadow content right after its host. */
function inDocumentOrder(wanted, root = document, out = []) {
  for (const element of allIn(root, '*')) {
    if (wanted.has(element)) out.push(element);
    const inner = shadowRootOf(element);
    if (inner) inDocumentOrder(wanted, inner, out);
  }
  return out;
}

/** All elements that match a plain selector, in every open root, in document order. */
function queryOpenRoots(selector) {
  const roots = openRoots();
  if (roots.length === 1) return [...allIn(document, selector)];
  const found = new Set();
  for (const root of roots) for (const element of allIn(root, selector)) found.add(element);
  return inDocumentOrder(found);
}

/** The focused element, looked up through shadow roots. */
function deepActiveElement() {
  let active = document.activeElement;
  for (let inner; active && (inner = shadowRootOf(active)?.activeElement); ) active = inner;
  return active;
}

/** The dialog that makes the rest of the page inert, or null. */
function modalDialog() {
  // The order of the top layer is not told, but a dialog that opens takes the focus; the focus also
  // leads to dialogs in shadow roots.
  const active = deepActiveElement();
  const focused = active && flatClosest(active, (at) => localNameOf(at) === 'dialog' && matchesSelector(at, ':modal'));
  return focused || [...allIn(document, 'dialog:modal')].pop() || null;
}

/** The elements that an attribute like aria-labelledby refers to. */
function referencedElements(element, attribute, property) {
  const value = attributeOf(element, attribute);
  if (value === null) return [];
  // The reflecting property also knows elements that were set by script instead of by id.
  const reflected = element[property];
  if (Array.isArray(reflected)) return reflected;
  const root = rootNodeOf(element);
  return value.split(/\s+/).map((id) => id && root.getElementById?.(id)).filter(Boolean);
}

let styledElement = null;
let styleOfElement = null;

/** The computed style, with a memory of one: it is live, and often asked for twice in a row. */
function styleOf(element) {
  if (element !== styledElement) {
    styledElement = element;
    styleOfElement = getComputedStyle(element);
  }
  return styleOfElement;
}

const CASE_CHANGES = {
  __proto__: null,
  uppercase: (text) => text.toUpperCase(),
  lowercase: (text) => text.toLowerCase(),
  capitalize: (text) => text.replace(/(?<![\p{L}\p{N}'’])\p{L}/gu, (letter) => letter.toUpperCase()),
};

/** Text as it is shown: style sheets may change its case. */
function asShown(text, parent) {
  return inCase(text, styleOf(parent));
}

function inCase(text, style) {
  const change = CASE_CHANGES[style.textTransform];
  return change === undefined ? text : change(text);
}

/** Collapses white space and drops what has no place in one line of text. */
function tidy(text) {
  return text.replace(UNPRINTABLE, '').replace(/\s+/g, ' ').trim();
}

// Control and zero-width characters, and the private use area, where icon fonts keep their glyphs.
const UNPRINTABLE = /[\u0000-\u0008\u000e-\u001f\u007f-\u0084\u0086-\u009f\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff\ue000-\uf8ff]/g;

function cutAt(text, length) {
  return text.length > length ? text.slice(0, length - 1).replace(/[\ud800-\udbff]$/, '') + '…' : text;
}
