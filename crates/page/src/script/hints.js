// Hints: what makes an element something to act on although its role does not say so.

/** Facts that the attributes of one element give; read in one pass, since most elements have few. */
class AttributeFacts {
  role = null;
  isHidden = false;
  isNamed = false;
  hasHandler = false;
  hasControls = false;
  isDraggable = false;
  isEditingHost = false;
  tabIndex = null;
}

const NO_ATTRIBUTES = Object.freeze(new AttributeFacts());

/** Inline handlers of pointer events. Listeners added by script cannot be seen from an isolated world. */
const POINTER_HANDLERS = new Set(
  'onclick ondblclick onmousedown onmouseup onpointerdown onpointerup ontouchstart ontouchend oncontextmenu onauxclick'.split(' '),
);

const ATTRIBUTE_READERS = new Map(
  Object.entries({
    role: (facts, value) => (facts.role = value),
    'aria-hidden': (facts, value) => (facts.isHidden ||= value === 'true'),
    inert: (facts) => (facts.isHidden = true),
    'aria-label': (facts) => (facts.isNamed = true),
    'aria-labelledby': (facts) => (facts.isNamed = true),
    contenteditable: (facts, value) => (facts.isEditingHost = value.toLowerCase() !== 'false'),
    draggable: (facts, value) => (facts.isDraggable = value === 'true'),
    controls: (facts) => (facts.hasControls = true),
    tabindex: (facts, value) => (facts.tabIndex = Number.parseInt(value, 10)),
  }),
);
for (const handler of POINTER_HANDLERS) ATTRIBUTE_READERS.set(handler, (facts) => (facts.hasHandler = true));

function readAttributes(element) {
  let facts = NO_ATTRIBUTES;
  for (const name of attributeNamesOf(element)) {
    const reader = ATTRIBUTE_READERS.get(name);
    if (reader === undefined) continue;
    if (facts === NO_ATTRIBUTES) facts = new AttributeFacts();
    reader(facts, attributeOf(element, name));
  }
  return facts;
}

/** The hints of an element whose role is not interactive, separated by spaces; '' if there are none. */
function hintsOf(element, facts, isPointerRoot, place) {
  const hints = [];
  if (isClickable(element, facts, isPointerRoot, place)) hints.push('clickable');
  if (facts.isEditingHost && !place.isEditable) hints.push('editable');
  if (facts.tabIndex >= 0 && facts.tabIndex !== null) hints.push('focusable');
  if (facts.isDraggable) hints.push('draggable');
  return hints.join(' ');
}

function isClickable(element, facts, isPointerRoot, place) {
  if (localNameOf(element) === 'label') return standsForHiddenControl(element);
  if (facts.hasHandler) return element !== document.body && element !== document.documentElement;
  // A pointer cursor inside a button or link belongs to that.
  return facts.hasControls || (isPointerRoot && !place.isInAction);
}

/** A styled checkbox is often its label alone; otherwise the control has its own row. */
function standsForHiddenControl(label) {
  const control = label.control;
  return Boolean(control) && control.type !== 'hidden' && !isRendered(control, WITH_VISIBILITY);
}
