// Hit tests: which element a pointer would meet, and whether that one stands for the target.

/** What a click on its inside activates. */
const CLICK_OWNER_ROLES = new Set(
  'button link checkbox radio switch tab option menuitem menuitemcheckbox menuitemradio treeitem'.split(' '),
);

/** Frames that a move of the pointer is given to arrive. */
const ARRIVAL_FRAMES = 3;

/** The innermost element at a point, through open shadow roots. */
function elementAt(x, y) {
  let hit = document.elementFromPoint(x, y);
  for (let root; hit && (root = shadowRootOf(hit)); ) {
    const inner = root.elementFromPoint(x, y);
    if (!inner || inner === hit || rootNodeOf(inner) !== root) break;
    hit = inner;
  }
  return hit;
}

/** Whether a click that lands on `hit` is a click on `target`. */
function standsFor(target, hit) {
  if (!hit) return false;
  if (flatContains(target, hit)) return true;
  const label = flatClosest(hit, (at) => isHtml(at, 'label'));
  if (label && label.control === target) return true;
  return isHtml(target, 'label') && target.control !== null && flatContains(target.control, hit);
}

/** Whether nothing between the hit and the target would take the click for itself, like a button on a card. */
function isDirectHit(target, hit) {
  const taker = flatClosest(hit, (at) => at === target || takesClicks(at));
  return taker === target || taker === null || taker === target.control;
}

function takesClicks(element) {
  return CLICK_OWNER_ROLES.has(roleOf(element)) || /^(?:input|textarea|select)$/.test(localNameOf(element));
}

/** The button, link or the like that reacts to a click on this element; the element itself if it is one. */
function clickOwner(element) {
  if (/^(?:input|textarea|select|option|area)$/.test(localNameOf(element)) || isContentEditable(element)) return element;
  return flatClosest(element, (at) => CLICK_OWNER_ROLES.has(roleOf(at))) || element;
}

/** A label stands for its control; so does anything inside it that is no control itself. */
function labelledControl(element) {
  const isControl = 'labels' in element || isEditingHost(element) || tabIndexOf(element) >= 0;
  if (isControl && !isHtml(element, 'label')) return element;
  const label = flatClosest(element, (at) => isHtml(at, 'label'));
  return label?.control || element;
}

/**
 * The first point at which the target can be hit; fails with the reason if there is none.
 * A point on something inside that takes clicks itself is only used if there is no better one.
 */
function hittablePoint(located, target, position) {
  let blocker = null;
  let secondBest = null;
  let tried = false;
  for (const point of clickPoints(located, position)) {
    tried = true;
    const hit = elementAt(point.x, point.y);
    if (!standsFor(target, hit)) blocker ||= { hit, point };
    else if (isDirectHit(target, hit)) return point;
    else secondBest ||= point;
  }
  if (secondBest) return secondBest;
  if (!tried) failAbout(target, 'not-visible', { why: OUTSIDE });
  if (getComputedStyle(target).pointerEvents === 'none') failAbout(target, 'no-pointer');
  const why = inertBecause(target);
  if (why) failAbout(target, 'disabled', { why });
  return failCovered(target, blocker.hit, blocker.point);
}

const OUTSIDE = 'it is outside the viewport and cannot be scrolled into view';

/** Why an element with a box is not in view. */
function unseenBecause(element) {
  if (!boxesOf(element).some((box) => hasArea(intersection(box, viewportBox())))) return OUTSIDE;
  return 'what holds it cuts it off and cannot be scrolled to it';
}

/** Where nothing can be met at all, nothing covers the target either: the point is out of view. */
function failCovered(target, blocker, point) {
  if (!blocker && !holdsPoint(viewportBox(), point)) failAbout(target, 'out-of-view');
  return failAbout(target, 'covered', { blocker: blocker ? previewOf(blocker) : 'the bare page' });
}

/**
 * A second look right before the press: the page may have moved things under the pointer. And the browser learns only with the next
 * picture where a frame of another process is now: until the pointer has come into the frame, a press would go elsewhere.
 */
async function recheck({ id, x, y, inFrame }) {
  const target = elementOf(id);
  if (inFrame && !(await pointerCame(id))) failAbout(target, 'covered', { blocker: 'something outside of its frame' });
  const hit = elementAt(x, y);
  return standsFor(target, hit) ? { ok: true } : failCovered(target, hit, { x, y });
}

async function pointerCame(id) {
  for (let frame = 0; frame < ARRIVAL_FRAMES; frame++) {
    if (!CALLS_BACK || guards.get(id)?.hasPointer !== false) return true;
    await nextFrame();
  }
  return guards.get(id)?.hasPointer !== false;
}
