// Roles: the ARIA role of an element, explicit or implied by its tag, as Chromium decides it.
//
// Where Chromium has a role outside ARIA (date fields, summaries, labels) the nearest ARIA role
// stands in, so that a reader sees one vocabulary.

/** Roles a page may ask for. Abstract roles and unknown words are skipped, the next token counts. */
const KNOWN_ROLES = new Set(
  ('alert alertdialog application article banner blockquote button caption cell checkbox code columnheader combobox comment ' +
    'complementary contentinfo definition deletion dialog directory document emphasis feed figure form generic grid gridcell group ' +
    'heading image img insertion link list listbox listitem log main mark marquee math menu menubar menuitem menuitemcheckbox ' +
    'menuitemradio meter navigation none note option paragraph presentation progressbar radio radiogroup region row rowgroup ' +
    'rowheader scrollbar search searchbox sectionfooter sectionheader separator slider spinbutton status strong subscript ' +
    'suggestion superscript switch tab table tablist tabpanel term textbox time timer toolbar tooltip tree treegrid treeitem').split(' '),
);

const ROLE_SYNONYMS = { presentation: 'none', image: 'img', directory: 'list' };

/** Roles that exist only with a name; without one the element is an ordinary container. */
const NAMED_ONLY_ROLES = new Set(['region', 'form']);

/** An aside in one of these is a remark, not a landmark of the page. */
const ASIDE_SCOPES = 'article, aside, nav, section';

/** A header or footer inside one of these is not that of the page. */
const SECTIONING = 'article, aside, main, nav, section, [role=article], [role=complementary], [role=main], [role=navigation], [role=region]';

const IMPLICIT_ROLES = {
  a: (element) => (hasAttribute(element, 'href') || hasAttribute(element, 'xlink:href') ? 'link' : 'generic'),
  address: 'group',
  area: (element) => (hasAttribute(element, 'href') ? 'link' : 'generic'),
  article: 'article',
  aside: (element) => (isInside(element, ASIDE_SCOPES) && !hasAuthorName(element) ? 'generic' : 'complementary'),
  audio: 'audio',
  blockquote: 'blockquote',
  button: 'button',
  canvas: 'canvas',
  caption: 'caption',
  code: 'code',
  dd: 'definition',
  del: 'deletion',
  details: 'group',
  dfn: 'term',
  dialog: 'dialog',
  dt: 'term',
  em: 'emphasis',
  fieldset: 'group',
  figure: 'figure',
  footer: (element) => (isInside(element, SECTIONING) ? 'sectionfooter' : 'contentinfo'),
  form: 'form',
  frame: 'iframe',
  h1: 'heading',
  h2: 'heading',
  h3: 'heading',
  h4: 'heading',
  h5: 'heading',
  h6: 'heading',
  // Named groups of shapes only exist in SVG.
  g: (element) => (hasAuthorName(element) || isTagged(firstElementOf(element), 'title') ? 'group' : 'generic'),
  header: (element) => (isInside(element, SECTIONING) ? 'sectionheader' : 'banner'),
  hgroup: 'group',
  hr: 'separator',
  iframe: 'iframe',
  img: (element) => (isDecoration(element) ? 'none' : 'img'),
  input: roleOfInput,
  ins: 'insertion',
  li: roleOfListItem,
  main: 'main',
  mark: 'mark',
  math: 'math',
  menu: 'list',
  meter: 'meter',
  nav: 'navigation',
  ol: 'list',
  optgroup: 'group',
  option: 'option',
  output: 'status',
  p: 'paragraph',
  progress: 'progressbar',
  s: 'deletion',
  search: 'search',
  section: (element) => (hasAuthorName(element) ? 'region' : 'generic'),
  select: (element) => (element.multiple || element.size > 1 ? 'listbox' : 'combobox'),
  strong: 'strong',
  sub: 'subscript',
  // Only the first summary of a details element works as its handle.
  summary: (element) => (isHandle(element) ? 'button' : 'generic'),
  sup: 'superscript',
  svg: 'img',
  table: (element) => (isDataTable(element) ? 'table' : 'generic'),
  tbody: roleInTable('rowgroup'),
  td: (element) => roleOfCell(element),
  textarea: 'textbox',
  tfoot: roleInTable('rowgroup'),
  th: (element) => roleOfCell(element),
  thead: roleInTable('rowgroup'),
  time: 'time',
  tr: roleInTable('row'),
  ul: 'list',
  video: 'video',
};
Object.setPrototypeOf(IMPLICIT_ROLES, null);

const INPUT_ROLES = {
  __proto__: null,
  button: 'button',
  checkbox: 'checkbox',
  file: 'button',
  hidden: 'none',
  image: 'button',
  number: 'spinbutton',
  radio: 'radio',
  range: 'slider',
  reset: 'button',
  search: 'searchbox',
  submit: 'button',
};

const TYPES_WITH_SUGGESTIONS = new Set(['text', 'search', 'email', 'tel', 'url']);

function roleOf(element) {
  const asked = attributeOf(element, 'role');
  return (asked !== null && explicitRole(element, asked)) || implicitRole(element);
}

/** The role that the `role` attribute gives, or null if it has no effect. */
function explicitRole(element, attribute) {
  for (const token of attribute.toLowerCase().split(/\s+/)) {
    if (!KNOWN_ROLES.has(token) && !token.startsWith('doc-')) continue;
    const role = ROLE_SYNONYMS[token] || token;
    if (role === 'none') return keepsItsRole(element) ? null : 'none';
    if (NAMED_ONLY_ROLES.has(role) && !hasAuthorName(element)) continue;
    if (role === 'listitem' && !closestRole(element, 'list')) return 'generic';
    return role;
  }
  return null;
}

/** `none` on something that the user can reach, or that the author named, is ignored. */
function keepsItsRole(element) {
  return isFocusable(element) || hasAuthorName(element);
}

function implicitRole(element) {
  const rule = IMPLICIT_ROLES[localNameOf(element)];
  if (rule === undefined) return 'generic';
  return typeof rule === 'string' ? rule : rule(element);
}

function roleOfInput(input) {
  const type = input.type;
  if (TYPES_WITH_SUGGESTIONS.has(type) && hasAttribute(input, 'list') && input.list) return 'combobox';
  return INPUT_ROLES[type] || 'textbox';
}

function roleOfListItem(element) {
  const parent = parentElementOf(element);
  const list = parent && hasAttribute(parent, 'role') && roleOf(parent);
  return list === 'none' ? 'none' : 'listitem';
}

/** Tables of a single row or column without headers, and tables around tables, only arrange things. */
function isDataTable(table) {
  if (hasAuthorName(table) || table.caption || table.tHead || table.tFoot || hasAttribute(table, 'summary')) return true;
  if (firstIn(table, ':scope > tbody > tr > th, :scope > tr > th, :scope > colgroup')) return true;
  if (firstIn(table, 'table')) return false;
  const rows = table.rows;
  return rows.length > 1 && rows[0].cells.length > 1;
}

function tableRole(element) {
  const table = closestOf(element, 'table, [role=table], [role=grid], [role=treegrid]');
  return table ? roleOf(table) : 'generic';
}

function roleInTable(role) {
  return (element) => (TABLE_ROLES.has(tableRole(element)) ? role : 'generic');
}

const TABLE_ROLES = new Set(['table', 'grid', 'treegrid']);

function roleOfCell(cell) {
  const table = tableRole(cell);
  if (!TABLE_ROLES.has(table)) return 'generic';
  if (localNameOf(cell) === 'td') return table === 'table' ? 'cell' : 'gridcell';
  return isRowHeader(cell) ? 'rowheader' : 'columnheader';
}

function isRowHeader(cell) {
  const scope = attributeOf(cell, 'scope')?.toLowerCase();
  if (scope) return scope.startsWith('row');
  const before = previousElementOf(cell);
  const after = nextElementOf(cell);
  if (isTagged(before, 'th') || isTagged(after, 'th') || closestOf(cell, 'thead')) return false;
  return isTagged(after, 'td') || isTagged(before, 'td');
}

/** An empty alternative text says that a picture says nothing; only ARIA or focus can overrule that. */
function isDecoration(image) {
  return attributeOf(image, 'alt') === '' && !hasAttribute(image, 'aria-label') && !hasAttribute(image, 'aria-labelledby') && !isFocusable(image);
}

function isHandle(summary) {
  const details = parentElementOf(summary);
  return isTagged(details, 'details') && firstIn(details, ':scope > summary') === summary;
}

function isInside(element, selector) {
  const parent = parentElementOf(element);
  return parent !== null && closestOf(parent, selector) !== null;
}

function closestRole(element, role) {
  return flatClosest(flatParent(element), (at) => roleOf(at) === role);
}

/** Whether the author gave the element a name of its own, which some roles need to exist. */
function hasAuthorName(element) {
  return Boolean(attributeOf(element, 'aria-label')?.trim() || hasAttribute(element, 'aria-labelledby') || attributeOf(element, 'title')?.trim());
}

/** Whether the element can take focus; -1 counts too, since script can move focus there. */
function isFocusable(element) {
  return tabIndexOf(element) >= 0 || hasAttribute(element, 'tabindex');
}
