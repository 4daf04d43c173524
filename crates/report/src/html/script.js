"use strict";
// The page can be read without this: it filters tests, follows links into what is closed, and enlarges pictures.
(() => {
  const byId = (id) => document.getElementById(id);
  const tests = [...document.querySelectorAll(".test")];

  // Filters

  const search = byId("search");
  const buttons = [...document.querySelectorAll("[data-filter]")];
  let group = "all";
  let words = null;

  // What can be searched is gathered when it is first needed: a large report opens without the wait.
  const gathered = () => {
    words ??= tests.map((test) =>
      [...test.querySelectorAll(":scope > summary, .what, .error")]
        .map((part) => part.textContent)
        .join("\n")
        .toLowerCase()
    );
    return words;
  };

  const filter = () => {
    const sought = search.value.trim().toLowerCase();
    let shown = 0;
    tests.forEach((test, index) => {
      const matches =
        (group === "all" || test.dataset.group === group) &&
        (sought === "" || gathered()[index].includes(sought));
      test.hidden = !matches;
      shown += matches ? 1 : 0;
    });
    byId("none").hidden = shown > 0;
    byId("shown").textContent = shown === tests.length ? "" : `${shown} of ${tests.length} tests shown`;
  };

  const nextToggleOpens = () => tests.some((test) => !test.hidden && !test.open);
  const nameToggle = () => {
    byId("toggle").textContent = nextToggleOpens() ? "Open all" : "Close all";
  };

  if (search) {
    byId("tools").hidden = false;
    buttons.forEach((button) =>
      button.addEventListener("click", () => {
        group = button.dataset.filter;
        buttons.forEach((other) => other.setAttribute("aria-pressed", String(other === button)));
        filter();
        nameToggle();
      })
    );
    search.addEventListener("input", () => {
      filter();
      nameToggle();
    });
    byId("toggle").addEventListener("click", () => {
      const open = nextToggleOpens();
      tests.filter((test) => !test.hidden).forEach((test) => { test.open = open; });
      nameToggle();
    });
    tests.forEach((test) => test.addEventListener("toggle", nameToggle));
    document.addEventListener("keydown", (event) => {
      const typing = event.target instanceof HTMLInputElement;
      if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
        event.preventDefault();
        search.focus();
        search.select();
      }
    });
    // A reload may bring back what was typed.
    filter();
    nameToggle();
  }

  // Links into what is closed

  const follow = () => {
    const target = byId(decodeURIComponent(location.hash.slice(1)));
    if (!target || !target.closest("main")) return;
    for (let part = target; part; part = part.parentElement) {
      if (part instanceof HTMLDetailsElement) part.open = true;
    }
    const own = target.querySelector(":scope > details");
    if (own) own.open = true;
    target.scrollIntoView();
  };
  addEventListener("hashchange", follow);
  if (location.hash) follow();

  // Pictures

  const viewer = byId("viewer");
  const picture = viewer.querySelector("img");
  let views = [];
  let current = 0;

  const show = (index) => {
    if (index < 0 || index >= views.length) return;
    current = index;
    const view = views[index];
    const row = view.closest(".step");
    picture.src = view.querySelector("img").src;
    const what = row ? `Step ${row.querySelector(".index").textContent}: ${row.querySelector(".verb").textContent}` : "";
    byId("caption").textContent = views.length > 1 ? `${what} (${index + 1} of ${views.length})` : what;
  };

  document.addEventListener("click", (event) => {
    const view = event.target.closest("[data-view]");
    if (view) {
      views = [...view.closest(".inside").querySelectorAll("[data-view]")];
      show(views.indexOf(view));
      viewer.showModal();
    } else if (event.target === viewer || event.target.closest("#close")) {
      viewer.close();
    }
  });
  viewer.addEventListener("keydown", (event) => {
    if (event.key === "ArrowRight") show(current + 1);
    if (event.key === "ArrowLeft") show(current - 1);
  });
})();
