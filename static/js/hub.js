// The hub's filters and the picking of failures to compare. Every state has its own address.

import { byId, element } from "./dom.js";

const MOST_PICKED = 4;

const table = byId("failures-table", HTMLTableElement);
const rows = [...table.tBodies[0].rows];
const links = [...document.querySelectorAll("a[data-filter]")].filter((link) => link instanceof HTMLAnchorElement);
const NAMES = [...new Set(links.map((link) => link.dataset.filter ?? ""))];

/** Whether a row has the chosen value of every filter. @param {HTMLElement} row @param {URLSearchParams} chosen */
function fits(row, chosen) {
  return NAMES.every((name) => {
    const wanted = chosen.get(name);
    return wanted === null || (row.dataset[name] ?? "").split(" ").includes(wanted);
  });
}

/** The address with a filter's value chosen, or no longer. @param {string} name @param {string} value */
function toggled(name, value) {
  const address = new URL(location.href);
  address.hash = "";
  if (address.searchParams.get(name) === value) address.searchParams.delete(name);
  else address.searchParams.set(name, value);
  return address;
}

function apply() {
  const chosen = new URLSearchParams(location.search);
  const shown = new Set();
  for (const row of rows) {
    row.hidden = !fits(row, chosen);
    if (!row.hidden) shown.add(row.dataset.slug);
  }
  for (const link of links) {
    const { filter = "", value = "" } = link.dataset;
    link.href = toggled(filter, value).href;
    if (chosen.get(filter) === value) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
  }
  for (const link of document.querySelectorAll(".map a.entry-link")) {
    const slug = link instanceof HTMLAnchorElement && link.pathname.split("/").at(-2);
    link.closest("li")?.classList.toggle("left-out", !shown.has(slug));
  }
  const active = NAMES.some((name) => chosen.has(name));
  byId("filters-said", HTMLElement).textContent = active ? `${shown.size} of ${rows.length} failures` : "";
  byId("filters-clear", HTMLElement).hidden = !active;
  byId("none-left", HTMLElement).hidden = shown.size > 0;
  const panel = document.querySelector("#filters details");
  if (active && panel instanceof HTMLDetailsElement) panel.open = true;
}

/** Follow a link to another state of this page without leaving it. @param {MouseEvent} event */
function follow(event) {
  const link = event.target instanceof Element && event.target.closest("#filters a, #none-left a");
  if (!(link instanceof HTMLAnchorElement) || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  history.pushState(null, "", link.href);
  apply();
}

/** @returns {string[]} */
function picked() {
  const boxes = table.querySelectorAll("input[type=checkbox]:checked");
  return [...boxes].map((box) => (box instanceof HTMLInputElement ? box.value : ""));
}

function say() {
  const bar = byId("picked", HTMLElement);
  const slugs = picked();
  for (const box of table.querySelectorAll("input[type=checkbox]")) {
    if (box instanceof HTMLInputElement) box.disabled = !box.checked && slugs.length >= MOST_PICKED;
  }
  bar.hidden = slugs.length === 0;
  const address = new URL(bar.dataset.compare ?? "", document.baseURI);
  address.search = `?with=${slugs.join(",")}`;
  const clear = element("button", { type: "button", class: "button" }, "Clear");
  clear.addEventListener("click", () => {
    for (const box of table.querySelectorAll("input[type=checkbox]")) {
      if (box instanceof HTMLInputElement) box.checked = false;
    }
    say();
  });
  bar.replaceChildren(
    element("span", { role: "status" }, slugs.length < 2 ? "1 picked; one more to compare" : `${slugs.length} picked`),
    slugs.length < 2 ? "" : element("a", { class: "button strong", href: address.href }, "See them in columns"),
    clear,
  );
}

function offerPicking() {
  for (const row of rows) {
    const title = row.cells[0].textContent?.trim() ?? "";
    const box = element("input", { type: "checkbox", value: row.dataset.slug ?? "", "aria-label": `Compare: ${title}` });
    row.cells[0].prepend(box);
  }
  table.addEventListener("change", say);
  // A browser that comes back to the page has ticked the boxes of before.
  if (picked().length > 0) say();
}

offerPicking();
// A hub of few failures has nothing to filter by.
if (document.getElementById("filters") !== null) {
  document.addEventListener("click", follow);
  addEventListener("popstate", apply);
  apply();
}
