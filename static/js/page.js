// What a page does beside being read: colors, views, copying, sorting, the place in the contents.

const root = document.documentElement;

/** @param {string} name @param {string | null} value */
function remember(name, value) {
  try {
    if (value === null) localStorage.removeItem(name);
    else localStorage.setItem(name, value);
  } catch {
    // Storage may be switched off; then the choice lasts for the page.
  }
}

function offerThemes() {
  const button = document.getElementById("theme");
  if (!button) return;
  const names = { "": "as the system", light: "light", dark: "dark" };
  const order = ["", "light", "dark"];
  const say = () => {
    const theme = /** @type {keyof typeof names} */ (root.dataset.theme ?? "");
    button.setAttribute("aria-label", `Colors: ${names[theme]}`);
    button.title = `Colors: ${names[theme]}`;
  };
  button.addEventListener("click", () => {
    const next = order[(order.indexOf(root.dataset.theme ?? "") + 1) % order.length];
    if (next) root.dataset.theme = next;
    else delete root.dataset.theme;
    remember("theme", next || null);
    say();
  });
  say();
}

/** @param {string} view */
function show(view) {
  if (view === "engineer") delete root.dataset.view;
  else root.dataset.view = view;
  for (const input of document.querySelectorAll("input[name=view]")) {
    if (input instanceof HTMLInputElement) input.checked = input.value === view;
  }
}

/** A link into a part that the present view hides shows the whole page; the choice stays remembered. */
function uncover() {
  const target = document.getElementById(location.hash.slice(1));
  if (!target || target.getClientRects().length > 0) return;
  show("engineer");
  target.scrollIntoView();
}

function offerViews() {
  if (!document.querySelector(".views")) return;
  show(root.dataset.view ?? "engineer");
  document.querySelector(".views")?.addEventListener("change", (event) => {
    if (!(event.target instanceof HTMLInputElement)) return;
    const view = event.target.value;
    show(view);
    remember("view", view === "engineer" ? null : view);
    const address = new URL(location.href);
    if (view === "engineer") address.searchParams.delete("view");
    else address.searchParams.set("view", view);
    history.replaceState(null, "", address);
  });
  addEventListener("hashchange", uncover);
  uncover();
}

/** Browsers offer the clipboard to secure pages only; a site inside a cluster often is none. @param {string} text */
async function copy(text) {
  if (navigator.clipboard) {
    await navigator.clipboard.writeText(text);
    return;
  }
  const field = document.createElement("textarea");
  field.value = text;
  document.body.append(field);
  field.select();
  document.execCommand("copy");
  field.remove();
}

/** The code of the figure or the command that a button without a text of its own stands in. @param {HTMLElement} button */
function codeBeside(button) {
  return button.closest(".snippet, .command")?.querySelector("pre code")?.textContent ?? "";
}

function offerCopies() {
  document.addEventListener("click", async (event) => {
    const button = event.target instanceof Element && event.target.closest("button[data-copy]");
    if (!(button instanceof HTMLElement)) return;
    await copy(button.dataset.copy || codeBeside(button));
    const label = button.dataset.label ?? button.textContent;
    button.dataset.label = label ?? "";
    button.textContent = "Copied";
    button.classList.add("copied");
    setTimeout(() => {
      button.textContent = label;
      button.classList.remove("copied");
    }, 1600);
  });
}

/** @param {HTMLTableCellElement} cell */
const key = (cell) => cell.dataset.sort ?? cell.textContent?.trim() ?? "";

/** @param {HTMLTableElement} table @param {HTMLTableCellElement} head */
function sort(table, head) {
  const up = head.getAttribute("aria-sort") !== "ascending";
  for (const other of table.querySelectorAll("th[aria-sort]")) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", up ? "ascending" : "descending");
  const rows = [...table.tBodies[0].rows].sort((a, b) => {
    const order = key(a.cells[head.cellIndex]).localeCompare(key(b.cells[head.cellIndex]), "en", { numeric: true });
    return up ? order : -order;
  });
  table.tBodies[0].append(...rows);
}

function offerSorting() {
  for (const table of document.querySelectorAll("table[data-sortable]")) {
    if (!(table instanceof HTMLTableElement) || !table.tHead) continue;
    for (const head of table.tHead.rows[0].cells) {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "sort";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => sort(table, /** @type {HTMLTableCellElement} */ (head)));
    }
  }
}

function offerSamples() {
  const box = document.getElementById("q");
  if (!(box instanceof HTMLInputElement)) return;
  document.addEventListener("click", (event) => {
    const button = event.target instanceof Element && event.target.closest("button[data-try]");
    if (!(button instanceof HTMLElement)) return;
    box.value = button.dataset.try ?? "";
    box.focus();
    box.dispatchEvent(new Event("input", { bubbles: true }));
  });
}

/** A link to copy beside the heading of every part of an entry; the contents hold the same for the keyboard. */
function markParts() {
  for (const heading of document.querySelectorAll("article section[data-views] > :is(h2, h3)[id]")) {
    if (heading.closest(".first, .perspectives")) continue;
    const mark = document.createElement("a");
    mark.className = "mark";
    mark.href = `#${heading.id}`;
    mark.tabIndex = -1;
    mark.ariaHidden = "true";
    mark.textContent = "§";
    heading.after(mark);
  }
}

function followContents() {
  const links = new Map();
  for (const link of document.querySelectorAll(".contents a")) {
    links.set(link.getAttribute("href")?.slice(1), link);
  }
  const headings = [...links.keys()].map((id) => document.getElementById(id)).filter((found) => found !== null);
  if (headings.length === 0) return;
  const mark = () => {
    const passed = headings.filter((heading) => {
      const box = heading.getClientRects()[0];
      return box && box.top < innerHeight / 4;
    });
    for (const link of links.values()) link.removeAttribute("aria-current");
    links.get(passed.at(-1)?.id)?.setAttribute("aria-current", "true");
  };
  const observer = new IntersectionObserver(mark, { rootMargin: "0px 0px -75% 0px" });
  for (const heading of headings) observer.observe(heading);
}

function offerBox() {
  const box = document.getElementById("ask");
  const failed = () => box?.querySelector("[role=status]")?.append("The engine could not be loaded.");
  const load = () => import("./entry-box.js").then(({ serve }) => box && serve(box)).catch(failed);
  box?.addEventListener("toggle", load, { once: true });
}

offerThemes();
offerViews();
offerBox();
offerCopies();
offerSorting();
offerSamples();
markParts();
followContents();
