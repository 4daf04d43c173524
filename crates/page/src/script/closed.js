// Shadow roots, the closed ones too.
//
// Scripts cannot reach a closed root, but the protocol can: the snapshot names the elements that may
// have one, the Rust side looks them up and hands the roots in. From then on they are like open ones.

const adoptedRoots = new WeakMap();
const examinedHosts = new WeakSet();
let closedCandidates = [];
/** Is there a closed root that we were handed? Without a snapshot its content is not found. */
let hasAdoptedRoots = false;

/** Each look-up is a round trip, and pages have many empty elements: enough for any honest page. */
const MOST_CANDIDATES = 64;

/** Tags besides custom elements that may have a shadow root. */
const HOST_TAGS = new Set('article aside blockquote body div footer h1 h2 h3 h4 h5 h6 header main nav p section span'.split(' '));

/** The shadow root of an element, open or handed in, or null. */
function shadowRootOf(element) {
  return openRootOf(element) ?? adoptedRoots.get(element) ?? null;
}

/** Remembers an element that shows something although it has no content that scripts can see. */
function noteIfClosed(element) {
  if (closedCandidates.length >= MOST_CANDIDATES || examinedHosts.has(element)) return;
  const isCustom = localNameOf(element).includes('-');
  const isEmptyHost = !isCustom && firstChildOf(element) === null && HOST_TAGS.has(localNameOf(element));
  if (!isCustom && !(isEmptyHost && offsetHeightOf(element) > 0)) return;
  examinedHosts.add(element);
  closedCandidates.push(idOf(element));
}

/** The ids of the elements noted since the last call. */
function takeClosedCandidates() {
  const taken = closedCandidates;
  closedCandidates = [];
  return taken;
}

/** Whoever has an element has the roots around it, too. */
function adoptRootsAround(element) {
  for (let root = rootNodeOf(element); root instanceof ShadowRoot; root = rootNodeOf(root.host)) {
    if (!shadowRootOf(root.host)) adoptRoot(root.host, root);
  }
}

/** Called by the Rust side with a closed root as `root`. */
function adoptRoot(host, root) {
  adoptedRoots.set(host, root);
  hasAdoptedRoots = true;
}
