// Annotations: for the moment of a picture, every element that can be referred to gets a frame and its reference.

let annotation = null;

/** Where elements can be seen, in the coordinates of this frame; null for what cannot. */
function boxesInView({ ids, whole }) {
  return { boxes: ids.map((id) => boxInView(elementById.get(id)?.deref(), whole)) };
}

function boxInView(element, whole) {
  if (!element || !isConnected(element) || !isVisible(element)) return null;
  const box = whole ? boundsOf(element) : intersection(boundsOf(element), visibleWindow(element));
  if (!hasArea(box)) return null;
  return { x: box.left, y: box.top, width: box.right - box.left, height: box.bottom - box.top };
}

/**
 * Draws above everything else, dialogs too: in the top layer, which pages cannot cover. The layer is in a closed root,
 * so that the events of its opening stay in there.
 */
function annotate({ labels }) {
  annotateEnd();
  const [host, layer] = [bareBox(), bareBox()];
  for (const label of labels) layer.append(frameOf(label), tagOf(label));
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

/** Above the box if there is room, else at its upper edge. */
function tagOf({ label, x, y }) {
  const tag = document.createElement('div');
  tag.textContent = label;
  applyStyles(tag, {
    position: 'absolute', left: `${Math.max(x, 0) + scrollX}px`, top: `${(y >= 14 ? y - 14 : Math.max(y, 0)) + scrollY}px`,
    font: 'bold 11px/14px monospace', color: '#fff', background: '#d6003c', padding: '0 3px', 'white-space': 'nowrap',
  });
  return tag;
}

function applyStyles(element, styles) {
  for (const [name, value] of Object.entries(styles)) element.style.setProperty(name, value, 'important');
}
