// The guard: the last check, made by the event itself.
//
// Between the hit test and the press the page may slide something else under the pointer. The guard
// looks at the first trusted pointer event; if it is not for the target, that press is kept from
// the page and the intruder remembered.

const GUARDED_EVENTS = [
  'pointerdown', 'mousedown', 'touchstart', 'pointerup', 'mouseup', 'touchend', 'click', 'dblclick', 'auxclick', 'contextmenu',
];

/** A guard nobody ends must not linger and judge the user's own clicks. */
const GUARD_LIFETIME = 10_000;

const guards = new Map();

class Guard {
  #target;
  #seen = 0;
  #blocker = null;
  #timer;

  constructor(target) {
    this.#target = target;
    for (const type of GUARDED_EVENTS) window.addEventListener(type, this, { capture: true, passive: false });
    this.#timer = setTimeout(() => this.disarm(), GUARD_LIFETIME);
  }

  handleEvent(event) {
    if (!event.isTrusted) return;
    // Only the first event is judged: once the press began on the target, the page may do as it likes.
    if (this.#seen++ === 0 && !this.#isForTarget(event)) this.#blocker = event.composedPath()[0];
    if (!this.#blocker) return;
    event.preventDefault();
    event.stopImmediatePropagation();
  }

  #isForTarget(event) {
    const path = event.composedPath();
    // An event in a closed shadow root shows only its host here: look where the pointer is instead.
    const hit = adoptedRoots.has(path[0]) ? elementAt(event.clientX, event.clientY) : path[0];
    return path.includes(this.#target) || (hit instanceof Element && standsFor(this.#target, hit));
  }

  disarm() {
    clearTimeout(this.#timer);
    for (const type of GUARDED_EVENTS) window.removeEventListener(type, this, { capture: true });
  }

  report() {
    const report = { seen: this.#seen, hit: this.#seen > 0 && !this.#blocker, connected: this.#target.isConnected };
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
async function guardEnd({ id }) {
  await sleep(0);
  const guard = guards.get(id);
  if (!guard) return { seen: 0, hit: false, connected: elementById.get(id)?.deref()?.isConnected ?? false };
  guard.disarm();
  guards.delete(id);
  return guard.report();
}

function disarmAllGuards() {
  for (const guard of guards.values()) guard.disarm();
  guards.clear();
}
