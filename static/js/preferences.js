// Before the first paint: the reader's colors and view, so that nothing moves or flashes afterwards.
// A classic script on purpose: a module would run too late.
(() => {
  const root = document.documentElement;
  root.classList.add("js");
  /** @param {string} name */
  const remembered = (name) => {
    try {
      return localStorage.getItem(name);
    } catch {
      return null; // storage may be switched off
    }
  };
  const theme = remembered("theme");
  if (theme === "light" || theme === "dark") root.dataset.theme = theme;
  if (root.dataset.page === "entry") {
    const asked = new URLSearchParams(location.search).get("view") ?? remembered("view");
    if (asked === "on-call" || asked === "executive") root.dataset.view = asked;
  }
  // What is to be filtered, or pushed down by columns, is not shown before hub.js or compare.js, which run before this event.
  if ((root.dataset.page === "hub" || root.dataset.page === "compare") && location.search !== "") {
    root.classList.add("pending");
    document.addEventListener("DOMContentLoaded", () => root.classList.remove("pending"));
  }
})();
