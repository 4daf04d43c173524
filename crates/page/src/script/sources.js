// Where a snapshot gets roles and names from: our own computation, or the browser's.
//
// `computedRole` and `computedName` exist when Chromium runs with the blink feature
// ComputedAccessibilityInfo. Both sources speak the vocabulary of roles.js.

/** Chromium's words for roles that we call otherwise. */
const BROWSER_ROLES = { __proto__: null, image: 'img', presentation: 'none', 'graphics-document': 'img', 'graphics-symbol': 'generic' };

class OwnNames {
  #scope = new NameScope();

  role(element, attribute) {
    return (attribute !== null && explicitRole(element, attribute)) || implicitRole(element);
  }

  name(element, role) {
    return cutAt(nameOf(element, role, this.#scope), NAME_LENGTH);
  }

  /** For things that have no name by the book: the text in them is what a reader calls them. */
  contentText(element) {
    const trail = newTrail(element, this.#scope);
    return cutAt(tidy(textOfContent(element, trail)), NAME_LENGTH);
  }
}

class BrowserNames extends OwnNames {
  role(element, attribute) {
    const role = element.computedRole;
    // Empty for what has no ARIA role (date fields, summaries); an image in an <img alt=""> is none.
    if (!role || localNameOf(element) === 'img' || localNameOf(element) === 'table') return super.role(element, attribute);
    return BROWSER_ROLES[role] || role;
  }

  name(element, role) {
    // The browser puts the chosen file into the name of a file field; that is its value.
    if (element.type === 'file') return super.name(element, role);
    return cutAt(tidy(element.computedName), NAME_LENGTH);
  }
}

function nameSource(wanted) {
  return wanted === 'browser' && 'computedName' in Element.prototype ? new BrowserNames() : new OwnNames();
}
