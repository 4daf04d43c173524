// Local ids: the numbers by which the Rust side speaks of elements of this document.
//
// An id belongs to one element for the life of the document and is never given to another, so a
// stale id can only fail. Elements are held weakly: a snapshot must not keep removed nodes alive.

const idByElement = new WeakMap();
const elementById = new Map();
let lastId = 0;

const forgetCollected = new FinalizationRegistry((id) => elementById.delete(id));

function idOf(element) {
  const known = idByElement.get(element);
  if (known !== undefined) return known;
  const id = ++lastId;
  idByElement.set(element, id);
  elementById.set(id, new WeakRef(element));
  forgetCollected.register(element, id);
  return id;
}

/** The element of an id, or a `stale` failure: removed, moved to another document, or never given. */
function elementOf(id) {
  const element = elementById.get(id)?.deref();
  if (!element) fail('stale', { id });
  if (!isConnected(element) || ownerDocumentOf(element) !== document) failAbout(element, 'stale', { id });
  return element;
}
