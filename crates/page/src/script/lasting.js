// Selectors that mean an element after its number is gone: for recordings.

/** Roles that say nothing about what an element is. */
const PLAIN_ROLES = new Set(['generic', 'none', 'presentation', 'text', '']);

/** A longer text is too much to tell an element by. */
const LONGEST_TEXT = 80;

/** The ways to name an element, the best first: each with its place among all that it means here, just now. */
function lasting({ id }) {
  const element = elementOf(id);
  const ways = [];
  for (const { selector, locator, isPlace = false } of waysTo(element)) {
    const found = locateAll(locator);
    const place = found.indexOf(element);
    if (place >= 0) ways.push({ selector, place, count: found.length, isPlace });
  }
  return { ways, afterSnapshot: hasAdoptedRoots };
}

/** As it is written, and as `locateAll` takes it. */
function* waysTo(element) {
  const role = roleOf(element);
  const name = nameOf(element, role);
  const isPlain = PLAIN_ROLES.has(role);
  if (name && !isPlain) yield { selector: `role=${role}[name="${name}"]`, locator: { by: 'role', role, name, exact: true } };
  const text = isPlain ? tidy(renderedText(element) || '') : '';
  if (text && text.length <= LONGEST_TEXT) yield { selector: `text="${text}"`, locator: { by: 'text', value: text, exact: true } };
  const anchor = anchorSelector(element);
  if (anchor) yield { selector: `css=${anchor}`, locator: { by: 'css', value: anchor } };
  if (!name && !isPlain) yield { selector: `role=${role}`, locator: { by: 'role', role, exact: false } };
  const path = selectorFor(element);
  if (path !== anchor) yield { selector: `css=${path}`, locator: { by: 'css', value: path }, isPlace: true };
}
