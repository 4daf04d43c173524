// The API: what the Rust side calls, as `surehand.NAME({...})` in this isolated world.

globalThis.surehand = Object.freeze({
  snapshot: answering(snapshot),
  prepare: answering(prepare),
  recheck: answering(recheck),
  guardEnd: answering(guardEnd),
  frameStep: answering(frameStep),
  boxesThroughFrame: answering(boxesThroughFrame),
  fillStart: answering(fillStart),
  fillCheck: answering(fillCheck),
  typeStart: answering(typeStart),
  typeEnd: answering(typeEnd),
  focusedField: answering(focusedField),
  focus: answering(focusElement),
  read: answering(read),
  state: answering(state),
  stateBecomes: answering(stateBecomes),
  matches: answering(matches),
  lasting: answering(lasting),
  waitFor: answering(waitFor),
  pause: answering(pause),
  cancel: answering(cancelEverything),
  announce: answering(announce),
  selectOptions: answering(selectOptions),
  selectedValues: answering(selectedValues),
  toggle: answering(toggle),
  uploadTarget: answering(uploadTarget),
  uploadedFiles: answering(uploadedFiles),
  dragWatch: answering(dragWatch),
  dragBegan: answering(dragBegan),
  dropWatch: answering(dropWatch),
  dropWelcome: answering(dropWelcome),
  dropTaken: answering(dropTaken),
  scrollBy: answering(scrollBy),
  storage: answering(storage),
  fieldKind: answering(fieldKind),
  boxesInView: answering(boxesInView),
  annotate: answering(annotate),
  annotateEnd: answering(annotateEnd),
  idOfElement: idOf,
  elementOf,
  adoptRoot,
});

function cancelEverything() {
  disarmAllGuards();
  return cancelWaits();
}
