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
    const root = rootNodeOf(control);
    let index = this.#labels.get(root);
    if (!index) this.#labels.set(root, (index = indexLabels(root)));
    return index.get(control) || [];
  }

  /** Whether style sheets put text before or after elements like this one. */
  mayGenerateText(element) {
    if (localNameOf(element) === 'q') return true;
    const root = rootNodeOf(element);
    let may = this.#generating.get(root);
    if (may === undefined) this.#generating.set(root, (may = sheetsGenerateText(root)));
    return may;
  }
}

function indexLabels(root) {
  const index = new Map();
  if (!root.querySelectorAll) return index;
  for (const label of allIn(root, 'label')) {
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
  if (!trail.referenced && hasAttribute(element, 'aria-labelledby')) {
    const text = textOfReferenced(element, trail);
    if (text) return text;
  }
  const label = attributeOf(element, 'aria-label');
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
  const table = closestOf(row, 'table, [role=table], [role=grid], [role=treegrid]');
  return table !== null && /grid$/.test(roleOf(table));
}

function tooltip(element, role) {
  if (TOOLTIP_IS_NO_NAME.has(role) || attributeOf(element, 'alt') === '') return '';
  return attributeOf(element, 'title') || (role === 'textbox' && attributeOf(element, 'aria-placeholder')) || '';
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
  if (namespaceOf(element) === SVG_NAMESPACE) return textOfFirst(element, 'title', trail);
  const rule = NATIVE_NAMES[localNameOf(element)];
  return rule ? rule(element, trail, role) : '';
}

const NATIVE_NAMES = {
  __proto__: null,
  area: (element) => attributeOf(element, 'alt') || '',
  button: (element, trail) => textOfLabels(element, trail),
  fieldset: (element, trail) => textOfFirst(element, 'legend', trail),
  iframe: (element) => attributeOf(element, 'title') || '',
  img: (element) => attributeOf(element, 'alt') || '',
  input: nameOfInput,
  meter: (element, trail) => textOfLabels(element, trail),
  optgroup: (element) => element.label,
  option: (element) => attributeOf(element, 'label') || '',
  output: (element, trail) => textOfLabels(element, trail),
  progress: (element, trail) => textOfLabels(element, trail),
  select: (element, trail) => textOfLabels(element, trail),
  table: (element, trail) => (element.caption ? textOf(element.caption, trail) : attributeOf(element, 'summary') || ''),
  textarea: nameOfInput,
};

function nameOfInput(input, trail) {
  const labelled = textOfLabels(input, trail);
  switch (input.type) {
    case 'button':
      return labelled || input.value;
    case 'submit':
      return labelled || (hasAttribute(input, 'value') ? input.value : 'Submit');
    case 'reset':
      return labelled || (hasAttribute(input, 'value') ? input.value : 'Reset');
    case 'image':
      return labelled || attributeOf(input, 'alt') || attributeOf(input, 'value') || attributeOf(input, 'title') || 'Submit';
    case 'file':
      return labelled || 'Choose File';
    case 'checkbox':
    case 'radio':
    case 'range':
    case 'color':
      return labelled;
    default:
      return labelled || attributeOf(input, 'title') || attributeOf(input, 'placeholder') || attributeOf(input, 'aria-placeholder') || '';
  }
}

function textOfLabels(control, trail) {
  const labels = trail.scope.labelsOf(control);
  if (labels.length === 0) return '';
  return labels.map((label) => tidy(textOf(label, trail))).filter(Boolean).join(' ');
}

function textOfFirst(element, tag, trail) {
  for (const child of elementChildrenOf(element)) if (localNameOf(child) === tag) return textOf(child, trail);
  return '';
}

/** The text that a node adds to the name of another element. */
function textOf(node, trail) {
  if (trail.visited.has(node)) return '';
  trail.visited.add(node);
  if (!trail.referenced && hasAttribute(node, 'aria-labelledby')) {
    const text = textOfReferenced(node, trail);
    if (text) return text;
  }
  const role = roleOf(node);
  const value = embeddedValue(node, role, trail);
  if (value !== null) return value;
  const label = attributeOf(node, 'aria-label');
  if (label !== null && label.trim()) return label;
  const native = nativeText(node, role, trail);
  if (native) return native;
  return textOfContent(node, trail) || attributeOf(node, 'title') || '';
}

/** Native alternatives inside a longer text: labels of nested fields do not count there. */
function nativeText(node, role, trail) {
  if (role === 'none') return '';
  const tag = localNameOf(node);
  if (tag === 'input') return /^(?:button|submit|reset|image)$/.test(node.type) ? nameOfInput(node, trail) : '';
  const hasAlternative = tag === 'img' || tag === 'area' || tag === 'option' || namespaceOf(node) === SVG_NAMESPACE;
  return hasAlternative ? nativeName(node, role, trail) : '';
}

/** The value of a field that sits inside a label, e.g. "Flash 3 times"; null if it is no field. */
function embeddedValue(node, role, trail) {
  if (role === 'generic' || trail.refersTo === node) return null;
  if (role === 'textbox' || role === 'searchbox') return fieldText(node);
  if (role === 'combobox' || role === 'listbox') return chosenText(node);
  if (!RANGE_ROLES.has(role)) return null;
  return attributeOf(node, 'aria-valuetext') || attributeOf(node, 'aria-valuenow') || String(node.value ?? '');
}

function fieldText(node) {
  if (node.type === 'password') return '';
  return typeof node.value === 'string' ? node.value : textContentOf(node);
}

function chosenText(node) {
  if (localNameOf(node) === 'select') return [...node.selectedOptions].map((option) => option.label).join(' ');
  if (typeof node.value === 'string') return node.value;
  return [...allIn(node, '[role=option][aria-selected=true]')].map((option) => textContentOf(option)).join(' ') || null;
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
    if (nodeTypeOf(child) === TEXT) text += asShown(child.data, element);
    else if (nodeTypeOf(child) === ELEMENT) text += textOfChild(child, trail);
    if (text.length > ENOUGH_TEXT) return text;
  }
  for (const owned of referencedElements(element, 'aria-owns', 'ariaOwnsElements')) text += ` ${textOf(owned, trail)}`;
  return text + after;
}

/** The text of an element without child elements: the common case, made cheap. */
function onlyText(element) {
  const isPlain = firstElementOf(element) === null && shadowRootOf(element) === null && localNameOf(element) !== 'slot';
  return isPlain && !hasAttribute(element, 'aria-owns') ? textContentOf(element) : null;
}

function textOfChild(child, trail) {
  const tag = localNameOf(child);
  if (UNREAD_TAGS.has(tag) || isSvgMetadata(child)) return '';
  if (tag === 'br') return ' ';
  const style = getComputedStyle(child);
  const display = style.display;
  if (!trail.hidden) {
    if (display === 'none' || attributeOf(child, 'aria-hidden') === 'true') return '';
    if (style.visibility !== 'visible') return textOfVisibleParts(child, trail);
  }
  // A menu that opens from an item is not part of the item's name.
  if (attributeOf(child, 'role') === 'menu') return '';
  const text = textOf(child, trail);
  return display === 'inline' || display === 'contents' ? text : ` ${text} `;
}

/** A hidden element says nothing itself, but its children may be visible again. */
function textOfVisibleParts(element, trail) {
  let text = '';
  for (const child of flatChildren(element)) if (nodeTypeOf(child) === ELEMENT) text += textOfChild(child, trail);
  return text;
}

/** Whether a referenced element is hidden from readers, itself or through an ancestor. */
function isUnread(element) {
  if (!isRendered(element, WITH_VISIBILITY)) return getComputedStyle(element).display !== 'contents';
  return flatClosest(element, (at) => attributeOf(at, 'aria-hidden') === 'true') !== null;
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
