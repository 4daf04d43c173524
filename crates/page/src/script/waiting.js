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

function sleep(ms) {
  return new Promise((done) => setTimeout(done, ms));
}

/** Resolves in the next animation frame, or a little later if no frame comes. */
function nextFrame() {
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

/**
 * Calls `attempt(tries)` until it does not fail, and resolves to {result, waited}.
 * A final failure ends it at once; otherwise the last failure stands when the time is over.
 */
async function keepTrying(timeout, attempt) {
  const born = generation;
  const end = performance.now() + (timeout || 0);
  let covered = 0;
  for (let tries = 0; ; tries++) {
    const began = performance.now();
    let failure;
    try {
      return { result: await attempt(covered), waited: tries > 0 };
    } catch (error) {
      if (!(error instanceof Failure) || error.isFinal) throw error;
      failure = error;
    }
    if (born !== generation) fail('cancelled');
    const now = performance.now();
    if (now >= end) throw failure;
    const isCovered = failure.kind === 'covered';
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
