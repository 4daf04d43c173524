// Preparing an action: wait until the one target is in the needed states, and find the point to press.

/** Frames that a target inside a running animation must keep its box: a slow start looks like rest. */
const CAUTIOUS_FRAMES = 3;

/** Frames that a pending animation is given to start; one that is never painted must not block forever. */
const START_FRAMES = 30;

async function prepare(options) {
  const seen = { element: null };
  const end = performance.now() + (options.timeout || 0);
  const { result, waited } = await keepTrying(options.timeout, (covered) => prepareOnce({ ...options, end }, covered, seen));
  return { ...result, waited };
}

/** What was there in an earlier try and is not any more was taken away: that says more than "not found". */
function locateAgain(locator, seen) {
  try {
    seen.element = locateOne(locator);
    return seen.element;
  } catch (error) {
    if (seen.element && error instanceof Failure && error.kind === 'not-found') failAbout(seen.element, 'detached');
    throw error;
  }
}

/** A point outside of the element would press something else. */
function refuseOutside(element, position) {
  if (!position) return;
  const { x, y } = position;
  const { width, height } = plainBox(element);
  if (x < 0 || y < 0 || x > width || y > height) failAbout(element, 'out-of-element', { x, y, width, height });
}

async function prepareOnce(options, coveredTries, seen) {
  const located = locateAgain(options.locator, seen);
  const aim = aimAt(located, options.retarget);
  const need = new Set(options.force ? [] : options.need);
  if (need.has('events') || options.force) refuseUnclickable(aim.target);
  checkStates(aim, need);
  if (need.has('stable')) await settled(aim.shown, options.end);
  refuseOutside(aim.shown, options.position);
  scrollForAction(aim.shown, options, coveredTries);
  const point = pointFor(aim, options, need);
  if (options.guard && need.has('events')) armGuard(aim.target);
  return { ...describeTarget(aim.target), ...point, ...viewShift(), downloads: isDownloadLink(aim.target) };
}

function pointFor(aim, options, need) {
  if (need.has('events')) return hittablePoint(aim.shown, aim.target, options.position);
  return options.inView ? pointInView(aim.shown, options) : plainPoint(aim.shown, options);
}

/** A link that is followed into a file: the browser starts that without telling the page. */
function isDownloadLink(element) {
  return element.closest('a[download][href], area[download][href]') !== null;
}

/**
 * Who is meant: `target` is what the action is about, `shown` the element whose box is aimed at.
 * They differ for an icon in a button, and for a checkbox that hides behind its styled label.
 */
function aimAt(located, retarget) {
  if (retarget === 'click') return { target: clickOwner(located), shown: located };
  if (retarget !== 'label') return { target: located, shown: located };
  const target = labelledControl(located);
  return { target, shown: isVisible(target) ? target : labelsShown(target, located)[0] || target };
}

/** The list of a drop-down is drawn by the system: no pointer of the page gets there. */
function refuseUnclickable(target) {
  if (dropDownOf(target)) failAbout(target, 'wrong-type', { why: 'the options of a drop-down list cannot be clicked: use select', verb: 'select' });
}

function labelsShown(control, located) {
  const labels = located === control ? [...(control.labels || [])] : [located];
  return labels.filter(isVisible);
}

function checkStates({ target, shown }, need) {
  if (need.has('visible')) {
    const why = invisibleBecause(shown);
    if (why) failAbout(shown, 'not-visible', { why });
  }
  if (need.has('enabled') || need.has('editable')) {
    const why = disabledBecause(target);
    if (why) failAbout(target, 'disabled', { why });
  }
  if (need.has('editable')) {
    const why = readonlyBecause(target);
    if (why) failAbout(target, 'not-editable', { why });
  }
}

const MOVING = 'does not stop moving';

/** Resolves when the box is the same in two frames; the first look is now, so rest costs one frame. */
async function settled(element, end) {
  await animationsStarted(element, end);
  const frames = animationsAround(element).length ? CAUTIOUS_FRAMES : 1;
  let before = boxKey(element);
  for (let frame = 0; frame < frames; frame++) {
    await nextFrame();
    if (!element.isConnected) failAbout(element, 'not-stable', { why: 'does not stay on the page: it is taken out and put in anew' });
    const now = boxKey(element);
    if (now !== before) failAbout(element, 'not-stable', { why: MOVING });
    before = now;
  }
}

/** An animation that waits for its first frame does not move yet: equal boxes prove nothing before that. */
async function animationsStarted(element, end) {
  for (let frame = 0; frame < START_FRAMES; frame++) {
    if (!animationsAround(element).some((animation) => animation.pending)) return;
    if (performance.now() >= end) failAbout(element, 'not-stable', { why: MOVING });
    await nextFrame();
  }
}

/** Running animations of the element and of everything around it, in any shadow root. */
function animationsAround(element) {
  const animations = [];
  for (let at = element; at; at = flatParent(at)) animations.push(...at.getAnimations());
  return animations.filter((animation) => animation.playState === 'running');
}

function boxKey(element) {
  const box = boundsOf(element);
  return `${box.left} ${box.top} ${box.right} ${box.bottom}`;
}

function scrollForAction(element, { scroll, position, attempt = 0 }, coveredTries) {
  if (!scroll) return;
  const round = attempt + coveredTries;
  const alignment = scroll === 'auto' ? SCROLL_CYCLE[round % SCROLL_CYCLE.length] : scroll;
  bringIntoView(element, alignment, position);
}

/** The point for actions that do not point. One that needs nothing works without any box, e.g. an upload. */
function plainPoint(shown, { position, need }) {
  const [point = intendedPoint(shown, position)] = clickPoints(shown, position);
  if (point) return point;
  if (need.length) failBoxless(shown);
  return { x: 0, y: 0 };
}

/**
 * A point at which the element is in view, whatever covers it there. Whoever points without any check still needs one:
 * anywhere else the pointer would meet what nobody meant. Force does not wait for it, either.
 */
function pointInView(shown, { position, force }) {
  const facts = { isFinal: force === true };
  const unseen = force ? invisibleBecause(shown) : null;
  // What is hidden gets no events, whoever forces them: what lies there would.
  if (unseen) failAbout(shown, 'not-visible', { ...facts, why: unseen });
  if (boxesOf(shown).length === 0) failBoxless(shown, facts);
  const view = visibleWindow(shown);
  // A wrong guess about who clips must not hide the element: what can be hit is in view.
  const isSeen = (point) => holdsPoint(view, point) || standsFor(shown, elementAt(point.x, point.y));
  for (const point of clickPoints(shown, position)) if (isSeen(point)) return point;
  if (position) failAbout(shown, 'out-of-view', facts);
  return failAbout(shown, 'not-visible', { ...facts, why: unseenBecause(shown) });
}

function failBoxless(shown, facts) {
  failAbout(shown, 'not-visible', { ...facts, why: invisibleBecause(shown) || 'it has no box' });
}

function describeTarget(element) {
  const role = roleOf(element);
  return { id: idOf(element), role, name: cutAt(nameOf(element, role), NAME_LENGTH), preview: previewOf(element) };
}

/** Longest name or value that leaves the page. */
const NAME_LENGTH = 400;
