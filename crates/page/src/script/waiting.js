// Waiting in the page: one loop that retries until a deadline, never busy, and can be cancelled.

/** Pauses between tries when something covers the target: quick at first, then calm. */
const COVERED_PAUSES = [0, 20, 100, 100, 500];

/** Frames stop in a page that is not painted; this long after, a timer takes over. */
const FRAME_FALLBACK = 50;

let generation = 0;

/** Ends every pending wait of this document with `cancelled`. */
function cancelWaits() {
  generation++;
  return { ok: true };
}

/** A sandboxed frame may run no scripts of its own: timers, animation frames and listeners never call back there. */
const CALLS_BACK = !matchMedia('(scripting: none)').matches;

function sleep(ms) {
  return CALLS_BACK ? new Promise((done) => setTimeout(done, ms)) : sleepWithoutTimers(ms);
}

/** Reading a blob is a way through another process and back, which needs no call of ours: meanwhile the page is free. */
async function sleepWithoutTimers(ms) {
  const blob = new Blob(['.']);
  const end = performance.now() + ms;
  do await blob.text();
  while (performance.now() < end);
}

/** Resolves in the next animation frame, or a little later if no frame comes. */
function nextFrame() {
  if (!CALLS_BACK) return sleepWithoutTimers(FRAME_FALLBACK);
  return new Promise((done) => {
    const finish = () => {
      clearTimeout(timer);
      cancelAnimationFrame(frame);
      done();
    };
    const timer = setTimeout(finish, FRAME_FALLBACK);
    const frame = requestAnimationFrame(finish);
  });
}

/** One frame, for loops of the Rust side. */
async function pause() {
  await nextFrame();
  return {};
}

/** Steps of a long walk between two looks at the clock. */
const STEPS_PER_LOOK = 1024;

/** A first attempt may take this long, however short the time is: one look must be possible. */
const FIRST_ATTEMPT = 1000;

/** Calls that are told no end have this one. */
const LONGEST_CALL = 10_000;

let overdueAt = Infinity;
let stepsToLook = STEPS_PER_LOOK;

/** Called in every step of a long walk: one that nobody waits for any more must not hold the page. */
function stopWhenOverdue() {
  if (--stepsToLook > 0) return;
  stepsToLook = STEPS_PER_LOOK;
  if (performance.now() > overdueAt) fail('timeout', { seen: 'the page is too big to be searched in that time', isFinal: true });
}

/** Runs an attempt, whose walks come before its first pause, with an end for them. */
function withEnd(end, attempt) {
  const before = overdueAt;
  overdueAt = end;
  try {
    return attempt();
  } finally {
    overdueAt = before;
  }
}

/**
 * Calls `attempt(tries)` until it does not fail, and resolves to {result, waited}.
 * A final failure ends it at once; otherwise the last failure stands when the time is over.
 */
async function keepTrying(timeout, attempt) {
  const born = generation;
  const end = performance.now() + (timeout || 0);
  let covered = 0;
  let last = null;
  for (let tries = 0; ; tries++) {
    const began = performance.now();
    let failure;
    try {
      const stop = last ? end : Math.max(end, began + FIRST_ATTEMPT);
      return { result: await withEnd(stop, () => attempt(covered)), waited: tries > 0 };
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      if (error.isFinal) throw error.kind === 'timeout' && last ? last : error;
      failure = last = error;
    }
    if (born !== generation) fail('cancelled');
    const now = performance.now();
    if (now >= end) throw failure;
    const isCovered = failure.kind === 'covered' || failure.kind === 'out-of-view';
    const pause = isCovered ? COVERED_PAUSES[Math.min(covered++, COVERED_PAUSES.length - 1)] : 0;
    await pauseFor(pause, now - began, end - now);
    if (born !== generation) fail('cancelled');
  }
}

/** At least one frame; longer if asked, or if a try is so dear that it would starve the page. */
async function pauseFor(pause, cost, left) {
  const atLeast = Math.max(pause, cost > 4 ? cost * 2 : 0);
  if (atLeast > 0) await sleep(Math.min(atLeast, left));
  else await nextFrame();
}
