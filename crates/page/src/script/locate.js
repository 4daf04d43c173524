// Locators: from the JSON description of a target to the elements it means.

const LOCATORS = {
  __proto__: null,
  id: (locator) => [elementOf(locator.id)],
  css: (locator) => queryCss(locator.value),
  xpath: (locator, scopes) => queryXpath(locator.value, scopes),
  text: (locator) => queryText(locator.value, locator.exact),
  role: (locator) => queryRole(locator),
  label: (locator) => queryLabel(locator),
  query: (locator) => queryActionable(locator),
  field: (locator) => queryField(locator),
  placeholder: (locator) => queryAttribute('placeholder', locator),
  alt: (locator) => queryAttribute('alt', locator),
  title: (locator) => queryAttribute('title', locator),
  testid: (locator) => queryCss(`[${TEST_ID}=${JSON.stringify(locator.value)}]`),
};

/** How many matches an `ambiguous` failure lists. */
const LISTED_MATCHES = 10;

/** All matches of a locator, in document order. */
function locateAll(locator) {
  const query = LOCATORS[locator.by];
  if (!query) fail('bad-selector', { reason: `there is no locator by ${JSON.stringify(locator.by)}` });
  const scopes = locator.within ? locateAll(locator.within) : null;
  let found = query(locator, scopes);
  if (scopes) found = found.filter((element) => scopes.some((scope) => scope !== element && flatOrTreeContains(scope, element)));
  return narrowed(found, locator.nth);
}

/** Why each of these cannot be looked for in any document; null for one that can. */
function checkLocators({ locators }) {
  return locators.map((locator) => {
    try {
      locateAll(locator);
      return null;
    } catch (error) {
      if (error instanceof Failure) return error.kind === 'bad-selector' ? error.facts.reason : null;
      throw error;
    }
  });
}

function narrowed(found, nth) {
  if (nth === undefined || nth === null) return found;
  const index = nth < 0 ? found.length + nth : nth;
  return index in found ? [found[index]] : [];
}

/** Slotted content is inside its host for a reader of the markup, and inside the slot when rendered. */
function flatOrTreeContains(scope, element) {
  for (let at = element; at; at = parentOrHost(at)) if (at === scope) return true;
  return flatContains(scope, element);
}

/** The only match; `not-found` or `ambiguous` otherwise. Whoever asked waits for a match: it may come in another frame. */
function locateOne(locator) {
  const found = locateAll(locator);
  if (found.length === 0) fail('not-found', { isFinal: true });
  if (found.length > 1) fail('ambiguous', { count: found.length, matches: describeMatches(found) });
  return found[0];
}

function describeMatches(found) {
  return found.slice(0, LISTED_MATCHES).map((element) => ({ id: idOf(element), preview: previewOf(element), selector: selectorFor(element) }));
}

/** For reading: the first visible match, else the first. */
function locateToRead(locator) {
  const found = locateAll(locator);
  if (found.length === 0) fail('not-found');
  return { element: found.find(isVisible) || found[0], count: found.length };
}

function queryXpath(expression, scopes) {
  const found = new Set();
  for (const scope of scopes || [document]) {
    for (const node of evaluateXpath(expression, scope)) {
      const element = nodeTypeOf(node) === ELEMENT ? node : nodeTypeOf(node) === TEXT ? parentElementOf(node) : null;
      if (!element) fail('bad-selector', { reason: 'the XPath expression does not give elements' });
      found.add(element);
    }
  }
  return scopes ? inDocumentOrder(found) : [...found];
}

function evaluateXpath(expression, scope) {
  try {
    const result = document.evaluate(expression, scope, null, XPathResult.ORDERED_NODE_SNAPSHOT_TYPE);
    return Array.from({ length: result.snapshotLength }, (_, index) => result.snapshotItem(index));
  } catch (error) {
    return fail('bad-selector', { reason: error.message });
  }
}

function queryRole({ role, name, exact }) {
  if (!/^[a-z-]+$/i.test(role)) fail('bad-selector', { reason: 'it is written role=button or role=button[name=Save]' });
  const wanted = ROLE_SYNONYMS[role.toLowerCase()] || role.toLowerCase();
  const scope = new NameScope();
  const modal = modalDialog();
  return queryOpenRoots('*').filter((element) => {
    stopWhenOverdue();
    return (
      roleOf(element) === wanted &&
      (name === undefined || name === null || textMatches(nameOf(element, wanted, scope), name, exact)) &&
      isExposed(element, modal)
    );
  });
}

/** Whether assistive technology, and so a reader of the snapshot, meets the element at all. */
function isExposed(element, modal) {
  const stand = visibleStandIn(element);
  if (!stand) return false;
  const style = getComputedStyle(stand);
  if (style.visibility !== 'visible' || (style.display !== 'contents' && !isRendered(stand))) return false;
  if (modal && !flatContains(modal, stand)) return false;
  return !flatClosest(stand, (at) => attributeOf(at, 'aria-hidden') === 'true' || isInert(at));
}

function queryLabel({ value, exact }) {
  const scope = new NameScope();
  const candidates = queryOpenRoots('input, textarea, select, button, meter, output, progress, [aria-label], [aria-labelledby], [contenteditable]');
  return candidates.filter((element) => element.type !== 'hidden' && labelTexts(element, scope).some((text) => textMatches(text, value, exact)));
}

/** Every text that labels an element: its labels, and what ARIA says. */
function labelTexts(element, scope) {
  const texts = scope.labelsOf(element).map((label) => textOf(label, newTrail(element, scope)));
  texts.push(attributeOf(element, 'aria-label') || '');
  if (hasAttribute(element, 'aria-labelledby')) texts.push(textOfReferenced(element, newTrail(element, scope)));
  return texts.map(tidy).filter(Boolean);
}

function queryAttribute(attribute, { value, exact }) {
  return queryOpenRoots(`[${attribute}]`).filter((element) => textMatches(tidy(attributeOf(element, attribute)), value, exact));
}

function textMatches(text, wanted, exact) {
  const normal = tidy(wanted);
  return exact ? text === normal : text.toLowerCase().includes(normal.toLowerCase());
}
