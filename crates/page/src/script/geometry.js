// Geometry: where an element is, which points of it are worth a click, and how to bring it into view.

/** Alignments for scrolling, in both directions: as needed first; on a retry others, which beats sticky bars. */
const SCROLL_CYCLE = ['auto', 'end', 'center', 'start'];

/** What is in the top layer is clipped by nothing around it. */
const TOP_LAYER = CSS.supports('selector(:popover-open)') ? ':modal, :popover-open' : ':modal';

/** Where in a box to try, as fractions: the middle, then the quarter points. */
const PROBE_FRACTIONS = [[0.5, 0.5], [0.25, 0.25], [0.75, 0.75], [0.75, 0.25], [0.25, 0.75]];

/** The grid of last resort, for shapes that fill little of their box: points per side. */
const GRID_SIZE = 7;

/** Everywhere: nothing is out of view. */
const EVERYWHERE = { left: -Infinity, top: -Infinity, right: Infinity, bottom: Infinity };

/** What a person sees, without scrollbars: on a phone, or zoomed in, only a part of what the page is laid out in. */
function viewportBox() {
  const { offsetLeft: left, offsetTop: top, width, height } = visualViewport;
  return { left, top, right: left + width, bottom: top + height };
}

/** How far the visible part is from where the page's coordinates begin, if it is: the pointer is told from there. */
function viewShift() {
  const { offsetLeft, offsetTop } = visualViewport;
  return offsetLeft || offsetTop ? { shiftX: offsetLeft, shiftY: offsetTop } : {};
}

function intersection(a, b) {
  return {
    left: Math.max(a.left, b.left),
    top: Math.max(a.top, b.top),
    right: Math.min(a.right, b.right),
    bottom: Math.min(a.bottom, b.bottom),
  };
}

function hasArea(box) {
  return box.right > box.left && box.bottom > box.top;
}

function holdsPoint(box, { x, y }) {
  return x >= box.left && x < box.right && y >= box.top && y < box.bottom;
}

function pointIn(box, [fractionX, fractionY]) {
  return { x: box.left + (box.right - box.left) * fractionX, y: box.top + (box.bottom - box.top) * fractionY };
}

function plainBox(element) {
  const box = boundsOf(element);
  return { x: box.left, y: box.top, width: box.right - box.left, height: box.bottom - box.top };
}

function boundsOf(element) {
  if (isHtml(element, 'area')) return boundsOfArea(element);
  const box = boundingBoxOf(element);
  if (hasArea(box)) return box;
  return unionOf(boxesOf(element)) || box;
}

function unionOf(boxes) {
  if (boxes.length === 0) return null;
  return {
    left: Math.min(...boxes.map((box) => box.left)),
    top: Math.min(...boxes.map((box) => box.top)),
    right: Math.max(...boxes.map((box) => box.right)),
    bottom: Math.max(...boxes.map((box) => box.bottom)),
  };
}

/** The boxes an element paints: one per line for inline ones; those of its content if it has none. */
function boxesOf(element) {
  if (isHtml(element, 'area')) return [boundsOfArea(element)];
  const stand = visibleStandIn(element);
  const boxes = [...clientRectsOf(stand)].filter(hasArea);
  if (boxes.length) return boxes;
  return [...flatChildren(stand)].flatMap((child) => {
    if (nodeTypeOf(child) === ELEMENT) return boxesOf(child);
    return nodeTypeOf(child) === TEXT ? rectsOfText(child) : [];
  });
}

/** The image that shows an <area>, or null. */
function imageOfArea(area) {
  const map = closestOf(area, 'map');
  const name = map && (map.name || map.id);
  if (!name) return null;
  for (const image of allIn(rootNodeOf(map), 'img[usemap]')) {
    if (attributeOf(image, 'usemap').replace(/^#/, '') === name) return image;
  }
  return null;
}

/** Where the picture itself starts: inside border and padding. */
function contentOrigin(element) {
  const box = boundingBoxOf(element);
  const style = getComputedStyle(element);
  const scaleX = offsetWidthOf(element) ? box.width / offsetWidthOf(element) : 1;
  const scaleY = offsetHeightOf(element) ? box.height / offsetHeightOf(element) : 1;
  const pixels = (property) => parseFloat(style[property]) || 0;
  return {
    x: box.left + (pixels('borderLeftWidth') + pixels('paddingLeft')) * scaleX,
    y: box.top + (pixels('borderTopWidth') + pixels('paddingTop')) * scaleY,
    scaleX,
    scaleY,
  };
}

function boundsOfArea(area) {
  const image = imageOfArea(area);
  if (!image) return { left: 0, top: 0, right: 0, bottom: 0 };
  const numbers = (attributeOf(area, 'coords') || '').split(/[\s,;]+/).map(Number).filter(Number.isFinite);
  const shape = area.shape.toLowerCase();
  if (shape === 'default' || numbers.length < 3) return boundingBoxOf(image);
  const { x, y, scaleX, scaleY } = contentOrigin(image);
  const corners = shape.startsWith('circ') ? circleCorners(numbers) : numbers;
  const xs = corners.filter((_, index) => index % 2 === 0);
  const ys = corners.filter((_, index) => index % 2 === 1);
  return {
    left: x + Math.min(...xs) * scaleX,
    top: y + Math.min(...ys) * scaleY,
    right: x + Math.max(...xs) * scaleX,
    bottom: y + Math.max(...ys) * scaleY,
  };
}

function circleCorners([x, y, radius]) {
  return [x - radius, y - radius, x + radius, y + radius];
}

/** The part of the viewport (or of another box) through which an element can be seen: its clipping ancestors cut it. */
function visibleWindow(element, within = viewportBox()) {
  let view = within;
  if (matchesSelector(element, TOP_LAYER)) return view;
  let position = getComputedStyle(element).position;
  for (let at = flatParent(element); at && at !== document.documentElement; at = flatParent(at)) {
    if (position === 'fixed') break;
    const style = getComputedStyle(at);
    // An absolute box is placed by the nearest positioned ancestor and escapes those between.
    if (position === 'absolute' && style.position === 'static' && style.transform === 'none') continue;
    position = style.position;
    if (matchesSelector(at, TOP_LAYER)) position = 'fixed';
    if (style.overflow === 'visible' || passesOverflowOn(at)) continue;
    const cut = intersection(view, paddingBox(at));
    // A wrong guess about who clips must not hide the element: the hit test decides anyway.
    if (style.display !== 'inline' && style.display !== 'contents') view = cut;
  }
  return view;
}

/** The overflow of the body belongs to the viewport unless the root element has its own. */
function passesOverflowOn(element) {
  return element === document.body && getComputedStyle(document.documentElement).overflow === 'visible';
}

function paddingBox(element) {
  const box = boundingBoxOf(element);
  const scaleX = offsetWidthOf(element) ? box.width / offsetWidthOf(element) : 1;
  const scaleY = offsetHeightOf(element) ? box.height / offsetHeightOf(element) : 1;
  const left = box.left + clientLeftOf(element) * scaleX;
  const top = box.top + clientTopOf(element) * scaleY;
  return { left, top, right: left + clientWidthOf(element) * scaleX, bottom: top + clientHeightOf(element) * scaleY };
}

/** The point an action is meant for before anything is cut off: decides whether to scroll. */
function intendedPoint(element, position) {
  if (position) {
    const inner = paddingBox(element);
    return { x: inner.left + position.x, y: inner.top + position.y };
  }
  const [first] = boxesOf(element);
  return first ? pointIn(first, [0.5, 0.5]) : null;
}

/** Points worth trying, best first, all of them in view. */
function* clickPoints(element, position) {
  const view = visibleWindow(element);
  if (position) {
    yield intendedPoint(element, position);
    return;
  }
  const boxes = boxesOf(element);
  const visible = boxes.map((box) => intersection(box, view)).filter(hasArea);
  const usable = visible.length ? visible : boxes.map((box) => intersection(box, viewportBox())).filter(hasArea);
  for (const fractions of PROBE_FRACTIONS) yield* usable.map((box) => pointIn(box, fractions)).slice(0, 8);
  if (usable.length) yield* gridPoints(usable[0]);
}

/** Thin curves and rings have nothing in the middle: look over the whole box. */
function* gridPoints(box) {
  for (let row = 0; row < GRID_SIZE; row++) {
    for (let column = 0; column < GRID_SIZE; column++) {
      yield pointIn(box, [(column + 0.5) / GRID_SIZE, (row + 0.5) / GRID_SIZE]);
    }
  }
}

/** Scrolls as asked; 'auto' only if the intended point is out of view. Always at once, never smoothly. */
function bringIntoView(element, alignment, position) {
  const stand = visibleStandIn(element) || element;
  if (alignment === 'auto') {
    const isThere = () => {
      const point = intendedPoint(element, position);
      return !point || holdsPoint(visibleWindow(stand), point);
    };
    if (isThere()) return;
    scrollNearest(stand, 'center', 'nearest');
    // A carousel snaps back from a step that is too small: the other alignments go further.
    for (const other of ['center', 'start', 'end']) {
      if (isThere()) return;
      scrollNearest(stand, other, other);
    }
    if (!isThere()) scrollNearest(stand, 'center', 'nearest');
    const moved = intendedPoint(element, position);
    if (!holdsPoint(viewportBox(), moved)) scrollPointIntoView(moved);
    return;
  }
  scrollNearest(stand, alignment, alignment);
}

/** display:contents elements and some SVG parts cannot be scrolled to: their content can. */
function scrollNearest(element, block, inline) {
  let target = element;
  while (getComputedStyle(target).display === 'contents' && firstElementOf(target)) target = firstElementOf(target);
  bringToView(target, { block, inline, behavior: 'instant' });
}

/** Brings one point of something larger than the viewport to its middle. */
function scrollPointIntoView({ x, y }) {
  const view = viewportBox();
  const left = x >= view.left && x < view.right ? 0 : x - (view.left + view.right) / 2;
  const top = y >= view.top && y < view.bottom ? 0 : y - (view.top + view.bottom) / 2;
  window.scrollBy({ left, top, behavior: 'instant' });
}
