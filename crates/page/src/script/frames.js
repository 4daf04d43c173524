// Frames: from the coordinates of what a frame shows to those of the document that holds it.

/** From a point in a child frame's viewport to the point in ours, in view and, unless forced, not covered there. */
function frameStep({ id, x, y, attempt = 0, force = false }) {
  const frame = elementOf(id);
  // The protocol handed the frame out, from wherever it is: its own closed roots are no secret any more.
  adoptRootsAround(frame);
  const place = () => wayOut(frame)(x, y);
  const isThere = () => holdsPoint(visibleWindow(frame), place());
  if (!isThere()) {
    const first = SCROLL_CYCLE[attempt % SCROLL_CYCLE.length];
    for (const alignment of [first === 'auto' ? 'nearest' : first, 'center', 'start', 'end']) {
      scrollNearest(frame, alignment, alignment);
      if (isThere()) break;
    }
    if (!holdsPoint(viewportBox(), place())) scrollPointIntoView(place());
  }
  const point = place();
  const hit = elementAt(point.x, point.y);
  const isMet = hit === frame || (force && holdsPoint(visibleWindow(frame), point));
  return isMet ? { ...point, ...viewShift() } : failCovered(frame, hit, point);
}

/** Boxes of a child frame as we see them; null for those that are cut off altogether. */
function boxesThroughFrame({ id, boxes, cut }) {
  const frame = elementOf(id);
  const view = windowFor(frame, cut);
  const out = wayOut(frame);
  return { boxes: boxes.map((box) => box && asRect(intersection(boxThrough(out, box), view), cut)) };
}

function boxThrough(out, { x, y, width, height }) {
  return boundsOfPoints([out(x, y), out(x + width, y), out(x, y + height), out(x + width, y + height)]);
}

/** Through which box an element is looked at: `cut` is nothing, holders or view. */
function windowFor(element, cut) {
  if (cut === 'nothing') return EVERYWHERE;
  return cut === 'view' ? visibleWindow(element) : visibleWindow(element, EVERYWHERE);
}

/** As the Rust side knows boxes; null if nothing was left of it. */
function asRect(box, cut) {
  if (cut !== 'nothing' && !hasArea(box)) return null;
  return { x: box.left, y: box.top, width: box.right - box.left, height: box.bottom - box.top };
}

/** The function that takes a point of what the frame shows to the same point among us. */
function wayOut(frame) {
  const turn = seenTurn(frame);
  if (isUpright(turn)) {
    const origin = contentOrigin(frame);
    return (x, y) => ({ x: origin.x + x * origin.scaleX, y: origin.y + y * origin.scaleY });
  }
  const style = getComputedStyle(frame);
  const [left, top] = [clientLeftOf(frame) + parseFloat(style.paddingLeft), clientTopOf(frame) + parseFloat(style.paddingTop)];
  // Where exactly it stands is known from its box alone: what was summed up on the way may be some pixels off.
  const [seen, summed] = [boundingBoxOf(frame), turnedBounds(frame, turn)];
  return (x, y) => {
    const point = projected(turn, left + x, top + y);
    return { x: point.x + seen.left - summed.left, y: point.y + seen.top - summed.top };
  };
}

/** The turn as it is seen: perspective counts only if its box says so, for what is laid out in between can keep it off. */
function seenTurn(frame) {
  const turn = turnOf(frame, true);
  if (turn.m14 === 0 && turn.m24 === 0) return turn;
  const [seen, summed] = [boundingBoxOf(frame), turnedBounds(frame, turn)];
  return Math.abs(seen.width - (summed.right - summed.left)) < 1.5 ? turn : turnOf(frame, false);
}

function turnedBounds(element, turn) {
  const own = { x: 0, y: 0, width: offsetWidthOf(element), height: offsetHeightOf(element) };
  return boxThrough((x, y) => projected(turn, x, y), own);
}

function boundsOfPoints(points) {
  const [xs, ys] = [points.map(({ x }) => x), points.map(({ y }) => y)];
  return { left: Math.min(...xs), top: Math.min(...ys), right: Math.max(...xs), bottom: Math.max(...ys) };
}

function projected(matrix, x, y) {
  const point = matrix.transformPoint({ x, y, z: 0, w: 1 });
  return { x: point.x / point.w, y: point.y / point.w };
}

/** From an element's own pixels to the page, as it is turned, zoomed and seen in perspective by itself and all around it. */
function turnOf(element, inPerspective) {
  const zoom = zoomOf(element);
  const { x, y } = placeOf(element);
  let matrix = new DOMMatrix().translate(x, y).scale(zoom, zoom);
  for (let at = element; at; at = flatParent(at)) {
    const own = ownTurn(at);
    if (own) matrix = own.multiply(matrix);
    const parent = flatParent(at);
    const style = parent && getComputedStyle(parent);
    if (inPerspective && style && style.perspective !== 'none') matrix = perspectiveOf(parent, style).multiply(matrix);
    if (!matrix.is2D && style?.transformStyle !== 'preserve-3d') matrix = flattened(matrix);
  }
  return matrix;
}

/** The turn of one element about its origin, in pixels of the page; null if there is none. */
function ownTurn(element) {
  const style = getComputedStyle(element);
  const parts = [moveIn(style.translate), rotationIn(style.rotate), scalingIn(style.scale), style.transform];
  const text = parts.filter((part) => part && part !== 'none').join(' ');
  return text ? around(element, style.transformOrigin, asMatrix(text)) : null;
}

function perspectiveOf(element, style) {
  return around(element, style.perspectiveOrigin, asMatrix(`perspective(${style.perspective})`));
}

/** A matrix that is written in an element's own pixels, about a point of its box, as one of the page. */
function around(element, origin, matrix) {
  const zoom = zoomOf(element);
  const place = placeOf(element);
  const [x, y, z = 0] = origin.split(' ').map(parseFloat);
  return new DOMMatrix()
    .translate(place.x, place.y)
    .scale3d(zoom)
    .translate(x, y, z)
    .multiply(matrix)
    .translate(-x, -y, -z)
    .scale3d(1 / zoom)
    .translate(-place.x, -place.y);
}

/** What is flat has no depth for what is around it. */
function flattened(matrix) {
  const flat = DOMMatrix.fromMatrix(matrix);
  for (const member of ['m13', 'm23', 'm43', 'm31', 'm32', 'm34']) flat[member] = 0;
  flat.m33 = 1;
  return flat;
}

// The three properties of their own are written unlike the functions of `transform`.
function moveIn(value) {
  const [x, y = '0px', z = '0px'] = value.split(' ');
  // A share of its own size only shifts it, which its box shows better.
  return value === 'none' || value.includes('%') ? null : `translate3d(${x}, ${y}, ${z})`;
}

function rotationIn(value) {
  const parts = value.split(' ');
  const angle = parts.pop();
  if (value === 'none' || parts.length === 0) return value === 'none' ? null : `rotate(${angle})`;
  const axis = parts.length === 1 ? { x: [1, 0, 0], y: [0, 1, 0], z: [0, 0, 1] }[parts[0]] : parts;
  return `rotate3d(${axis.join(',')}, ${angle})`;
}

function scalingIn(value) {
  const parts = value.split(' ');
  return value === 'none' ? null : `${parts.length === 3 ? 'scale3d' : 'scale'}(${parts.join(',')})`;
}

/** An unknown syntax counts for nothing; the hit test tells if that was wrong. */
function asMatrix(text) {
  try {
    return new DOMMatrix(text);
  } catch {
    return new DOMMatrix();
  }
}

/** Browsers before 128 measure what is zoomed in its own pixels anyway. */
function zoomOf(element) {
  return element.currentCSSZoom ?? 1;
}

/** Where an element would be if nothing was turned, in pixels of the page. */
function placeOf(element) {
  let [x, y] = [0, 0];
  for (let at = element; at; ) {
    const zoom = zoomOf(at);
    const holder = offsetParentOf(at) ?? null;
    x += (offsetLeftOf(at) ?? 0) * zoom;
    y += (offsetTopOf(at) ?? 0) * zoom;
    for (let between = flatParent(at); between && holder; between = flatParent(between)) {
      const scale = zoomOf(between);
      x -= (scrollLeftOf(between) - (between === holder ? clientLeftOf(between) : 0)) * scale;
      y -= (scrollTopOf(between) - (between === holder ? clientTopOf(between) : 0)) * scale;
      if (between === holder) break;
    }
    at = holder;
  }
  return { x, y };
}

/** Only moved, scaled or zoomed: then its box tells everything. */
function isUpright({ m11, m12, m14, m21, m22, m24 }) {
  const isStraight = Math.abs(m12) < 1e-6 && Math.abs(m21) < 1e-6 && m11 > 0 && m22 > 0;
  return isStraight && Math.abs(m14) < 1e-9 && Math.abs(m24) < 1e-9;
}
