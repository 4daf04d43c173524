// CSS selectors that pierce open shadow roots.
//
// Within one root the browser does the work. A selector like `x-card button` may also cross from a
// host into its shadow root; for those the selector is split into compounds, and the descendant and
// child combinators step from shadow content to its host.

/** All matches in document order; a `bad-selector` failure if the browser refuses the selector. */
function queryCss(selector) {
  const inDocument = queryNatively(document, selector);
  const roots = openRoots();
  if (roots.length === 1) return inDocument;
  const found = new Set(inDocument);
  for (const root of roots.slice(1)) for (const element of queryNatively(root, selector)) found.add(element);
  for (const steps of splitSelector(selector)) {
    if (steps.length > 1) addCrossing(found, roots, steps);
  }
  return inDocumentOrder(found);
}

function queryNatively(root, selector) {
  try {
    return [...allIn(root, selector)];
  } catch (error) {
    return fail('bad-selector', { reason: error.message });
  }
}

/** Adds matches whose chain of compounds crosses a shadow boundary. */
function addCrossing(found, roots, steps) {
  const last = steps[steps.length - 1].compound;
  for (const root of roots.slice(1)) {
    for (const element of queryCompound(root, last)) {
      if (matchesUpwards(element, steps, steps.length - 1)) found.add(element);
    }
  }
}

/** A compound may be valid only in its context (`:scope`, `:host`): then nothing crosses through it. */
function queryCompound(root, compound) {
  try {
    return allIn(root, compound);
  } catch {
    return [];
  }
}

function matchesCompound(element, compound) {
  try {
    return matchesSelector(element, compound);
  } catch {
    return false;
  }
}

/** Whether the steps before `index` hold for the surroundings of an element that matched `index`. */
function matchesUpwards(element, steps, index) {
  if (index === 0) return true;
  const previous = steps[index - 1].compound;
  const holds = (at) => matchesCompound(at, previous) && matchesUpwards(at, steps, index - 1);
  switch (steps[index].combinator) {
    case '>': {
      const parent = parentOrHost(element);
      return parent !== null && holds(parent);
    }
    case '+':
      return previousElementOf(element) !== null && holds(previousElementOf(element));
    case '~':
      for (let at = previousElementOf(element); at; at = previousElementOf(at)) if (holds(at)) return true;
      return false;
    default:
      for (let at = parentOrHost(element); at; at = parentOrHost(at)) if (holds(at)) return true;
      return false;
  }
}

/**
 * Splits a valid selector list into lists of {combinator, compound}.
 * Only nesting, strings and escapes matter here: validity is the browser's business.
 */
function splitSelector(selector) {
  const lists = [];
  let steps = [];
  let combinator = ' ';
  let compound = '';
  const endCompound = () => {
    if (compound) steps.push({ combinator, compound });
    if (compound) combinator = ' ';
    compound = '';
  };
  const endList = () => {
    endCompound();
    lists.push(steps);
    steps = [];
  };
  for (let at = 0; at < selector.length; ) {
    const token = tokenAt(selector, at);
    at += token.length;
    if (token === ',') endList();
    else if (/^[\s>+~]$/.test(token)) {
      endCompound();
      if (token.trim()) combinator = token;
    } else compound += token;
  }
  endList();
  return lists;
}

/** One character, or a whole escape, string, bracket or parenthesis with all that is inside. */
function tokenAt(selector, start) {
  const first = selector[start];
  if (first === '\\') return selector.slice(start, start + 2);
  if (first === '"' || first === "'") return selector.slice(start, endOfString(selector, start));
  if (first !== '(' && first !== '[') return first;
  let depth = 0;
  for (let at = start; at < selector.length; at++) {
    const char = selector[at];
    if (char === '\\') at++;
    else if (char === '"' || char === "'") at = endOfString(selector, at) - 1;
    else if (char === '(' || char === '[') depth++;
    else if ((char === ')' || char === ']') && --depth === 0) return selector.slice(start, at + 1);
  }
  return selector.slice(start);
}

function endOfString(selector, start) {
  for (let at = start + 1; at < selector.length; at++) {
    if (selector[at] === '\\') at++;
    else if (selector[at] === selector[start]) return at + 1;
  }
  return selector.length;
}
