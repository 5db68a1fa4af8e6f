// What the search box does once it is used (search.js loads this then). What is typed or pasted stays in the page.

import { handOver } from "./run.js";

/** @typedef {import("../engine/find.js").Finder} Finder */
/** @typedef {import("../engine/find.js").Found} Found */
/** @typedef {{finder: Finder, wordsOf: (line: string, numbers?: boolean) => string[]}} Engine */
/** @typedef {{url: string, meta: Record<string, string>, excerpt: string}} PagefindData */
/** @typedef {{id: string, data: () => Promise<PagefindData>}} PagefindResult */
/** @typedef {{options: (options: object) => Promise<void>, search: (term: string) => Promise<{results: PagefindResult[]}>}} Pagefind */
/** @typedef {{title: string, url: string, why: Node[]}} Hit */

const WAIT_MS = 120;
const SHOWN = 8;
const FULL_TEXT_WORDS = 12;
const FULL_TEXT_SHOWN = 5;
const LONGEST_WORD = 80;
const LONGEST_ENDING = 3;
const SHOWN_IN_BOX = 1000;
const NOTHING_FOUND =
  "Paste the line of the first error itself, or try two or three telling words of it. Or look through ";

const ONLY_WORDS =
  "No known message stands in this text. These share words with it, and may be about another failure.";
/** So many words are seldom typed; a run printed them, or somebody tells what happened. */
const WORDS_OF_A_MESSAGE = 5;

/** What a line of each role usually is, for the reader who has only this line. @type {Record<string, string>} */
const READINGS = {
  cause: "the failure's own message",
  confirmation: "somebody else's word for the cause",
  witness: "a report of a rank that waited: the fault is elsewhere",
  peer: "a report of another rank's death",
  supervisor: "a launcher's summary: the fault stands above it",
  teardown: "printed while the run is being ended",
  advice: "advice, no evidence",
};

const ROOT = new URL(document.documentElement.dataset.root ?? "./", document.baseURI);

/** @returns {Promise<Engine>} */
async function loadEngine() {
  const [find, normalize, response] = await Promise.all([
    import("../engine/find.js"),
    import("../engine/normalize.js"),
    fetch(new URL("api/v1/search.json", ROOT)),
  ]);
  if (!response.ok) throw new Error(`search.json: ${response.status}`);
  return { finder: new find.Finder(await response.json()), wordsOf: normalize.wordsOf };
}

/** @returns {Promise<Pagefind>} */
async function loadPagefind() {
  /** @type {Pagefind} */
  const pagefind = await import(new URL("pagefind/pagefind.js", ROOT).href);
  await pagefind.options({ baseUrl: ROOT.pathname, excerptLength: 16 });
  return pagefind;
}

/**
 * Loads once, and again after a failure.
 * @template T
 * @param {() => Promise<T>} load
 * @returns {() => Promise<T>}
 */
function once(load) {
  /** @type {Promise<T> | null} */
  let loading = null;
  return () => {
    loading ??= load().catch((error) => {
      loading = null;
      throw error;
    });
    return loading;
  };
}

const engine = once(loadEngine);
const fullText = once(loadPagefind);

/** @param {string} text */
function isLikeAMessage(text) {
  return text.trim().split(/\s+/, WORDS_OF_A_MESSAGE).length === WORDS_OF_A_MESSAGE;
}

/** The words of a text as they stand in it, each once, those first that tell most. @param {Engine} engine @param {string} text */
function tellingWords({ finder, wordsOf }, text) {
  /** @type {Map<string, number>} */
  const weights = new Map();
  for (const word of text.slice(0, 20_000).match(/[A-Za-z0-9_][A-Za-z0-9_.-]*/g) ?? []) {
    const bare = word.replace(/[._-]+$/, "");
    // Of what is no word, Pagefind would take the beginning.
    if (weights.has(bare) || bare.length > LONGEST_WORD) continue;
    const stems = wordsOf(bare);
    if (stems.length > 0) weights.set(bare, Math.max(...stems.map((stem) => finder.most(stem, finder.rarest))));
  }
  return [...weights.keys()].sort((a, b) => (weights.get(b) ?? 0) - (weights.get(a) ?? 0));
}

/** Which words of a text an entry has too. @param {Engine} engine @param {string} text @param {string} slug */
function sharedWords(engine, text, slug) {
  const number = engine.finder.slugs.indexOf(slug);
  const shares = (/** @type {string} */ stem) =>
    engine.finder.weights.get(stem)?.some(([entry]) => entry === number) ?? false;
  return tellingWords(engine, text)
    .filter((word) => engine.wordsOf(word).some(shares))
    .slice(0, 5);
}

/** @param {Engine} engine @param {string} text @param {Found} found @returns {Hit} */
function hitOf(engine, text, found) {
  return { title: found.title, url: new URL(found.url, ROOT).href, why: whyOf(engine, text, found) };
}

/** @param {Engine} engine @param {string} text @param {Found} found @returns {Node[]} */
function whyOf(engine, text, found) {
  const message = found.signature === null ? null : engine.finder.message(found.signature, text);
  if (message !== null) {
    const reading = READINGS[message.role] ?? message.role;
    return [textNode("matches the message "), element("code", message.literal), textNode(` (${reading})`)];
  }
  const words = sharedWords(engine, text, found.entry);
  if (found.how === "text" || words.length === 0) return [textNode("has words like these")];
  return [textNode(words.length === 1 ? "shares the word " : "shares the words "), ...separated(words.map((word) => element("code", word)))];
}

/** @param {Node[]} nodes @returns {Node[]} */
function separated(nodes) {
  return nodes.flatMap((node, i) => (i > 0 ? [textNode(", "), node] : [node]));
}

/**
 * Pages whose text holds half or more of the words, the rarer the better. Pagefind wants all words of a query on one page,
 * so each word is a query of its own.
 * @param {Engine} engine @param {string} text @param {Set<string>} shown addresses that stand in the list already
 * @returns {Promise<Hit[]>}
 */
async function fullTextHits(engine, text, shown) {
  const pagefind = await fullText();
  const words = tellingWords(engine, text).slice(0, FULL_TEXT_WORDS);
  const answers = await Promise.all(words.map((word) => pagefind.search(word)));
  /** @type {Map<string, {result: PagefindResult, weight: number}>} */
  const pages = new Map();
  let asked = 0;
  for (const { results } of answers) {
    const rarity = results.length > 0 ? Math.log2(1 + (engine.finder.slugs.length + 1) / results.length) : 0;
    asked += rarity;
    for (const result of results) {
      const page = pages.get(result.id) ?? { result, weight: 0 };
      page.weight += rarity;
      pages.set(result.id, page);
    }
  }
  const best = [...pages.values()]
    .filter(({ weight }) => 2 * weight >= asked)
    .sort((a, b) => b.weight - a.weight || (a.result.id < b.result.id ? -1 : 1))
    .slice(0, FULL_TEXT_SHOWN + shown.size);
  const data = await Promise.all(best.map(({ result }) => result.data()));
  return data
    .filter(({ excerpt }) => marksOne(excerpt, words))
    .map(({ url, meta, excerpt }) => ({
      title: meta.title ?? url,
      url: new URL(url, ROOT).href,
      why: excerptNodes(excerpt),
    }))
    .filter(({ url }) => !shown.has(url))
    .slice(0, FULL_TEXT_SHOWN);
}

/**
 * Whether an excerpt's marks hold one of the words, up to its ending. Of a word that no page has, Pagefind finds its
 * first letters. @param {string} excerpt @param {string[]} words
 */
function marksOne(excerpt, words) {
  const marked = [...excerpt.matchAll(/<mark>(.*?)<\/mark>/g)].map(([, text]) => unescaped(text).toLowerCase());
  const starts = words.map((word) => word.toLowerCase().slice(0, Math.max(3, word.length - LONGEST_ENDING)));
  return marked.length === 0 || marked.some((text) => starts.some((start) => text.includes(start)));
}

/** Pagefind's excerpt is escaped text with marks; it becomes nodes, never markup. @param {string} excerpt @returns {Node[]} */
function excerptNodes(excerpt) {
  return excerpt.split(/(<mark>.*?<\/mark>)/).map((part) => {
    const marked = /^<mark>(.*)<\/mark>$/.exec(part);
    return marked === null ? textNode(unescaped(part)) : element("mark", unescaped(marked[1]));
  });
}

/** @param {string} text */
function unescaped(text) {
  /** @type {Record<string, string>} */
  const characters = { lt: "<", gt: ">", quot: '"', apos: "'", "#39": "'", "#x27": "'", amp: "&" };
  return text.replace(/&(lt|gt|quot|apos|amp|#39|#x27);/g, (_, name) => characters[name]);
}

/** @param {string} text */
function textNode(text) {
  return document.createTextNode(text);
}

/**
 * An element with text or nodes in it.
 * @param {string} name @param {string | Node[]} content @param {Record<string, string>} [attributes]
 */
function element(name, content, attributes = {}) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...(typeof content === "string" ? [content] : content));
  return made;
}

/** The box, its list and what is said about it: a combobox whose options are links. */
export class SearchBox {
  /** @param {HTMLFormElement} form @param {HTMLInputElement} input @param {HTMLElement} results */
  constructor(form, input, results) {
    this.form = form;
    this.input = input;
    this.list = element("div", "", { role: "listbox", id: "search-list", "aria-label": "Search results" });
    this.note = element("p", "", { class: "search-note" });
    this.status = element("p", "", { role: "status", class: "vh" });
    // A list that scrolls would be a stop of the Tab key; arrows move in it.
    this.panel = element("div", [this.list, this.note], { class: "search-panel", tabindex: "-1" });
    /** The whole pasted text; the box itself holds one line. @type {string | null} */
    this.pasted = null;
    /** How many questions were asked, and which of them the list answers. */
    this.asked = 0;
    this.answered = 0;
    this.selected = -1;
    this.opensFirst = false;
    /** Whether what is asked looks like a message, and none that is known stands in it. */
    this.isGuess = false;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
    this.close();
    results.append(this.panel, this.status);
    for (const [name, value] of [
      ["role", "combobox"],
      ["aria-controls", "search-list"],
      ["aria-autocomplete", "list"],
      ["aria-haspopup", "listbox"],
    ]) {
      input.setAttribute(name, value);
    }
    this.listen();
  }

  listen() {
    this.input.addEventListener("input", (event) => {
      this.pasted = null;
      // Who types goes on typing; who pastes is done.
      this.askSoon(event instanceof InputEvent && event.inputType === "insertFromPaste" ? 0 : WAIT_MS);
    });
    this.input.addEventListener("keydown", (event) => this.key(event));
    this.input.addEventListener("click", () => this.reopen());
    this.form.addEventListener("focusout", (event) => {
      if (!(event.relatedTarget instanceof Node && this.form.contains(event.relatedTarget))) this.close();
    });
    // A link's mouse-down would move the focus, and close the list before the click.
    this.panel.addEventListener("mousedown", (event) => event.preventDefault());
    engine().catch(() => {});
    fullText().catch(() => {});
    if (this.input.value !== "") this.askSoon(0);
  }

  /** Takes a pasted text with its lines, which a one-line box would run together. @param {string} text */
  take(text) {
    this.input.value = text.trim().slice(0, SHOWN_IN_BOX).replace(/\s+/g, " ");
    this.pasted = text;
    this.askSoon(0);
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.isComposing) return;
    const steps = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (steps !== undefined) {
      event.preventDefault();
      if (this.panel.hidden) this.reopen();
      else this.select(this.selected + steps);
    } else if (event.key === "Escape" && !this.panel.hidden) {
      event.preventDefault();
      this.close();
    }
  }

  /** @param {number} delay */
  askSoon(delay) {
    clearTimeout(this.timer);
    this.asked += 1;
    this.opensFirst = false;
    const number = this.asked;
    this.timer = setTimeout(() => this.ask(number), delay);
  }

  /** @param {number} number which of all questions this is; the answer to an older one is dropped */
  async ask(number) {
    const text = this.pasted ?? this.input.value;
    if (text.trim() === "") {
      this.clear();
      return;
    }
    try {
      const loaded = await engine();
      if (number !== this.asked) return;
      const found = loaded.finder.find(text, SHOWN);
      const hits = found.map((one) => hitOf(loaded, text, one));
      this.isGuess = isLikeAMessage(text) && found.every(({ how }) => how !== "signature");
      this.answered = number;
      this.show(hits, false);
      const more = await fullTextHits(loaded, text, new Set(hits.map(({ url }) => url))).catch(() => []);
      if (number === this.asked) this.show([...hits, ...more], true);
    } catch {
      if (number === this.asked) this.sayInstead("The search could not be loaded.", "Look through ");
    }
  }

  /** Shows hits; options that stand there already stay, so that the selection does. @param {Hit[]} hits @param {boolean} complete */
  show(hits, complete) {
    const before = [...this.list.children].map((option) => option.getAttribute("href"));
    const kept = hits.findIndex(({ url }, i) => url !== before[i]);
    const same = kept === -1 ? hits.length : kept;
    for (const option of [...this.list.children].slice(same)) option.remove();
    this.list.append(...hits.slice(same).map((hit, i) => optionOf(hit, same + i)));
    this.refreshWhy(hits.slice(0, same));
    if (this.selected >= same) this.select(-1);
    if (hits.length > 0) this.sayCount(hits.length, complete);
    else if (complete) this.sayInstead("Nothing found.", NOTHING_FOUND);
    if (this.opensFirst && hits.length > 0) this.enter();
  }

  /** @param {number} count @param {boolean} spoken */
  sayCount(count, spoken) {
    const caution = this.isGuess ? [ONLY_WORDS] : [];
    const status = [`${count} ${count === 1 ? "result" : "results"}`, ...caution].join(". ");
    this.say(status, [...caution.map((text) => textNode(`${text} `)), ...this.offerDiagnosis()], spoken);
  }

  /** Of pasted lines the diagnosis tells which one started it. */
  offerDiagnosis() {
    const text = this.pasted;
    if (text === null || !text.trim().includes("\n")) return [];
    const link = element("a", "Diagnose these lines", { href: new URL("diagnose/", ROOT).href });
    link.addEventListener("click", () => handOver(text));
    return [link, textNode(": which of them started it, and on which rank.")];
  }

  /** @param {Hit[]} hits */
  refreshWhy(hits) {
    for (const [i, hit] of hits.entries()) {
      this.list.children[i].querySelector(".search-why")?.replaceChildren(...hit.why);
    }
  }

  /** @param {string} status @param {string} advice what to do, up to the link */
  sayInstead(status, advice) {
    const link = element("a", "all failures", { href: new URL("failures/", ROOT).href });
    const finder = element("a", "start from what you see", { href: new URL("symptoms/", ROOT).href });
    this.say(status, [textNode(`${status} ${advice}`), link, textNode(", or "), finder, textNode(".")], true);
  }

  /** @param {string} status @param {Node[]} note @param {boolean} spoken */
  say(status, note, spoken) {
    this.note.replaceChildren(...note);
    this.note.hidden = note.length === 0;
    if (spoken) this.status.textContent = status;
    this.open();
  }

  /** @param {number} index */
  select(index) {
    const options = [...this.list.children];
    // Before the first and after the last comes the box itself, where none is selected.
    this.selected = index < -1 ? options.length - 1 : index < options.length ? index : -1;
    for (const [i, option] of options.entries()) {
      option.setAttribute("aria-selected", String(i === this.selected));
    }
    const chosen = options[this.selected];
    if (chosen === undefined) {
      this.input.removeAttribute("aria-activedescendant");
      return;
    }
    this.input.setAttribute("aria-activedescendant", chosen.id);
    chosen.scrollIntoView({ block: "nearest" });
  }

  /** Opens the selected or the first hit, now or when there is one. */
  enter() {
    if (this.answered !== this.asked) this.askSoon(0);
    const option = this.list.children[Math.max(this.selected, 0)];
    if (this.answered === this.asked && option instanceof HTMLAnchorElement) option.click();
    else this.opensFirst = true;
  }

  open() {
    this.panel.hidden = document.activeElement !== this.input;
    this.list.hidden = this.list.children.length === 0;
    this.input.setAttribute("aria-expanded", String(!this.panel.hidden && !this.list.hidden));
  }

  reopen() {
    if (this.list.children.length > 0 && this.input.value.trim() !== "") this.open();
  }

  close() {
    this.panel.hidden = true;
    this.input.setAttribute("aria-expanded", "false");
    this.select(-1);
  }

  clear() {
    this.answered = this.asked;
    this.list.replaceChildren();
    this.status.textContent = "";
    this.close();
  }
}

/** @param {Hit} hit @param {number} number */
function optionOf(hit, number) {
  const parts = [
    element("span", hit.title, { class: "search-title" }),
    element("span", hit.why, { class: "search-why" }),
  ];
  return element("a", parts, {
    role: "option",
    id: `search-option-${number}`,
    href: hit.url,
    tabindex: "-1",
    "aria-selected": "false",
  });
}
