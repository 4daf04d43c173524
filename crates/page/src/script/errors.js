// Failures: how a function of this script says that it could not do what was asked.
//
// Everything below the API throws a Failure; only api.js turns it into {error: {kind, ...facts}}.

/** Kinds that more waiting cannot mend: a waiting loop gives up on them at once. */
const FINAL_KINDS = new Set(['ambiguous', 'bad-selector', 'stale', 'wrong-type', 'bad-value', 'bad-setting', 'out-of-element', 'cancelled']);

/** Deliberately not an Error: waits throw one per attempt, and capturing a stack each time is waste. */
class Failure {
  constructor(kind, facts = {}) {
    this.kind = kind;
    this.facts = facts;
  }

  get isFinal() {
    return FINAL_KINDS.has(this.kind) || this.facts.isFinal === true;
  }

  toJSON() {
    return { error: { kind: this.kind, ...this.facts } };
  }
}

function fail(kind, facts) {
  throw new Failure(kind, facts);
}

/** A failure about one element: the reader always learns which one. */
function failAbout(element, kind, facts = {}) {
  throw new Failure(kind, { ...facts, preview: previewOf(element) });
}

/** Runs an API function and turns its failure, thrown or rejected, into a plain answer. */
function answering(run) {
  return (...args) => {
    try {
      const result = withEnd(performance.now() + LONGEST_CALL, () => run(...args));
      return result instanceof Promise ? result.catch(answerOfError) : result;
    } catch (error) {
      return answerOfError(error);
    }
  };
}

function answerOfError(error) {
  if (error instanceof Failure) return error.toJSON();
  // A defect of ours, not of the page: hand the stack over so that it can be reported.
  return { error: { kind: 'internal', reason: String((error && error.stack) || error) } };
}
