// Storage: what the page's origin keeps in the browser, for ever or for this tab.

const AREAS = { __proto__: null, local: () => localStorage, session: () => sessionStorage };

const STORAGE_OPERATIONS = {
  __proto__: null,
  all: (area) => ({ items: Object.fromEntries(keysOf(area).map((key) => [key, area.getItem(key)])) }),
  get: (area, { key }) => ({ value: area.getItem(key) }),
  set: setItems,
  remove: removeItem,
  clear: clearArea,
};

function storage({ area: name, operation, ...details }) {
  return STORAGE_OPERATIONS[operation](openArea(name), details);
}

/** A page without an origin of its own has nowhere to keep things, and the browser throws. */
function openArea(name) {
  try {
    return AREAS[name]();
  } catch (error) {
    return fail('no-storage', { why: error.message });
  }
}

/** Not `Object.keys`: it misses what is named like a method, e.g. `length`. */
function keysOf(area) {
  return Array.from({ length: area.length }, (_, index) => area.key(index));
}

function setItems(area, { items }) {
  for (const [key, value] of items) {
    try {
      area.setItem(key, value);
    } catch (error) {
      fail('no-storage', { why: error.message });
    }
    if (area.getItem(key) !== value) fail('no-storage', { why: `${JSON.stringify(key)} was not kept` });
  }
  return {};
}

function removeItem(area, { key }) {
  const was = area.getItem(key) !== null;
  area.removeItem(key);
  return { removed: was };
}

function clearArea(area) {
  const { length } = area;
  area.clear();
  return { cleared: length };
}
