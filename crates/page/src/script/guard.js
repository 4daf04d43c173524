// The guard: the last check, made by the event itself.
//
// Between the hit test and the press the page may slide something else under the pointer. The guard
// looks at the first trusted pointer event; if it is not for the target, that press is kept from
// the page and the intruder remembered.

const GUARDED_EVENTS = [
  'pointerdown', 'mousedown', 'touchstart', 'pointerup', 'mouseup', 'touchend', 'click', 'dblclick', 'auxclick', 'contextmenu',
];

/** What tells that the pointer is over this document. */
const POINTER_MOVES = ['pointerover', 'pointermove', 'mousemove'];

/** What comes of a press and a release on the same thing, by button. */
const CLICKS = new Set(['click', 'auxclick', 'contextmenu']);

/** A guard nobody ends must not linger and judge the user's own clicks. */
const GUARD_LIFETIME = 10_000;

const guards = new Map();

class Guard {
  #target;
  #seen = 0;
  #blocker = null;
  #timer;
  #hasPointer = false;
  #isClicked = false;
  #boxAtPress = '';
  #notePointer = (event) => {
    this.#hasPointer ||= event.isTrusted;
  };

  constructor(target) {
    this.#target = target;
    for (const type of GUARDED_EVENTS) window.addEventListener(type, this, { capture: true, passive: false });
    for (const type of POINTER_MOVES) window.addEventListener(type, this.#notePointer, { capture: true, passive: true });
    this.#timer = setTimeout(() => this.disarm(), GUARD_LIFETIME);
  }

  handleEvent(event) {
    if (!event.isTrusted) return;
    // Only the first event is judged: once the press began on the target, the page may do as it likes.
    if (this.#seen++ === 0) this.#judge(event);
    this.#isClicked ||= CLICKS.has(event.type) && this.#isForTarget(event);
    if (!this.#blocker) return;
    event.preventDefault();
    event.stopImmediatePropagation();
  }

  #judge(event) {
    if (!this.#isForTarget(event)) this.#blocker = event.composedPath()[0];
    this.#boxAtPress = boxKey(this.#target);
  }

  /**
   * The press was for the target, but it slid away before the button was let go, so that no click came of it. A drop-down
   * takes the press alone.
   */
  #isMissed() {
    return this.#isUnclicked() && this.#target.isConnected && boxKey(this.#target) !== this.#boxAtPress;
  }

  /** Pressed without a click: the page replaced or covered the target under the press, which may be all that it wanted. */
  #isUnclicked() {
    if (this.#seen === 0 || this.#blocker || this.#isClicked) return false;
    return !dropDownOf(this.#target) && !isHtml(this.#target, 'select');
  }

  #isForTarget(event) {
    const path = event.composedPath();
    // An event in a closed shadow root shows only its host here: look where the pointer is instead.
    const hit = adoptedRoots.has(path[0]) ? elementAt(event.clientX, event.clientY) : path[0];
    return path.includes(this.#target) || (hit instanceof Element && standsFor(this.#target, hit));
  }

  /** Has the pointer come here since this guard was armed? */
  get hasPointer() {
    return this.#hasPointer;
  }

  disarm() {
    clearTimeout(this.#timer);
    for (const type of POINTER_MOVES) window.removeEventListener(type, this.#notePointer, { capture: true });
    for (const type of GUARDED_EVENTS) window.removeEventListener(type, this, { capture: true });
  }

  report() {
    const report = { seen: this.#seen, hit: this.#seen > 0 && !this.#blocker, missed: this.#isMissed() };
    if (this.#isUnclicked()) report.unclicked = true;
    if (this.#blocker) report.blocker = this.#blocker instanceof Element ? previewOf(this.#blocker) : 'the page itself';
    return report;
  }
}

function armGuard(target) {
  const id = idOf(target);
  guards.get(id)?.disarm();
  guards.set(id, new Guard(target));
}

/** One task later, so that what the press set going in the page (a form's submission, say) has begun. */
async function guardEnd({ id, x, y }) {
  await sleep(0);
  const guard = guards.get(id);
  if (!guard) return { seen: 0, hit: false, closing: window.closed };
  guard.disarm();
  guards.delete(id);
  const report = { ...guard.report(), closing: window.closed };
  // Nothing was heard here: either the page keeps its events to itself, or a frame slid in between and got them.
  return report.seen === 0 && x !== undefined ? { ...report, ...inTheWay(id, x, y) } : report;
}

/** What covers the target now, if anything does. */
function inTheWay(id, x, y) {
  try {
    recheck({ id, x, y });
    return {};
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return error.kind === 'covered' ? { blocker: error.facts.blocker } : {};
  }
}

function disarmAllGuards() {
  for (const guard of guards.values()) guard.disarm();
  guards.clear();
}
