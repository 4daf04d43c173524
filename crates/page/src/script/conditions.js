// Waiting for the page: until elements come or go, or until a text is shown.

/** How much of the page's text a failed wait quotes. */
const QUOTED_TEXT = 200;

async function waitFor({ cond, timeout }) {
  try {
    const { result } = await keepTrying(timeout, () => (cond.selector ? elementsAre(cond) : textIsShown(cond.text)));
    return result;
  } catch (error) {
    if (error instanceof Failure && error.kind === 'unmet') fail('timeout', { seen: error.facts.describe() });
    throw error;
  }
}

/** `stale` means gone for good, which is what a wait for absence asks for. */
function elementsAre({ selector, state: wanted = 'visible' }) {
  const wantsAbsence = wanted === 'hidden' || wanted === 'detached';
  let found;
  try {
    found = locateAll(selector);
  } catch (error) {
    if (wantsAbsence && error instanceof Failure && error.kind === 'stale') return { ok: true };
    throw error;
  }
  const seen = wanted === 'visible' || wanted === 'hidden' ? found.filter(isVisible) : found;
  if (wantsAbsence ? seen.length === 0 : seen.length > 0) return seen.length ? { ok: true, id: idOf(seen[0]) } : { ok: true };
  // Described only when the time is over: a wait polls often.
  return fail('unmet', { describe: () => describeInstead(found) });
}

function describeInstead(found) {
  if (found.length === 0) return ['no element matches', quotePage()].filter(Boolean).join('; ');
  const why = invisibleBecause(found[0]);
  const others = found.length > 1 ? ` and ${found.length - 1} more` : '';
  return `${previewOf(found[0])}${others}: ${why ? `not visible, ${why}` : 'visible'}`;
}

/** Case does not matter here, as in `text=` locators: style sheets change it freely. */
function textIsShown(text) {
  const wanted = tidy(text).toLowerCase();
  if (wanted === '' || (mayContain(wanted) && TextMap.ofDocument().text.toLowerCase().includes(wanted))) return { ok: true };
  return fail('unmet', { describe: quotePage });
}

function shownText() {
  return TextMap.ofDocument().text;
}

/** Nothing where there is nothing to read: then another frame may have the word. */
function quotePage() {
  const quote = cutAt(TextMap.ofDocument(QUOTED_TEXT + 1).text.trim(), QUOTED_TEXT);
  return quote ? `the page shows: ${quote}` : '';
}
