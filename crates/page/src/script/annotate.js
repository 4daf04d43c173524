// Annotations: for the moment of a picture, every element that can be referred to gets a frame and its reference, or what
// holds a secret is covered.

let annotation = null;

/** Where elements can be seen, in the coordinates of this frame; null for what cannot. */
function boxesInView({ ids, cut }) {
  return { boxes: ids.map((id) => boxInView(elementById.get(id)?.deref(), cut)) };
}

/** The options of a closed list are not in the picture: their list is. */
function boxInView(element, cut) {
  if (!element || !isConnected(element) || !isVisible(element) || dropDownOf(element)) return null;
  return asRect(intersection(boundsOf(element), windowFor(element, cut)), cut);
}

/**
 * Draws above everything else, dialogs too: in the top layer, which pages cannot cover. The layer is in a closed root,
 * so that the events of its opening stay in there.
 */
function annotate({ labels, left, top, covers = false }) {
  annotateEnd();
  const [host, layer] = [bareBox(), bareBox()];
  for (const label of labels) layer.append(...(covers ? [coverOf(label)] : [frameOf(label), tagOf(label, left, top)]));
  layer.popover = 'manual';
  host.attachShadow({ mode: 'closed' }).append(layer);
  document.documentElement.append(host);
  annotation = host;
  try {
    layer.showPopover();
  } catch {
    // An old browser or a document that is no HTML: the z-index has to do.
  }
  return {};
}

function bareBox() {
  const box = document.createElement('div');
  applyStyles(box, {
    all: 'initial', position: 'absolute', left: '0', top: '0', right: 'auto', bottom: 'auto', margin: '0', padding: '0', border: '0',
    width: '0', height: '0', overflow: 'visible', background: 'none', 'pointer-events': 'none', 'z-index': '2147483647', display: 'block',
  });
  return box;
}

function annotateEnd() {
  annotation?.remove();
  annotation = null;
  return {};
}

function frameOf({ x, y, width, height }) {
  const frame = document.createElement('div');
  applyStyles(frame, {
    position: 'absolute', left: `${x + scrollX}px`, top: `${y + scrollY}px`, width: `${width}px`, height: `${height}px`,
    'box-sizing': 'border-box', outline: '2px solid #d6003c', 'outline-offset': '-1px',
  });
  return frame;
}

function coverOf(box) {
  const cover = frameOf(box);
  applyStyles(cover, { background: '#767676', outline: 'none' });
  return cover;
}

/** What stands in fields that show it. */
function shownValues() {
  const isShown = (element) => element.type !== 'password' && element.type !== 'hidden';
  const valueOf = (element) => ('value' in element ? element.value : innerTextOf(element));
  const fields = queryOpenRoots('input, textarea, [contenteditable]').filter(isShown);
  return { fields: fields.map((element) => ({ id: idOf(element), value: String(valueOf(element)) })).filter(({ value }) => value) };
}

/** Above the box if the picture has room there, else at its upper edge. */
function tagOf({ label, x, y }, left, top) {
  const tag = document.createElement('div');
  tag.textContent = label;
  applyStyles(tag, {
    position: 'absolute', left: `${Math.max(x, left) + scrollX}px`, top: `${(y - top >= 14 ? y - 14 : Math.max(y, top)) + scrollY}px`,
    font: 'bold 11px/14px monospace', color: '#fff', background: '#d6003c', padding: '0 3px', 'white-space': 'nowrap',
  });
  return tag;
}

function applyStyles(element, styles) {
  for (const [name, value] of Object.entries(styles)) element.style.setProperty(name, value, 'important');
}
