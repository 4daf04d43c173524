// Finding by label: what a person would call an element, without a selector. The best tier that has a match wins; several
// matches in it are the caller's to refuse.

/** Words that name a kind of element when they stand first or last in a label. */
const KIND_WORDS = {
  __proto__: null,
  button: ['button'], link: ['link'], tab: ['tab'], checkbox: ['checkbox'], radio: ['radio'], switch: ['switch'], toggle: ['switch', 'button', 'checkbox'],
  menu: ['menu', 'menuitem', 'button', 'combobox'], option: ['option', 'menuitem'], item: ['menuitem', 'option', 'listitem', 'treeitem'], icon: ['button', 'link', 'img'],
  field: ['textbox', 'searchbox', 'spinbutton', 'combobox'], input: ['textbox', 'searchbox', 'spinbutton', 'combobox'],
  box: ['textbox', 'searchbox', 'checkbox', 'combobox'], textbox: ['textbox', 'searchbox'], dropdown: ['combobox', 'listbox', 'button'], select: ['combobox', 'listbox'],
};

const ACTIONABLE_ROLES = new Set(
  ('button link checkbox radio switch tab option menuitem menuitemcheckbox menuitemradio treeitem textbox searchbox combobox listbox slider ' +
   'spinbutton gridcell').split(' '),
);

const FIELD_CANDIDATES =
  'input:not([type=hidden], [type=submit], [type=button], [type=reset], [type=image]), textarea, select, [contenteditable], ' +
  '[role=textbox], [role=searchbox], [role=combobox], [role=checkbox], [role=radio], [role=switch], [role=spinbutton], [role=slider]';

function queryActionable({ value }) {
  const wanted = labelKey(value);
  const scope = new NameScope();
  const modal = modalDialog();
  const candidates = queryOpenRoots('*')
    .filter((element) => isActionable(element) && isExposed(element, modal))
    .map((element) => ({ element, role: roleOf(element), name: labelKey(nameOf(element, roleOf(element), scope)) }));
  const found = firstTier(candidates, actionTiers(wanted));
  if (found.length) return [...withoutAncestors(found)];
  // Things with a click listener and no role: a menu made of <div>s, say.
  const exact = queryText(tidy(value), true).filter((element) => isExposed(element, modal));
  return exact.length ? exact : queryText(tidy(value), false).filter((element) => isExposed(element, modal));
}

function isActionable(element) {
  return ACTIONABLE_ROLES.has(roleOf(element)) || isHtml(element, 'summary') || (isFocusable(element) && element !== document.body);
}

function actionTiers(wanted) {
  const split = splitKind(wanted);
  const tiers = [({ name }) => name === wanted, ({ name }) => name.includes(wanted)];
  if (!split) return tiers;
  const { kinds, rest } = split;
  return [({ role, name }) => kinds.includes(role) && name === rest, ({ role, name }) => kinds.includes(role) && name.includes(rest), ...tiers];
}

/** "Save button" and "button Save" are a button called "Save". */
function splitKind(wanted) {
  const words = wanted.split(' ');
  if (words.length < 2) return null;
  const last = KIND_WORDS[words.at(-1)];
  if (last) return { kinds: last, rest: words.slice(0, -1).join(' ') };
  const first = KIND_WORDS[words[0]];
  return first ? { kinds: first, rest: words.slice(1).join(' ') } : null;
}

function queryField({ value }) {
  const wanted = labelKey(value);
  const scope = new NameScope();
  const modal = modalDialog();
  const candidates = queryOpenRoots(FIELD_CANDIDATES)
    // A styled checkbox hides its field behind the label: visible is what can be reached through it.
    .filter((element) => isExposed(element, modal) || [...(element.labels || [])].some((label) => isExposed(label, modal)))
    .map((element) => ({ element, ...fieldNames(element, scope) }));
  return firstTier(candidates, fieldTiers(wanted));
}

function fieldNames(element, scope) {
  const keys = (texts) => texts.filter(Boolean).map(labelKey);
  return {
    labels: keys([...labelTexts(element, scope), nameOf(element, roleOf(element), scope)]),
    hints: keys([attributeOf(element, 'placeholder'), attributeOf(element, 'title')]),
    ids: keys([attributeOf(element, 'name'), attributeOf(element, 'id'), attributeOf(element, TEST_ID), attributeOf(element, 'autocomplete')]),
  };
}

function fieldTiers(wanted) {
  const bare = splitKind(wanted)?.rest ?? wanted;
  const is = (key) => key === wanted || key === bare;
  const has = (key) => key.includes(bare);
  return [
    ({ labels }) => labels.some(is), ({ hints }) => hints.some(is), ({ ids }) => ids.some(is),
    ({ labels }) => labels.some(has), ({ hints }) => hints.some(has), ({ ids }) => ids.some(has),
  ];
}

/** The matches of the first tier that has any; what is enabled is meant rather than what is not. */
function firstTier(candidates, tiers) {
  for (const fits of tiers) {
    const found = candidates.filter(fits).map(({ element }) => element);
    if (found.length === 0) continue;
    const enabled = found.filter((element) => disabledBecause(element) === null);
    return enabled.length ? enabled : found;
  }
  return [];
}

/** Case, spaces, a trailing colon or star and the two ways to write three dots do not matter. */
function labelKey(text) {
  return tidy(text ?? '').toLowerCase().replaceAll('...', '…').replace(/[\s:*]+$/, '');
}

/** Which verb enters something here. */
function fieldKind({ locator }) {
  const element = locateOne(locator);
  const control = labelledControl(element);
  if (checkedState(control) !== undefined) return { kind: 'check' };
  if (isHtml(control, 'select')) return { kind: 'select' };
  if (isHtml(control, 'input') && control.type === 'file') return { kind: 'upload' };
  return { kind: 'fill', secret: isSecret(control) };
}
