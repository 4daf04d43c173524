// Names: the accessible name of an element, after the accname and HTML-AAM specifications.
//
// A NameScope holds what is looked up once and used for many names: which labels a control has, and
// whether style sheets add text.
// `Trail` is the state of one computation: what was visited, and whether hidden text counts.

/** Roles whose content is their name. */
const NAMED_BY_CONTENT = new Set(
  ('button cell checkbox columnheader gridcell heading link menuitem menuitemcheckbox menuitemradio ' +
    'option radio row rowheader switch tab term tooltip treeitem').split(' '),
);

/** Roles that take a name only from ARIA attributes: their tooltip describes, it does not name. */
const TOOLTIP_IS_NO_NAME = new Set('caption code deletion emphasis insertion paragraph strong subscript superscript'.split(' '));

/** Roles whose value, not their content, stands in for them inside the name of something else. */
const RANGE_ROLES = new Set(['slider', 'spinbutton', 'scrollbar', 'progressbar', 'meter']);

/** Longer names are cut anyway: no need to read a whole page that happens to be clickable. */
const ENOUGH_TEXT = 2000;

class NameScope {
  #labels = new WeakMap();
  #generating = new WeakMap();

  /** Labels of a control. One pass per root: the `labels` property searches the whole tree each time. */
  labelsOf(control) {
    const root = control.getRootNode();
    let index = this.#labels.get(root);
    if (!index) this.#labels.set(root, (index = indexLabels(root)));
    return index.get(control) || [];
  }

  /** Whether style sheets put text before or after elements like this one. */
  mayGenerateText(element) {
    if (element.localName === 'q') return true;
    const root = element.getRootNode();
    let may = this.#generating.get(root);
    if (may === undefined) this.#generating.set(root, (may = sheetsGenerateText(root)));
    return may;
  }
}

function indexLabels(root) {
  const index = new Map();
  if (!root.querySelectorAll) return index;
  for (const label of root.querySelectorAll('label')) {
    const control = label.control;
    if (!control) continue;
    const labels = index.get(control);
    if (labels) labels.push(label);
    else index.set(control, [label]);
  }
  return index;
}

/** The name of an element whose role is known. */
function nameOf(element, role = roleOf(element), scope = new NameScope()) {
  return tidy(ownName(element, role, newTrail(element, scope)));
}

function newTrail(element, scope) {
  return { scope, visited: new Set([element]), hidden: false, referenced: false };
}

function ownName(element, role, trail) {
  if (!trail.referenced && element.hasAttribute('aria-labelledby')) {
    const text = textOfReferenced(element, trail);
    if (text) return text;
  }
  const label = element.getAttribute('aria-label');
  if (label !== null && label.trim()) return label;
  if (role === 'none' || (role === 'generic' && !isEditingHost(element))) return '';
  return nativeName(element, role, trail) || contentName(element, role, trail) || tooltip(element, role);
}

function contentName(element, role, trail) {
  if (!NAMED_BY_CONTENT.has(role) || (role === 'row' && !isGridRow(element))) return '';
  return textOfContent(element, trail);
}

/** Rows of plain tables have no name of their own, rows of grids are named by their cells. */
function isGridRow(row) {
  const table = row.closest('table, [role=table], [role=grid], [role=treegrid]');
  return table !== null && /grid$/.test(roleOf(table));
}

function tooltip(element, role) {
  if (TOOLTIP_IS_NO_NAME.has(role) || element.getAttribute('alt') === '') return '';
  return element.getAttribute('title') || (role === 'textbox' && element.getAttribute('aria-placeholder')) || '';
}

function textOfReferenced(element, trail) {
  const parts = [];
  for (const target of referencedElements(element, 'aria-labelledby', 'ariaLabelledByElements')) {
    // A hidden target is read with all its hidden content; a visible one without.
    const hidden = isUnread(target);
    const visited = new Set(trail.visited);
    visited.delete(target);
    parts.push(tidy(textOf(target, { ...trail, visited, hidden, referenced: true, refersTo: element })));
  }
  return parts.filter(Boolean).join(' ');
}

/** What HTML itself gives as a name: labels, alternative texts, captions. */
function nativeName(element, role, trail) {
  if (element.namespaceURI === SVG_NAMESPACE) return textOfFirst(element, 'title', trail);
  const rule = NATIVE_NAMES[element.localName];
  return rule ? rule(element, trail, role) : '';
}

const NATIVE_NAMES = {
  __proto__: null,
  area: (element) => element.getAttribute('alt') || '',
  button: (element, trail) => textOfLabels(element, trail),
  fieldset: (element, trail) => textOfFirst(element, 'legend', trail),
  iframe: (element) => element.getAttribute('title') || '',
  img: (element) => element.getAttribute('alt') || '',
  input: nameOfInput,
  meter: (element, trail) => textOfLabels(element, trail),
  optgroup: (element) => element.label,
  option: (element) => element.getAttribute('label') || '',
  output: (element, trail) => textOfLabels(element, trail),
  progress: (element, trail) => textOfLabels(element, trail),
  select: (element, trail) => textOfLabels(element, trail),
  table: (element, trail) => (element.caption ? textOf(element.caption, trail) : element.getAttribute('summary') || ''),
  textarea: nameOfInput,
};

function nameOfInput(input, trail) {
  const labelled = textOfLabels(input, trail);
  switch (input.type) {
    case 'button':
      return labelled || input.value;
    case 'submit':
      return labelled || (input.hasAttribute('value') ? input.value : 'Submit');
    case 'reset':
      return labelled || (input.hasAttribute('value') ? input.value : 'Reset');
    case 'image':
      return labelled || input.getAttribute('alt') || input.getAttribute('value') || input.getAttribute('title') || 'Submit';
    case 'file':
      return labelled || 'Choose File';
    case 'checkbox':
    case 'radio':
    case 'range':
    case 'color':
      return labelled;
    default:
      return labelled || input.getAttribute('title') || input.getAttribute('placeholder') || input.getAttribute('aria-placeholder') || '';
  }
}

function textOfLabels(control, trail) {
  const labels = trail.scope.labelsOf(control);
  if (labels.length === 0) return '';
  return labels.map((label) => tidy(textOf(label, trail))).filter(Boolean).join(' ');
}

function textOfFirst(element, tag, trail) {
  for (const child of element.children) if (child.localName === tag) return textOf(child, trail);
  return '';
}

/** The text that a node adds to the name of another element. */
function textOf(node, trail) {
  if (trail.visited.has(node)) return '';
  trail.visited.add(node);
  if (!trail.referenced && node.hasAttribute('aria-labelledby')) {
    const text = textOfReferenced(node, trail);
    if (text) return text;
  }
  const role = roleOf(node);
  const value = embeddedValue(node, role, trail);
  if (value !== null) return value;
  const label = node.getAttribute('aria-label');
  if (label !== null && label.trim()) return label;
  const native = nativeText(node, role, trail);
  if (native) return native;
  return textOfContent(node, trail) || node.getAttribute('title') || '';
}

/** Native alternatives inside a longer text: labels of nested fields do not count there. */
function nativeText(node, role, trail) {
  if (role === 'none') return '';
  const tag = node.localName;
  if (tag === 'input') return /^(?:button|submit|reset|image)$/.test(node.type) ? nameOfInput(node, trail) : '';
  const hasAlternative = tag === 'img' || tag === 'area' || tag === 'option' || node.namespaceURI === SVG_NAMESPACE;
  return hasAlternative ? nativeName(node, role, trail) : '';
}

/** The value of a field that sits inside a label, e.g. "Flash 3 times"; null if it is no field. */
function embeddedValue(node, role, trail) {
  if (role === 'generic' || trail.refersTo === node) return null;
  if (role === 'textbox' || role === 'searchbox') return fieldText(node);
  if (role === 'combobox' || role === 'listbox') return chosenText(node);
  if (!RANGE_ROLES.has(role)) return null;
  return node.getAttribute('aria-valuetext') || node.getAttribute('aria-valuenow') || String(node.value ?? '');
}

function fieldText(node) {
  if (node.type === 'password') return '';
  return typeof node.value === 'string' ? node.value : node.textContent;
}

function chosenText(node) {
  if (node.localName === 'select') return [...node.selectedOptions].map((option) => option.label).join(' ');
  if (typeof node.value === 'string') return node.value;
  return [...node.querySelectorAll('[role=option][aria-selected=true]')].map((option) => option.textContent).join(' ') || null;
}

/** The text of an element's rendered content, with spaces where boxes break the line. */
function textOfContent(element, trail) {
  const only = onlyText(element);
  const isGenerating = trail.scope.mayGenerateText(element);
  const before = isGenerating ? generatedText(element, '::before') : '';
  const after = isGenerating ? generatedText(element, '::after') : '';
  if (only !== null) return before + asShown(only, element) + after;
  let text = before;
  for (const child of flatChildren(element)) {
    if (child.nodeType === TEXT) text += asShown(child.data, element);
    else if (child.nodeType === ELEMENT) text += textOfChild(child, trail);
    if (text.length > ENOUGH_TEXT) return text;
  }
  for (const owned of referencedElements(element, 'aria-owns', 'ariaOwnsElements')) text += ` ${textOf(owned, trail)}`;
  return text + after;
}

/** The text of an element without child elements: the common case, made cheap. */
function onlyText(element) {
  const isPlain = element.firstElementChild === null && shadowRootOf(element) === null && element.localName !== 'slot';
  return isPlain && !element.hasAttribute('aria-owns') ? element.textContent : null;
}

function textOfChild(child, trail) {
  const tag = child.localName;
  if (UNREAD_TAGS.has(tag) || isSvgMetadata(child)) return '';
  if (tag === 'br') return ' ';
  const style = getComputedStyle(child);
  const display = style.display;
  if (!trail.hidden) {
    if (display === 'none' || child.getAttribute('aria-hidden') === 'true') return '';
    if (style.visibility !== 'visible') return textOfVisibleParts(child, trail);
  }
  // A menu that opens from an item is not part of the item's name.
  if (child.getAttribute('role') === 'menu') return '';
  const text = textOf(child, trail);
  return display === 'inline' || display === 'contents' ? text : ` ${text} `;
}

/** A hidden element says nothing itself, but its children may be visible again. */
function textOfVisibleParts(element, trail) {
  let text = '';
  for (const child of flatChildren(element)) if (child.nodeType === ELEMENT) text += textOfChild(child, trail);
  return text;
}

/** Whether a referenced element is hidden from readers, itself or through an ancestor. */
function isUnread(element) {
  if (!element.checkVisibility({ visibilityProperty: true })) return getComputedStyle(element).display !== 'contents';
  return flatClosest(element, (at) => at.getAttribute('aria-hidden') === 'true') !== null;
}

// Generated text: what style sheets write before and after elements is part of their names. Asking for
// the style of two pseudo-elements costs more than the rest of a name together, so first the style
// sheets are asked whether they generate any readable text at all.

/** More rules than this are not worth reading: then every element is asked. */
const READABLE_RULES = 3000;

/** Whether the style sheets of a document or shadow root may generate text. */
function sheetsGenerateText(root) {
  const budget = { left: READABLE_RULES };
  const sheets = [...(root.styleSheets || []), ...(root.adoptedStyleSheets || [])];
  return sheets.some((sheet) => rulesGenerateText(sheet, budget));
}

function rulesGenerateText(group, budget) {
  for (const rule of readableRules(group)) {
    if (--budget.left < 0 || rule === null) return true;
    if (/:(?:before|after)\b/.test(rule.selectorText || '') && saysSomething(rule.style.content)) return true;
    if (rule.styleSheet && rulesGenerateText(rule.styleSheet, budget)) return true;
    if (rule.cssRules?.length && rulesGenerateText(rule, budget)) return true;
  }
  return false;
}

/** The rules of a sheet or group; [null] for a sheet of another origin, which may not be read. */
function readableRules(group) {
  try {
    return group.cssRules;
  } catch {
    return [null];
  }
}

/** Whether a declared `content` comes to readable text: not empty, and not the glyph of an icon font. */
function saysSomething(content) {
  if (!content || content === 'none' || content === 'normal') return false;
  return /\b(?:attr|counters?|var|open-quote|close-quote)\b/.test(content) || tidy(readCssStrings(content)) !== '';
}

/** The text that CSS puts before or after the content. */
function generatedText(element, pseudo) {
  const content = getComputedStyle(element, pseudo).content;
  if (content === 'none' || content === 'normal' || content === '') return '';
  const text = readCssStrings(content);
  const isPartOfLine = getComputedStyle(element, pseudo).display === 'inline' && !content.includes(' / ');
  return isPartOfLine ? text : ` ${text} `;
}

/** The strings of a computed `content`, or its alternative text after a slash. */
function readCssStrings(content) {
  let text = '';
  for (const [token] of content.matchAll(/"(?:[^"\\]|\\.)*"|url\([^)]*\)|\b(?:open|close)-quote\b|\//g)) {
    if (token === '/') text = '';
    else if (token === 'open-quote') text += '“';
    else if (token === 'close-quote') text += '”';
    else if (token.startsWith('"')) text += token.slice(1, -1).replace(/\\(.)/g, '$1');
  }
  return text;
}
