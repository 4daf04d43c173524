// Typing: every key must arrive at the field, and something must come of them.
//
// The keys are pressed by the browser, wherever the keyboard is. A page may take the field away, lock it or pass the focus
// on after any of them; so each key is looked at as it comes in, before the page hears of it.

const TYPING_EVENTS = ['keydown', 'beforeinput', 'input'];

/** Inputs that have nothing to type into. */
const SET_TYPES = new Set(['range', 'color']);

/** The run of keys under way: there is one keyboard. */
let typing = null;

/** Like fillStart, but keeps the content and the caret of a field that has the focus already. */
async function typeStart({ locator, timeout }) {
  const { result, waited } = await keepTrying(timeout, async () => {
    const field = readyField(locator);
    refuseUntypable(field);
    const answer = { ...describeField(field), mode: 'insert', was: shownValue(field, fieldValue(field)) };
    const hadFocus = hasFocus(focusableOf(field));
    await takeFocus(field);
    if (!hadFocus) moveCaretToEnd(field);
    typing?.disarm();
    typing = new Typing(field, locator);
    return answer;
  });
  return { ...result, waited };
}

function refuseUntypable(field) {
  if (!isHtml(field, 'input') || !SET_TYPES.has(field.type)) return;
  failAbout(field, 'wrong-type', { why: `nothing can be typed into an input of type ${field.type}: use fill`, verb: 'fill' });
}

class Typing {
  #field;
  /** What has the focus meanwhile: the field, or the editor that it is a part of. */
  #host;
  #locator;
  #before;
  #arrived = 0;
  #isChanged = false;
  #isLedOn = false;
  #failure = null;

  constructor(field, locator) {
    this.#take(field);
    this.#locator = locator;
    this.#before = this.#held();
    for (const type of TYPING_EVENTS) window.addEventListener(type, this, { capture: true, passive: true });
  }

  #take(field) {
    this.#field = field;
    this.#host = focusableOf(field);
  }

  disarm() {
    for (const type of TYPING_EVENTS) window.removeEventListener(type, this, { capture: true });
  }

  handleEvent(event) {
    if (!event.isTrusted || this.#isLedOn) return;
    this.#failure ||= this.#lost();
    if (this.#failure) return;
    if (event.type === 'input') this.#isChanged = true;
    if (event.type !== 'keydown') return;
    this.#arrived++;
    // What comes after these keys is meant for where they lead.
    this.#isLedOn = event.key === 'Tab' || (event.key === 'Enter' && isHtml(this.#host, 'input'));
  }

  /** Why a key that comes now does not get into the field, or null. */
  #lost() {
    const preview = previewOf(this.#field);
    const disabled = nativelyDisabledBecause(this.#host);
    if (disabled) return new Failure('disabled', { preview, why: `${disabled} since something was typed`, isFinal: true });
    const readonly = readonlyBecause(this.#host);
    if (readonly) return new Failure('not-editable', { preview, why: `${readonly} since something was typed`, isFinal: true });
    if (hasFocus(this.#host) || this.#goesOnInSuccessor()) return null;
    if (!isConnected(this.#host)) return new Failure('detached', { preview, isFinal: true });
    return new Failure('focus-moved', { preview, what: whereKeysGo(), isFinal: true });
  }

  /** A page may draw its fields anew with every key: one that the locator means, and that has the focus, is the field then. */
  #goesOnInSuccessor() {
    if (isConnected(this.#host) || this.#locator.by === 'id') return false;
    const found = locateAll(this.#locator).map(labelledControl);
    if (found.length !== 1 || !isField(found[0]) || !hasFocus(focusableOf(found[0]))) return false;
    this.#take(found[0]);
    return true;
  }

  /** What is shown now: an editor may have put something else in place of a part of it. */
  get #shown() {
    return isConnected(this.#field) ? this.#field : this.#host;
  }

  /** What the field holds; a date that is half typed has no value yet. */
  #held() {
    return `${this.#shown.validity?.badInput} ${fieldValue(this.#shown)}`;
  }

  /** What came of `keys` keys; some of them may lead elsewhere, and not all of them type something. */
  result({ text, keys, leads, types }) {
    if (this.#failure) throw this.#failure;
    const lost = !leads && this.#arrived < keys ? this.#lost() : null;
    if (lost) throw lost;
    // Drawn anew after the last key, too.
    if (!isConnected(this.#host)) this.#goesOnInSuccessor();
    if (types && !this.#isChanged && this.#held() === this.#before) failAbout(this.#field, 'not-typed');
    if (!isConnected(this.#host)) return { value: null };
    const held = fieldValue(this.#shown);
    return { value: shownValue(this.#shown, held), holds: holdsTyped(this.#shown, held, text) };
  }
}

/** A page may show what was typed a little later; one that never does has not taken it. */
async function typeEnd({ text, keys, leads, types, timeout }) {
  const ended = typing;
  typing = null;
  // Another document has come meanwhile: nothing can be said about the field.
  if (!ended) return { value: null };
  try {
    return (await keepTrying(timeout, () => ended.result({ text, keys, leads, types }))).result;
  } finally {
    ended.disarm();
  }
}
