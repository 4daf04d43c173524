// Rendered text: what a reader sees on the page, as one string that knows where each piece is from.
//
// One walk builds the whole string; a search in it gives positions, and a position gives the
// smallest element around it. That is linear, where asking every element for its text is not.

/** Elements whose label is their value. */
const VALUE_LABELLED = new Set(['button', 'submit', 'reset']);

/** Displays that continue the line: everything else separates words. */
const INLINE_DISPLAYS = new Set(['inline', 'contents', 'ruby', 'ruby-text']);

class TextMap {
  /** The whole text, once the walk is done. */
  text = '';
  // Joined at the end: asking for the last character of a string that grows copies it each time.
  #parts = [];
  #length = 0;
  #endsInSpace = true;
  #starts = [];
  #owners = [];
  #ranges = new Map();

  #most;

  constructor(most) {
    this.#most = most;
  }

  /** The text of the document, or of as much of it as gives `most` characters. */
  static ofDocument(most = Infinity) {
    const map = new TextMap(most);
    const root = document.body || document.documentElement;
    if (root) map.#addElement(root);
    map.text = map.#parts.join('');
    map.#parts = [];
    return map;
  }

  /** The normalised text of an element that the walk met. */
  textIn(element) {
    const range = this.#ranges.get(element);
    return range ? this.text.slice(range[0], range[1]).trim() : '';
  }

  /** The smallest element that holds the text from `start` to `end`. */
  elementAround(start, end) {
    const first = this.#ownerAt(start);
    const last = this.#ownerAt(end - 1);
    return flatClosest(first, (at) => flatContains(at, last));
  }

  #ownerAt(position) {
    let low = 0;
    let high = this.#starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.#starts[middle] <= position) low = middle;
      else high = middle - 1;
    }
    return this.#owners[low];
  }

  #addElement(element) {
    if (this.#length > this.#most) return;
    stopWhenOverdue();
    const tag = localNameOf(element);
    if (UNREAD_TAGS.has(tag) || FALLBACK_TAGS.has(tag) || isSvgMetadata(element)) return;
    const style = getComputedStyle(element);
    const display = style.display;
    if (display === 'none' || (display !== 'contents' && !isRendered(element))) return;
    const isInline = INLINE_DISPLAYS.has(display);
    if (!isInline || tag === 'br') this.#addSpace(element);
    const start = this.#length;
    this.#addContent(element, style);
    this.#ranges.set(element, [start, this.#length]);
    if (!isInline) this.#addSpace(element);
  }

  #addContent(element, style) {
    const isVisible = style.visibility === 'visible';
    if (isHtml(element, 'input')) {
      if (isVisible && VALUE_LABELLED.has(element.type)) this.#addText(nameOfButtonInput(element), element);
    } else if (isHtml(element, 'select')) {
      if (element.multiple || element.size > 1) for (const option of element.options) this.#addElement(option);
    } else if (!isHtml(element, 'textarea')) {
      const only = isHtml(element, 'details') ? null : onlyText(element);
      if (only !== null) {
        if (isVisible && only !== '') this.#addText(inCase(only, style), element);
        return;
      }
      for (const child of flatChildren(element)) {
        if (nodeTypeOf(child) === ELEMENT) this.#addElement(child);
        else if (nodeTypeOf(child) === TEXT && isVisible) this.#addText(inCase(child.data, style), element);
      }
    }
  }

  #addText(raw, owner) {
    let text = raw.replace(/\s+/g, ' ');
    if (this.#endsInSpace && text.startsWith(' ')) text = text.slice(1);
    if (text === '') return;
    this.#starts.push(this.#length);
    this.#owners.push(owner);
    this.#parts.push(text);
    this.#length += text.length;
    this.#endsInSpace = text.endsWith(' ');
  }

  #addSpace(owner) {
    this.#addText(' ', owner);
  }
}

/** What a button-like input shows; the browser has a word of its own for those without a value. */
function nameOfButtonInput(input) {
  if (input.value || hasAttribute(input, 'value')) return input.value;
  return input.type === 'submit' ? 'Submit' : input.type === 'reset' ? 'Reset' : '';
}

/** The smallest elements whose rendered text contains the value, or is the value if `exact`. */
function queryText(value, exact) {
  const wanted = tidy(value);
  if (!wanted || !mayContain(wanted)) return [];
  const map = TextMap.ofDocument();
  const found = new Set();
  for (const [start, end] of occurrences(map.text, wanted, exact)) {
    stopWhenOverdue();
    const element = map.elementAround(start, end);
    if (element && (!exact || map.textIn(element) === wanted)) found.add(element);
  }
  return inDocumentOrder(withoutAncestors(found));
}

function occurrences(text, wanted, exact) {
  const pattern = wanted.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
  return [...text.matchAll(new RegExp(pattern, exact ? 'gu' : 'giu'))].map((match) => [match.index, match.index + match[0].length]);
}

/** A cheap test that spares the walk: without shadow roots and buttons, textContent has all the words. */
function mayContain(wanted) {
  const word = wanted.split(' ').reduce((best, next) => (next.length > best.length ? next : best)).toLowerCase();
  if (textContentOf(document.documentElement).toLowerCase().includes(word)) return true;
  return firstIn(document, 'input') !== null || openRoots().length > 1;
}

/** Drops elements that contain another one of the set. */
function withoutAncestors(found) {
  const smallest = new Set(found);
  for (const element of found) {
    stopWhenOverdue();
    for (let at = flatParent(element); at; at = flatParent(at)) smallest.delete(at);
  }
  return smallest;
}
