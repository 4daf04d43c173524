// aria-owns: elements that belong below another one than their parent.

class OwnedElements {
  #ownerOf = new Map();
  #collected = new Set();

  /** Learns who owns what in a root. The first owner wins, and nobody owns an ancestor of itself. */
  collect(root) {
    if (this.#collected.has(root)) return;
    this.#collected.add(root);
    for (const owner of allIn(root, '[aria-owns]')) {
      if (!isRendered(owner)) continue;
      for (const owned of referencedElements(owner, 'aria-owns', 'ariaOwnsElements')) {
        if (!this.#ownerOf.has(owned) && !this.#leadsTo(owner, owned)) this.#ownerOf.set(owned, owner);
      }
    }
  }

  #leadsTo(from, goal) {
    for (let at = from; at; at = this.#ownerOf.get(at) || flatParent(at)) if (at === goal) return true;
    return false;
  }

  get isEmpty() {
    return this.#ownerOf.size === 0;
  }

  isOwned(element) {
    return this.#ownerOf.has(element);
  }

  ownedBy(owner) {
    const owned = referencedElements(owner, 'aria-owns', 'ariaOwnsElements');
    return [...new Set(owned)].filter((element) => this.#ownerOf.get(element) === owner);
  }
}
