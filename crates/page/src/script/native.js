// What nodes are, told by the browser itself.
//
// A field called `parentNode` hides that property of its form: `form.parentNode` is the field then, in an isolated world
// too. So properties of elements that may be a form are read through the prototypes, with functions taken once.

function readerOf(prototype, property) {
  const { get } = Object.getOwnPropertyDescriptor(prototype, property);
  return (node) => get.call(node);
}

function callerOf(prototype, method) {
  const call = prototype[method];
  return (node, argument) => call.call(node, argument);
}

/** For what only some kinds of elements have: forms are the ones that must be read through a prototype. */
function formReaderOf(property) {
  const { get } = Object.getOwnPropertyDescriptor(HTMLElement.prototype, property);
  return (element) => (element instanceof HTMLFormElement ? get.call(element) : element[property]);
}

const nodeTypeOf = readerOf(Node.prototype, 'nodeType');
const parentNodeOf = readerOf(Node.prototype, 'parentNode');
const parentElementOf = readerOf(Node.prototype, 'parentElement');
const childNodesOf = readerOf(Node.prototype, 'childNodes');
const firstChildOf = readerOf(Node.prototype, 'firstChild');
const textContentOf = readerOf(Node.prototype, 'textContent');
const ownerDocumentOf = readerOf(Node.prototype, 'ownerDocument');
const isConnected = readerOf(Node.prototype, 'isConnected');
const rootNodeOf = callerOf(Node.prototype, 'getRootNode');

const localNameOf = readerOf(Element.prototype, 'localName');
const namespaceOf = readerOf(Element.prototype, 'namespaceURI');
const openRootOf = readerOf(Element.prototype, 'shadowRoot');
const slotOf = readerOf(Element.prototype, 'assignedSlot');
const elementChildrenOf = readerOf(Element.prototype, 'children');
const firstElementOf = readerOf(Element.prototype, 'firstElementChild');
const nextElementOf = readerOf(Element.prototype, 'nextElementSibling');
const previousElementOf = readerOf(Element.prototype, 'previousElementSibling');
const innerHtmlOf = readerOf(Element.prototype, 'innerHTML');
const outerHtmlOf = readerOf(Element.prototype, 'outerHTML');
const clientLeftOf = readerOf(Element.prototype, 'clientLeft');
const clientTopOf = readerOf(Element.prototype, 'clientTop');
const clientWidthOf = readerOf(Element.prototype, 'clientWidth');
const clientHeightOf = readerOf(Element.prototype, 'clientHeight');
const scrollLeftOf = readerOf(Element.prototype, 'scrollLeft');
const scrollTopOf = readerOf(Element.prototype, 'scrollTop');

const attributeOf = callerOf(Element.prototype, 'getAttribute');
const hasAttribute = callerOf(Element.prototype, 'hasAttribute');
const hasAttributes = callerOf(Element.prototype, 'hasAttributes');
const attributeNamesOf = callerOf(Element.prototype, 'getAttributeNames');
const closestOf = callerOf(Element.prototype, 'closest');
const matchesSelector = callerOf(Element.prototype, 'matches');
const isRendered = callerOf(Element.prototype, 'checkVisibility');
const boundingBoxOf = callerOf(Element.prototype, 'getBoundingClientRect');
const clientRectsOf = callerOf(Element.prototype, 'getClientRects');
const bringToView = callerOf(Element.prototype, 'scrollIntoView');
const scrollElementBy = callerOf(Element.prototype, 'scrollBy');

const isInert = formReaderOf('inert');
const tabIndexOf = formReaderOf('tabIndex');
const innerTextOf = formReaderOf('innerText');
const isContentEditable = formReaderOf('isContentEditable');
const offsetWidthOf = formReaderOf('offsetWidth');
const offsetHeightOf = formReaderOf('offsetHeight');
const offsetLeftOf = formReaderOf('offsetLeft');
const offsetTopOf = formReaderOf('offsetTop');
const offsetParentOf = formReaderOf('offsetParent');

/** All matches below a document, a shadow root or an element. A document is covered up by what is named in it, too. */
function allIn(root, selector) {
  return kindOfRoot(root).querySelectorAll.call(root, selector);
}

function firstIn(root, selector) {
  return kindOfRoot(root).querySelector.call(root, selector);
}

function kindOfRoot(root) {
  return root instanceof Element ? Element.prototype : root instanceof Document ? Document.prototype : DocumentFragment.prototype;
}

/** Whether there is such an element. */
function isTagged(element, name) {
  return element !== null && localNameOf(element) === name;
}
