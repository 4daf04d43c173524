// The API: what the Rust side calls, as `surehand.NAME({...})` in this isolated world.

globalThis.surehand = Object.freeze({
  snapshot: answering(snapshot),
  prepare: answering(prepare),
  recheck: answering(recheck),
  guardEnd: answering(guardEnd),
  frameStep: answering(frameStep),
  fillStart: answering(fillStart),
  fillCheck: answering(fillCheck),
  typeStart: answering(typeStart),
  focus: answering(focusElement),
  read: answering(read),
  state: answering(state),
  matches: answering(matches),
  waitFor: answering(waitFor),
  cancel: answering(cancelEverything),
  selectOptions: answering(selectOptions),
  uploadTarget: answering(uploadTarget),
  uploadedFiles: answering(uploadedFiles),
  dragWatch: answering(dragWatch),
  dragBegan: answering(dragBegan),
  scrollBy: answering(scrollBy),
  idOfElement: idOf,
  elementOf,
  adoptRoot,
});

function cancelEverything() {
  disarmAllGuards();
  return cancelWaits();
}
