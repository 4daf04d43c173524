// The snapshot: the page as an outline of roles, names and states, one line per node.
//
// One walk down the composed tree. What a child inherits (pointer cursor, text that its parent's
// name already says) is passed down in a Place instead of being looked up again. A container is
// written before its content and taken back if nothing came below it.

/** Roles that a user acts on. */
const INTERACTIVE_ROLES = new Set(
  ('button link textbox searchbox combobox listbox option checkbox radio switch slider spinbutton tab menuitem menuitemcheckbox ' +
    'menuitemradio treeitem scrollbar').split(' '),
);

/** Containers that tell their content apart from that of others, when they have a name. */
const CONTEXT_ROLES = new Set(
  ('alertdialog application article banner complementary contentinfo dialog feed figure form grid group list listitem main menu ' +
    'menubar navigation radiogroup region row search table tablist tabpanel toolbar tree treegrid').split(' '),
);

/** Content that gets a reference when it has a name. */
const REFERABLE_ROLES = new Set([...CONTEXT_ROLES, ...'cell columnheader gridcell heading img rowheader status alert'.split(' ')]);

/** Roles of running text: rows for them would only tear sentences apart. */
const TEXT_LEVEL_ROLES = new Set('code emphasis generic mark none strong subscript superscript time'.split(' '));

/** Roles whose content is only their face: no structure below them. */
const FACE_ROLES = new Set(
  'button checkbox img menuitemcheckbox menuitemradio meter option progressbar radio scrollbar separator slider switch tab'.split(' '),
);

/** The walk is recursive: far more levels than any page has, far fewer than the stack takes. */
const MAX_NESTING = 800;

function snapshot(options) {
  // Behind a modal dialog nothing can be reached: the dialog is the page then.
  const root = options.root ? locateToRead(options.root).element : modalDialog() || document.body || document.documentElement;
  const rows = new SnapshotWalk(options).run(root);
  return { rows, closed: takeClosedCandidates(), url: location.href, title: document.title };
}

/** What the elements below a node inherit. */
class Place {
  constructor(depth, isPointer, isInAction, isFace, isSaid, isEditable) {
    this.depth = depth;
    this.isPointer = isPointer; // the parent's cursor is a pointer
    this.isInAction = isInAction; // inside something to act on
    this.isFace = isFace; // inside something whose content is only its face
    this.isSaid = isSaid; // the text here is part of a name or value above
    this.isEditable = isEditable; // inside an editor
  }

  withPointer(isPointer) {
    if (isPointer === this.isPointer) return this;
    return new Place(this.depth, isPointer, this.isInAction, this.isFace, this.isSaid, this.isEditable);
  }

  below({ isAction = false, isFace = false, isSaid = false, isEditable = false }) {
    return new Place(
      this.depth + 1,
      this.isPointer,
      this.isInAction || isAction,
      this.isFace || isFace,
      this.isSaid || isSaid,
      this.isEditable || isEditable,
    );
  }
}

class SnapshotWalk {
  #rows = [];
  #kept = 0;
  #nesting = 0;
  #text = '';
  #textDepth = 0;

  constructor({ interactive, compact, depth, urls, viewport, names, hidden_ids: hiddenIds }) {
    this.isInteractive = Boolean(interactive);
    this.isCompact = Boolean(compact);
    this.maxDepth = depth || Infinity;
    this.view = viewport ? viewportBox() : null;
    this.names = nameSource(names);
    this.flagOptions = { active: deepActiveElement(), urls: Boolean(urls) };
    this.owned = new OwnedElements();
    this.leftOut = new Set((hiddenIds || []).map((id) => elementById.get(id)?.deref()));
  }

  run(root) {
    this.owned.collect(document);
    const parent = flatParent(root);
    const isPointer = parent !== null && getComputedStyle(parent).cursor === 'pointer';
    this.#visit(root, new Place(0, isPointer, false, false, false, false));
    this.#endText();
    return this.#rows.join('');
  }

  #visit(element, place) {
    if (this.#nesting >= MAX_NESTING) {
      this.#addText(`[content nested deeper than ${MAX_NESTING} elements is left out]`, place.depth);
      this.#endText();
      return;
    }
    this.#nesting++;
    this.#visitReachable(element, place);
    this.#nesting--;
  }

  #visitReachable(element, place) {
    const facts = hasAttributes(element) ? readAttributes(element) : NO_ATTRIBUTES;
    if (facts.isHidden || UNREAD_TAGS.has(localNameOf(element))) return;
    if (!isRendered(element)) {
      this.#visitUnrendered(element, place);
      return;
    }
    const style = styleOf(element);
    const isBlock = !this.isInteractive && !INLINE_DISPLAYS.has(style.display);
    if (isBlock) this.#endText();
    if (style.visibility === 'visible') this.#visitVisible(element, facts, style.cursor === 'pointer', place);
    else this.#visitElements(element, place);
    if (isBlock) this.#endText();
  }

  /** display:contents has no box of its own but shows its content; the rest is not there at all. */
  #visitUnrendered(element, place) {
    if (getComputedStyle(element).display === 'contents') this.#visitContent(element, place);
  }

  #visitVisible(element, facts, isPointer, place) {
    if (this.leftOut.size > 0 && this.leftOut.has(element)) return;
    const role = this.names.role(element, facts.role);
    const isPointerRoot = isPointer && !place.isPointer;
    const below = place.withPointer(isPointer);
    if (INTERACTIVE_ROLES.has(role)) {
      this.#addAction(element, role, '', below);
      return;
    }
    const hints = facts !== NO_ATTRIBUTES || isPointerRoot || localNameOf(element) === 'label' ? hintsOf(element, facts, isPointerRoot, place) : '';
    if (hints !== '') this.#addAction(element, role, hints, below);
    else if (role === 'iframe' || mayShowFrame(element)) this.#addFrame(element, below);
    else if (this.isInteractive) this.#addContext(element, role, below);
    else this.#addStructure(element, role, facts, below);
  }

  /** Something to act on: always a row, always with an id. */
  #addAction(element, role, hints, place) {
    const isEditable = hints.includes('editable');
    const value = cutAt(valueOf(element, role, isEditable), NAME_LENGTH);
    let name = this.names.name(element, role);
    if (!name && hints && !value) name = this.names.contentText(element);
    const isSaid = saysItsText(role, hints, name, value);
    const below = place.below({ isAction: true, isFace: FACE_ROLES.has(role), isSaid, isEditable });
    this.#addRow(element, { role, hasId: true, hints, name, value }, place, below);
  }

  /** The content of the frame is another document's snapshot; its rows are put below this one. */
  #addFrame(element, place) {
    if (!hasArea(boundingBoxOf(element))) return;
    // Whether an embed shows a document or a picture is known only to the browser.
    const role = isHtml(element, 'embed') ? 'embed' : 'iframe';
    this.#addRow(element, { role, hasId: true, hints: '', name: this.names.name(element, 'iframe'), value: '' }, place, place);
  }

  /** In an interactive snapshot: headings, and named containers that hold something to act on. */
  #addContext(element, role, place) {
    const isContext = CONTEXT_ROLES.has(role) || (role === 'heading' && !place.isInAction);
    // Rows of a table are told apart by what they say; that is read only if the row is needed.
    const name = !isContext || role === 'row' ? '' : this.names.name(element, role);
    if (!isContext || place.isFace || (name === '' && role !== 'row')) {
      this.#visitContent(element, place);
      return;
    }
    const node = { role, hasId: true, hints: '', name, value: '' };
    this.#addRow(element, node, place, place.below({}), role !== 'heading');
  }

  /** In a full snapshot: every element with a role of its own. */
  #addStructure(element, role, facts, place) {
    const isPlain = TEXT_LEVEL_ROLES.has(role);
    const name = isPlain && !facts.isNamed ? '' : this.names.name(element, role);
    if (isNameOfParent(element)) return;
    if (place.isFace || (name === '' && (isPlain || localNameOf(element) === 'svg'))) {
      this.#visitContent(element, place);
      return;
    }
    const hasId = name !== '' && REFERABLE_ROLES.has(role);
    const value = valueOf(element, role, false);
    const below = place.below({ isFace: FACE_ROLES.has(role), isSaid: saysItsText(role, '', name, value) });
    this.#addRow(element, { role, hasId, hints: '', name, value }, place, below, this.isCompact && !hasId && value === '');
  }

  /** Writes a row and what is below it; a container is taken back if nothing is. */
  #addRow(element, node, place, below, isContainer = false) {
    this.#endText();
    const isOutOfView = this.view !== null && !hasArea(intersection(boundsOf(element), this.view));
    const index = this.#rows.length;
    const keptBefore = this.#kept;
    if (!isContainer && !isOutOfView) this.#kept++;
    this.#rows.push('');
    this.#visitContent(element, below);
    this.#endText();
    if (this.#kept === keptBefore) this.#rows.length = index;
    else if (place.depth < this.maxDepth) this.#rows[index] = this.#rowOf(element, node, place.depth);
  }

  /** Ids are given only to rows that are really written, so that references count up without gaps. */
  #rowOf(element, { role, hasId, hints, name, value }, depth) {
    const id = hasId ? idOf(element) : '';
    const flags = flagsOf(element, role, this.flagOptions);
    const allFlags = hints && flags ? `${flags} ${hints}` : flags || hints;
    const called = name || (this.isInteractive && role === 'row' ? this.names.contentText(element) : '');
    return `${depth}\t${role}\t${id}\t${allFlags}\t${called}\t${value}\n`;
  }

  #visitContent(element, place) {
    const tag = localNameOf(element);
    if (FALLBACK_TAGS.has(tag)) return;
    if (tag === 'select') this.#visitOptions(element, place);
    else if (this.isInteractive || place.isSaid || tag === 'textarea') this.#visitElements(element, place);
    else this.#visitElementsAndText(element, place);
    if (tag === 'img' && element.useMap) this.#visitAreas(element, place);
  }

  #visitElements(element, place) {
    const owned = this.#ownedBelow(element);
    if (shadowRootOf(element) === null && localNameOf(element) !== 'slot') {
      for (let child = firstElementOf(element); child; child = nextElementOf(child)) {
        if (!this.owned.isOwned(child)) this.#visit(child, place);
      }
    } else {
      for (const child of flatChildren(element)) if (nodeTypeOf(child) === ELEMENT && !this.owned.isOwned(child)) this.#visit(child, place);
    }
    for (const child of owned) this.#visit(child, place);
  }

  #visitElementsAndText(element, place) {
    const owned = this.#ownedBelow(element);
    const showsText = this.view === null || hasArea(intersection(boundsOf(element), this.view));
    for (const child of flatChildren(element)) {
      if (nodeTypeOf(child) === TEXT) {
        if (showsText) this.#addText(asShown(child.data, element), place.depth);
      } else if (nodeTypeOf(child) === ELEMENT && !this.owned.isOwned(child)) {
        if (localNameOf(child) === 'br') this.#addText(' ', place.depth);
        else this.#visit(child, place);
      }
    }
    for (const child of owned) this.#visit(child, place);
  }

  #ownedBelow(element) {
    const root = shadowRootOf(element);
    if (root) this.owned.collect(root);
    else noteIfClosed(element);
    return this.owned.isEmpty ? [] : this.owned.ownedBy(element);
  }

  /** The list of a closed select is not rendered, but it is what there is to choose from. */
  #visitOptions(select, place) {
    for (const child of allIn(select, 'option, optgroup')) {
      if (getComputedStyle(child).display === 'none') continue;
      const isGroup = localNameOf(child) === 'optgroup';
      const isGrouped = !isGroup && localNameOf(parentElementOf(child)) === 'optgroup';
      const at = isGrouped ? place.below({}) : place;
      const name = cutAt(tidy(child.label), NAME_LENGTH);
      this.#addLeaf(child, { role: isGroup ? 'group' : 'option', hasId: !isGroup, hints: '', name, value: '' }, at.depth);
    }
  }

  /** The areas of an image map belong to the picture that shows them. */
  #visitAreas(image, place) {
    const map = firstIn(rootNodeOf(image), `map[name=${JSON.stringify(image.useMap.replace(/^#/, ''))}]`);
    for (const area of map ? allIn(map, 'area[href]') : []) {
      const role = this.names.role(area, attributeOf(area, 'role'));
      this.#addLeaf(area, { role, hasId: true, hints: '', name: this.names.name(area, role), value: '' }, place.depth);
    }
  }

  #addLeaf(element, node, depth) {
    this.#kept++;
    if (depth < this.maxDepth) this.#rows.push(this.#rowOf(element, node, depth));
  }

  #addText(text, depth) {
    this.#text += text;
    this.#textDepth = depth;
  }

  /** Ends a run of text: what inline elements said in a row is one line. */
  #endText() {
    if (this.#text === '') return;
    const text = cutAt(tidy(this.#text), NAME_LENGTH);
    this.#text = '';
    if (text === '') return;
    this.#kept++;
    if (this.#textDepth < this.maxDepth) this.#rows.push(`${this.#textDepth}\ttext\t\t\t${text}\t\n`);
  }
}

/** Elements beside `iframe` that show another document in place of themselves. */
function mayShowFrame(element) {
  return isHtml(element, 'embed') || (isHtml(element, 'object') && element.contentWindow !== null);
}

/** The legend of a fieldset and the caption of a table were already said, unless ARIA names them otherwise. */
function isNameOfParent(element) {
  const parent = parentElementOf(element);
  const isNaming =
    (localNameOf(element) === 'legend' && isTagged(parent, 'fieldset') && firstIn(parent, ':scope > legend') === element) ||
    (localNameOf(element) === 'caption' && parent?.caption === element);
  return isNaming && !hasAttribute(parent, 'aria-label') && !hasAttribute(parent, 'aria-labelledby') && firstElementOf(element) === null;
}

/** Whether the name or value of a node holds the text below it, whole. */
function saysItsText(role, hints, name, value) {
  if (name.length >= NAME_LENGTH || value.length >= NAME_LENGTH) return false;
  if (VALUE_ROLES.has(role) || FACE_ROLES.has(role) || hints.includes('editable')) return true;
  return name !== '' && (hints !== '' || NAMED_BY_CONTENT.has(role));
}
