// The content of the document as Markdown: what a reader came for, without what stands around it.

/** What every page of a site repeats; left out unless it is all that there is. */
const AROUND_CONTENT = new Set(['nav', 'aside', 'footer', 'header']);
const AROUND_ROLES = new Set(['navigation', 'banner', 'contentinfo', 'complementary', 'search']);

/** What is operated rather than read. */
const CONTROLS = new Set(['button', 'input', 'select', 'textarea', 'datalist', 'dialog']);

const HEADING = /^h([1-6])$/;

/** Elements that begin a line of their own although no style says so. */
const BLOCKS = new Set(['p', 'div', 'section', 'article', 'main', 'header', 'footer', 'aside', 'nav', 'figure', 'figcaption', 'address', 'dl', 'dt', 'dd', 'fieldset', 'form', 'details', 'summary', 'body', 'hgroup']);

function markdown() {
  const root = contentRoot();
  const text = blocksOf(root, root !== document.body);
  // A page that consists of what usually stands around a page is read as a whole.
  return text === '' ? blocksOf(document.body, true) : text;
}

/** The one element that says that it is the content, else the whole body. */
function contentRoot() {
  for (const selector of ['main, [role="main"]', 'article']) {
    const found = [...allIn(document, selector)].filter((element) => isRendered(element));
    if (found.length === 1) return found[0];
  }
  return document.body ?? document.documentElement;
}

function blocksOf(root, everything) {
  const out = new Lines();
  writeChildren(root, out, { everything });
  return out.text();
}

/** Blocks of text: one that is open takes inline content until it is ended. */
class Lines {
  blocks = [];
  open = '';

  add(inline) {
    this.open += inline;
  }

  /** Ends the open block. */
  end() {
    const text = collapse(this.open);
    this.open = '';
    if (text !== '') this.blocks.push(text);
  }

  block(text) {
    this.end();
    if (text !== '') this.blocks.push(text);
  }

  text() {
    this.end();
    return this.blocks.join('\n\n');
  }
}

/** White space as a reader sees it; breaks that were meant stay. */
function collapse(text) {
  return text.replace(UNPRINTABLE, '').replace(/[^\S\n]*\n[^\S\n]*/g, '\n').replace(/[^\S\n]+/g, ' ').replace(/\n{3,}/g, '\n\n').trim();
}

function writeChildren(element, out, context) {
  for (const child of flatChildren(element)) {
    if (child.nodeType === TEXT) out.add(escaped(child.data.replace(/\s+/g, ' ')));
    else if (child.nodeType === ELEMENT && isRead(child, context)) writeElement(child, out, context);
  }
}

function isRead(element, { everything }) {
  const name = localNameOf(element);
  if (UNREAD_TAGS.has(name) || CONTROLS.has(name) || namespaceOf(element) === SVG_NAMESPACE) return false;
  if (attributeOf(element, 'aria-hidden') === 'true' || !isRendered(element, WITH_VISIBILITY)) return false;
  if (everything) return true;
  return !AROUND_CONTENT.has(name) && !AROUND_ROLES.has(attributeOf(element, 'role'));
}

function writeElement(element, out, context) {
  const name = localNameOf(element);
  const heading = HEADING.exec(name);
  if (heading) return out.block(prefixed(`${'#'.repeat(Number(heading[1]))} `, inlineOf(element, context)));
  switch (name) {
    case 'br': return out.add('\n');
    case 'hr': return out.block('---');
    case 'ul': case 'ol': return out.block(listOf(element, context));
    case 'pre': return out.block(fenced(element.innerText));
    case 'blockquote': return out.block(quoted(element, context));
    case 'table': return out.block(tableOf(element, context));
    case 'img': return out.add(imageOf(element));
    case 'iframe': case 'frame': case 'object': case 'embed': case 'canvas': case 'video': case 'audio': return undefined;
    default: return BLOCKS.has(name) || isBlock(element) ? writeBlock(element, out, context) : out.add(inlineElement(element, context));
  }
}

function isBlock(element) {
  return !/^(?:inline|contents|none|ruby)/.test(getComputedStyle(element).display);
}

function writeBlock(element, out, context) {
  out.end();
  writeChildren(element, out, context);
  out.end();
}

/** Everything in an element, in one line. */
function inlineOf(element, context) {
  const out = new Lines();
  writeChildren(element, out, context);
  out.end();
  return out.blocks.join(' ').replace(/\n+/g, ' ').trim();
}

function inlineElement(element, context) {
  const name = localNameOf(element);
  if (name === 'code' || name === 'kbd' || name === 'samp') return coded(element.textContent);
  const out = new Lines();
  writeChildren(element, out, context);
  const inner = [...out.blocks, out.open].join('\n\n');
  if (inner.trim() === '') return inner;
  if (name === 'a') return linked(element, inner);
  if (name === 'strong' || name === 'b') return marked('**', inner);
  if (name === 'em' || name === 'i') return marked('*', inner);
  if (name === 'del' || name === 's') return marked('~~', inner);
  return inner;
}

/** Marks stand at the words, not at the blanks around them. */
function marked(mark, text) {
  const [, before, words, after] = /^(\s*)([\s\S]*?)(\s*)$/.exec(text);
  return `${before}${mark}${words}${mark}${after}`;
}

function linked(anchor, inner) {
  const href = anchor.href;
  if (typeof href !== 'string' || !/^(?:https?|mailto|tel):/.test(href)) return inner;
  const [, before, words, after] = /^(\s*)([\s\S]*?)(\s*)$/.exec(inner.replace(/\n+/g, ' '));
  return `${before}[${words}](${href.replace(/[()\s]/g, encodeURIComponent)})${after}`;
}

function imageOf(image) {
  const alt = tidy(image.alt ?? '');
  return alt === '' || !/^https?:/.test(image.src) ? escaped(alt) : `![${escaped(alt)}](${image.src.replace(/[()\s]/g, encodeURIComponent)})`;
}

function coded(text) {
  const words = tidy(text);
  if (words === '') return '';
  const fence = words.includes('`') ? '``' : '`';
  return words.includes('`') ? `${fence} ${words} ${fence}` : fence + words + fence;
}

function fenced(text) {
  const fence = '`'.repeat(Math.max(3, ...[...text.matchAll(/`+/g)].map((run) => run[0].length + 1)));
  return `${fence}\n${text.replace(/\s+$/, '')}\n${fence}`;
}

function quoted(element, context) {
  const out = new Lines();
  writeChildren(element, out, context);
  return out.text().split('\n').map((line) => `> ${line}`.trimEnd()).join('\n');
}

function listOf(list, context) {
  const isOrdered = localNameOf(list) === 'ol';
  let number = isOrdered ? list.start : 0;
  const items = [];
  for (const item of flatChildren(list)) {
    if (item.nodeType !== ELEMENT || !isRead(item, context)) continue;
    const mark = isOrdered ? `${number++}. ` : '- ';
    const out = new Lines();
    writeChildren(item, out, context);
    out.end();
    if (out.blocks.length === 0) continue;
    const indent = ' '.repeat(mark.length);
    items.push(mark + out.blocks.join('\n').split('\n').join(`\n${indent}`));
  }
  return items.join('\n');
}

function tableOf(table, context) {
  const rows = [...table.rows].filter((row) => isRead(row, context)).map((row) => [...row.cells].map((cell) => cellOf(cell, context)));
  const width = Math.max(0, ...rows.map((row) => row.length));
  // One column is a page that is laid out with a table.
  if (width < 2) return rows.flat().filter((text) => text !== '').join('\n\n');
  const line = (row) => `| ${Array.from({ length: width }, (_, column) => row[column] ?? '').join(' | ')} |`;
  const caption = table.caption ? `${inlineOf(table.caption, context)}\n\n` : '';
  const [head, ...body] = rows;
  return caption + [line(head), `|${' --- |'.repeat(width)}`, ...body.map(line)].join('\n');
}

function cellOf(cell, context) {
  return inlineOf(cell, context).replace(/\|/g, '\\|');
}

function prefixed(prefix, text) {
  return text === '' ? '' : prefix + text;
}

/** Text that would be read as a mark. */
function escaped(text) {
  return text.replace(/[\\`*_[\]<>]/g, '\\$&');
}
