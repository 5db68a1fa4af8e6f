// The search box of every page, until it is used: then search-box.js loads, and with it the engine and Pagefind.

/** @typedef {import("./search-box.js").SearchBox} SearchBox */

/** A longer or broken text is handed over whole; the box shows its beginning. */
const ONE_LINE = 1000;
/** So many lines are a log; fewer are a message that a terminal wrapped. */
const LINES_OF_A_LOG = 5;

/** @param {HTMLFormElement} form @param {HTMLInputElement} input @param {HTMLElement} results */
function serve(form, input, results) {
  /** @type {Promise<SearchBox> | null} */
  let loading = null;
  const load = () => {
    loading ??= import("./search-box.js").then(({ SearchBox }) => new SearchBox(form, input, results));
    loading.catch(() => {
      loading = null;
    });
    return loading;
  };
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
    event.preventDefault();
    input.focus();
    input.select();
  });
  input.addEventListener("focus", load);
  input.addEventListener("paste", (event) => {
    const text = event.clipboardData?.getData("text/plain") ?? "";
    if (!/[\r\n]/.test(text.trim()) && text.length <= ONE_LINE) return;
    event.preventDefault();
    handOver(text).then(async (handed) => {
      if (!handed) (await load()).take(text);
    });
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    load().then((box) => box.enter());
  });
  if (document.activeElement === input || input.value !== "") load();
  const asked = new URLSearchParams(location.hash.slice(1)).get("q");
  if (asked) {
    input.focus();
    load().then((box) => box.take(asked));
  }
}

/** Takes a log that was pasted on the home page to the diagnosis, within the tab. @param {string} text */
async function handOver(text) {
  if (document.documentElement.dataset.page !== "home" || text.trim().split("\n").length < LINES_OF_A_LOG) return false;
  const { ROOT, handOver: leave } = await import("./run.js");
  if (!leave(text)) return false;
  location.assign(new URL("diagnose/", ROOT));
  return true;
}

/** @param {EventTarget | null} at */
function isTyping(at) {
  return at instanceof HTMLElement && (at.isContentEditable || at.matches("input, textarea, select"));
}

const form = document.getElementById("search");
const input = document.getElementById("q");
const results = document.getElementById("search-results");
if (form instanceof HTMLFormElement && input instanceof HTMLInputElement && results !== null) {
  serve(form, input, results);
}
