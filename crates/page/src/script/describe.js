// Descriptions of elements for error messages: a short preview and a selector that is unique.

const PREVIEW_LENGTH = 100;
const PREVIEW_ATTRIBUTES = ['id', 'class', 'type', 'name', 'role', 'aria-label', 'placeholder', 'href', 'alt', 'title', 'data-testid'];
const VOID_TAGS = new Set(['area', 'br', 'embed', 'hr', 'img', 'input', 'link', 'meta', 'source', 'track', 'wbr']);
const TEST_ID = 'data-testid';

/** E.g. `<button id="pay" class="x">Pay</button>`. Form values are left out, so no secret can slip in. */
function previewOf(element) {
  const tag = localNameOf(element);
  const open = `<${tag}${previewAttributes(element)}>`;
  if (VOID_TAGS.has(tag)) return open;
  const close = `</${tag}>`;
  const room = Math.max(8, PREVIEW_LENGTH - open.length - close.length);
  return open + previewText(element, room) + close;
}

function previewAttributes(element) {
  let out = '';
  for (const name of PREVIEW_ATTRIBUTES) {
    const value = attributeOf(element, name);
    if (value === null || out.length > PREVIEW_LENGTH / 2) continue;
    out += ` ${name}="${cutAt(tidy(value), 40)}"`;
  }
  return out;
}

function previewText(element, room) {
  if (isHtml(element, 'textarea')) return '';
  // Reading the text of a whole page to show 80 characters of it would be slow: stop early.
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  let text = '';
  while (text.length <= room * 2 && walker.nextNode()) {
    if (!UNREAD_TAGS.has(localNameOf(parentNodeOf(walker.currentNode)))) text += walker.currentNode.data;
    text = text.trimStart();
  }
  return cutAt(tidy(text.slice(0, room * 4)), room);
}

/** A CSS selector (piercing shadow roots as locate.js does) that matches only this element. */
function selectorFor(element) {
  const path = [];
  for (let at = element; at; at = parentOrHost(at)) {
    const anchor = anchorSelector(at);
    path.unshift(anchor || stepSelector(at));
    if (anchor) break;
  }
  return path.join(' > ');
}

/** A selector of one element that is unique by itself, or null. */
function anchorSelector(element) {
  const id = attributeOf(element, 'id');
  if (id) {
    const selector = `#${CSS.escape(id)}`;
    if (isUnique(selector)) return selector;
  }
  const testId = attributeOf(element, TEST_ID);
  if (testId) {
    const selector = `[${TEST_ID}=${JSON.stringify(testId)}]`;
    if (isUnique(selector)) return selector;
  }
  return null;
}

function isUnique(selector) {
  try {
    return queryOpenRoots(selector).length === 1;
  } catch {
    return false;
  }
}

function stepSelector(element) {
  const name = CSS.escape(localNameOf(element));
  let before = 0;
  let after = 0;
  for (let at = previousElementOf(element); at; at = previousElementOf(at)) if (localNameOf(at) === localNameOf(element)) before++;
  for (let at = nextElementOf(element); at; at = nextElementOf(at)) if (localNameOf(at) === localNameOf(element)) after++;
  return before + after ? `${name}:nth-of-type(${before + 1})` : name;
}
