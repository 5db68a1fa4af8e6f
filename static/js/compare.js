// Two to four failures in columns. Each column is lifted out of the entry's own page, so it says what that says.

import { byId, element } from "./dom.js";

/** @typedef {{slug: string, page: Document, url: URL}} Entry */

const MOST = 4;
const SLUG = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;
const ROOT = new URL(document.documentElement.dataset.root ?? "./", document.baseURI);

/** What the address names, without repetition. @returns {string[]} */
function named() {
  const asked = new URLSearchParams(location.search).get("with") ?? "";
  return [...new Set(asked.split(",").filter((slug) => SLUG.test(slug)))].slice(0, MOST);
}

/** @param {string[]} slugs */
function addressOf(slugs) {
  const address = new URL(location.href);
  address.search = slugs.length > 0 ? `?with=${slugs.join(",")}` : "";
  return address.href;
}

/** @param {string} slug @returns {Promise<Entry | string>} the slug where there is no such page */
async function load(slug) {
  const url = new URL(`failures/${slug}/`, ROOT);
  const response = await fetch(url).catch(() => null);
  if (!response?.ok) return slug;
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  return page.documentElement.dataset.page === "entry" ? { slug, page, url } : slug;
}

/** Parts of an entry's page, ready to stand here: links absolute, ids and buttons gone. @param {Entry} entry @param {string} selector */
function lifted(entry, selector) {
  return [...entry.page.querySelectorAll(selector)].map((part) => {
    const copy = /** @type {HTMLElement} */ (document.importNode(part, true));
    for (const inner of [copy, ...copy.querySelectorAll("*")]) {
      inner.removeAttribute("id");
      inner.removeAttribute("data-views");
      if (inner instanceof HTMLButtonElement) inner.remove();
      const target = inner instanceof HTMLAnchorElement && inner.getAttribute("href");
      if (target && inner instanceof HTMLAnchorElement) inner.href = new URL(target, entry.url).href;
    }
    return copy;
  });
}

/** The rows: what each is called, and where an entry's page has it. */
const ROWS = [
  ["Message", ".first .specimen, .first .usually"],
  ["Symptom", ".quick dl > div:nth-child(1) dd"],
  ["Root cause", ".quick dl > div:nth-child(2) dd"],
  ["First check", ".check > p:not(.alike), .check > .command, .check > .outcomes"],
  ["Fix", ".quick dl > div:nth-child(3) dd"],
  ["Cost of the fix", "[data-views]:has(> #fix) .with-aside:first-of-type .aside dl"],
  ["Restart", ".restart"],
  ["State touched", "[data-views]:has(> #state) .pairs"],
  ["Systems and versions", ".entry-head .facts > span:not(:last-child)"],
  ["Phase", ".trail > a:last-child"],
  ["Evidence", ".grade"],
];

/** What an entry says of how another one differs from it. @param {Entry} entry @param {Entry} other */
function difference(entry, other) {
  const rows = lifted(entry, "[data-views]:has(> #look-alikes) tbody tr");
  const row = rows.find((each) => [...each.querySelectorAll("th a")].some((link) => link instanceof HTMLAnchorElement && link.href === other.url.href));
  const told = row?.querySelector("td");
  return told ? [...told.childNodes] : null;
}

/** @param {Entry[]} entries */
function apart(entries) {
  const told = entries.flatMap((entry, at) =>
    entries.slice(at + 1).flatMap((other) => {
      const said = difference(entry, other) ?? difference(other, entry);
      return said ? [element("li", {}, element("strong", {}, `${letterOf(at)} and ${letterOf(entries.indexOf(other))}: `), ...said)] : [];
    }),
  );
  if (told.length === 0) return null;
  return element("section", { class: "apart" }, element("h2", {}, "What tells them apart"), element("ul", { class: "plain" }, ...told));
}

/** @param {Entry} entry */
function titleOf(entry) {
  return entry.page.querySelector("h1")?.textContent ?? entry.slug;
}

/** A, B, C or D: a column's short name. @param {number} at */
const letterOf = (at) => String.fromCharCode(65 + at);

/** @param {Entry[]} entries */
function columns(entries) {
  const heads = entries.map((entry) =>
    element(
      "th",
      { scope: "col" },
      element("span", { class: "letter" }, letterOf(entries.indexOf(entry))),
      ...lifted(entry, ".trail .symbol"),
      element("a", { href: entry.url.href }, titleOf(entry)),
      element("a", { class: "drop js-only", href: addressOf(entries.filter((other) => other !== entry).map((other) => other.slug)) }, "Remove"),
    ),
  );
  const body = ROWS.map(([name, selector]) => {
    const cells = entries.map((entry) => lifted(entry, selector));
    if (cells.every((parts) => parts.length === 0)) return null;
    const shown = cells.map((parts) => distinct(parts));
    return element("tr", {}, element("th", { scope: "row" }, name), ...shown.map((parts, at) => element("td", { "data-letter": letterOf(at) }, ...parts)));
  });
  return element(
    "div",
    { class: "scroll", role: "region", tabindex: "0", "aria-label": "The failures in columns" },
    element(
      "table",
      { class: `columns of-${entries.length}` },
      element("thead", {}, element("tr", {}, element("td"), ...heads)),
      element("tbody", {}, ...body),
    ),
  );
}

/** The parts without those that say what an earlier one says, such as two causes of one grade. @param {HTMLElement[]} parts */
function distinct(parts) {
  const seen = new Set();
  return parts
    .filter((part) => !seen.has(part.textContent) && seen.add(part.textContent))
    .map((part) => (part instanceof HTMLElement && ["DD", "SPAN", "A"].includes(part.tagName) ? element("p", {}, ...part.childNodes) : part));
}

async function show() {
  const slugs = named();
  const place = byId("columns", HTMLElement);
  place.setAttribute("aria-busy", "true");
  const loaded = await Promise.all(slugs.map(load));
  const entries = loaded.filter((each) => typeof each !== "string");
  const unknown = loaded.filter((each) => typeof each === "string");
  const parts = [];
  if (unknown.length > 0) parts.push(element("p", { class: "notice" }, `There is no failure named ${unknown.join(", ")} here.`));
  if (entries.length === 1) parts.push(element("p", { class: "note" }, "Add another one to compare it with."));
  if (entries.length > 0) parts.push(apart(entries), columns(entries));
  place.replaceChildren(...parts.filter((part) => part !== null));
  place.removeAttribute("aria-busy");
  byId("picker", HTMLFormElement).hidden = entries.length >= MOST;
  const confused = document.getElementById("confused");
  if (confused) confused.hidden = entries.length > 0;
  if (entries.length > 1) document.title = `${entries.map(titleOf).join(" / ")} · First Fault`;
}

byId("picker", HTMLFormElement).addEventListener("submit", (event) => {
  event.preventDefault();
  const chosen = byId("other", HTMLSelectElement).value;
  if (chosen !== "") location.assign(addressOf([...new Set([...named(), chosen])]));
});
show();
