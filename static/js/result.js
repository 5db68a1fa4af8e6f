// The answer as a page: the verdict, the line that began it, the entry, what to do, the lanes, and all the rest.

import { MOST_CANDIDATES, folded, headline, said, uniqueEntries } from "../engine/diagnose/text.js";
import { counted, element, sizeText } from "./dom.js";
import { draftPanel } from "./draft-entry.js";
import { lanesOf, ranksBrief, sign } from "./lanes.js";
import { LineViewer, lineRow } from "./line-viewer.js";
import { ROOT } from "./run.js";
import { shareOf } from "./share.js";

/** @typedef {import("../engine/diagnose/read.js").Item} Item */
/** @typedef {import("../engine/diagnose/text.js").Answer} Answer */
/** @typedef {import("../engine/diagnose/text.js").Candidate} Candidate */
/** @typedef {import("../engine/diagnose/text.js").Initiating} Initiating */
/** @typedef {import("../engine/diagnose/text.js").Place} Place */
/** @typedef {import("../engine/diagnose/text.js").Words} Words */
/** @typedef {import("./draft-entry.js").Fault} Fault */
/** @typedef {import("./run.js").Told} Told */
/** @typedef {import("./run.js").Entry} Entry */

/** @param {Told} told @param {Item[]} items @param {Words} words @param {Record<string, Entry>} entries */
export function resultOf(told, items, words, entries) {
  return new Result(told, items, words, entries).parts();
}

class Result {
  /** @param {Told} told @param {Item[]} items @param {Words} words @param {Record<string, Entry>} entries */
  constructor(told, items, words, entries) {
    this.told = told;
    this.answer = told.answer;
    this.words = words;
    this.entries = entries;
    this.viewer = new LineViewer(items, told.places ?? []);
    this.severalFiles = told.answer.inputs.length > 1;
  }

  /** @returns {HTMLElement[]} */
  parts() {
    const made = [
      this.verdict(),
      this.columns(),
      this.answer.initiating?.line === null ? null : this.ranks(),
      this.collateral(),
      this.others(),
      this.recovered(),
      this.unmatched(),
      this.answer.verdict === "clean" ? null : shareOf(this.told, this.words),
      this.inputs(),
      this.viewer.dialog,
    ];
    return made.filter((part) => part !== null);
  }

  verdict() {
    const { verdict } = this.answer;
    const { name, reading } = this.words.names.verdicts[verdict];
    return element(
      "header",
      { class: `verdict verdict-${verdict}` },
      element("p", { class: "verdict-name" }, name),
      element("h2", { id: "verdict" }, this.emptyText() ?? headline(this.answer, this.words)),
      element("p", { class: "verdict-reading" }, this.emptyText() === null ? reading : "There is no line in it."),
    );
  }

  emptyText() {
    return this.answer.inputs.every(({ bytes }) => bytes === 0) ? "The log is empty." : null;
  }

  columns() {
    if (this.answer.verdict === "clean") return this.emptyText() === null ? this.cleanAdvice() : null;
    const inferred = this.answer.initiating?.line === null;
    const left = element("div", { class: "told-beginning" }, this.beginning(), inferred && this.ranks());
    const right = element("div", { class: "told-next" }, this.lead(), this.next(), this.missing());
    return element("div", { class: `told-columns${this.answer.initiating === null ? " told-one" : ""}` }, this.answer.initiating !== null && left, right);
  }

  cleanAdvice() {
    return element(
      "p",
      {},
      "If the run did fail, the log of another rank or the launcher's output tells of it. If it hangs or its results are wrong, look through ",
      element("a", { href: new URL("failures/", ROOT).href }, "all failures"),
      ".",
    );
  }

  // --- the beginning ---------------------------------------------------------------------------------

  beginning() {
    const found = this.answer.initiating;
    if (found === null) return null;
    return element(
      "section",
      {},
      found.line === null ? this.absent(found) : this.specimen(found),
      found.why.length > 0 && element("h3", {}, "Why this one"),
      element("ul", { class: "why" }, ...found.why.map((why) => element("li", {}, ...this.linked(said(why, this.words), why[1].line, found.file)))),
    );
  }

  /** A reason, in which the number of a line leads to it. @param {string} text @param {string | number | undefined} line @param {string | null} file */
  linked(text, line, file) {
    if (typeof line !== "number" || file === null || !text.includes(`line ${line}`)) return [text];
    const [start, ...rest] = text.split(`line ${line}`);
    return [start, this.lineLink(file, line), rest.join(`line ${line}`)];
  }

  /** @param {Initiating} found */
  absent({ ranks }) {
    return element(
      "p",
      { class: "specimen silent told-absent" },
      element("span", { class: "specimen-text" }, `No line states it. It is inferred from what ${ranks.length > 0 ? "the other ranks" : "the ranks"} printed.`),
    );
  }

  /** The line with its neighbours, set like the messages of entries. @param {Initiating} found */
  specimen(found) {
    const [file, line] = [found.file ?? "", found.line ?? 0];
    const rows = this.told.context.map(({ number, text, chosen }) => lineRow(number, text, chosen));
    const own = found.role === "cause" || found.role === "local";
    const role = own ? "the failure itself" : this.words.names.roles[found.role];
    return element(
      "figure",
      { class: `specimen told-specimen${own ? " role-cause" : ""}` },
      element(
        "figcaption",
        { class: "specimen-edge" },
        element("span", { class: "specimen-role" }, role ?? found.role),
        found.ranks.length > 0 && element("span", {}, ranksBrief(found.ranks)),
        found.node !== null && element("span", {}, `on ${found.node}`),
        found.time !== null && element("span", {}, found.time),
        element("span", { class: "specimen-id" }, this.lineLink(file, line, `${file}:${line}`)),
      ),
      element("div", { class: "told-lines" }, ...(rows.length > 0 ? rows : [lineRow(line, found.text ?? "", true)])),
    );
  }

  // --- what to do ------------------------------------------------------------------------------------

  lead() {
    const { entry_match: match, candidates, initiating } = this.answer;
    if (match === "none" || initiating === null) {
      return element("section", {}, element("h3", {}, "Entry"), element("p", {}, this.words.names.no_entry), this.draftOfBeginning());
    }
    const best = candidates[0].score;
    const rows = uniqueEntries(candidates).filter(({ score }) => score === best);
    const heading = match === "unique" ? "The entry" : "Entries";
    return element(
      "section",
      { class: "told-entry" },
      element("h3", {}, heading),
      element("p", { class: "note" }, this.words.names.matches[match]),
      ...rows.map((row) => this.entryCard(row, rows.length === 1)),
    );
  }

  /** @param {Candidate} row @param {boolean} whole whether what to do is told here too */
  entryCard({ entry: slug }, whole) {
    const entry = this.entries[slug];
    if (entry === undefined) return element("p", {}, slug);
    return element(
      "div",
      { class: "told-card" },
      element("p", { class: "told-title" }, entryLink(slug, entry)),
      element("p", {}, entry.summary),
      !whole && element("p", { class: "note" }, element("strong", {}, "First check: "), entry.first_check.step),
    );
  }

  next() {
    const { next_action: action, initiating } = this.answer;
    const entry = this.answer.entry_match === "unique" && initiating?.entry ? this.entries[initiating.entry] : undefined;
    if (entry !== undefined) return this.nextOfEntry(entry);
    return element(
      "section",
      {},
      element("h3", {}, "Do now"),
      element("p", {}, action.text),
      action.command !== null && command(action.command),
      action.restart_helps !== null && restart(action.restart_helps, "", this.words),
    );
  }

  /** @param {Entry} entry */
  nextOfEntry({ do_now: now, first_check: check }) {
    return element(
      "section",
      {},
      element("h3", {}, "Is it this one?"),
      element("p", {}, check.step),
      check.command !== null && command(check.command),
      element(
        "dl",
        { class: "outcomes" },
        element("div", { class: "yes" }, element("dt", {}, "Yes"), element("dd", {}, check.yes)),
        element("div", { class: "no" }, element("dt", {}, "No"), element("dd", {}, check.no)),
      ),
      element("h3", {}, "Do now"),
      element("ol", {}, ...now.steps.map((step) => element("li", {}, step))),
      restart(now.restart, now.restart_why, this.words),
    );
  }

  missing() {
    const missing = this.answer.missing_fact;
    if (missing === null || (missing.id === "first-check" && this.answer.entry_match === "candidate")) return null;
    return element(
      "section",
      { class: "told-missing" },
      element("h3", {}, "To be surer, get this"),
      element("p", {}, missing.text),
      missing.command !== null && command(missing.command),
    );
  }

  // --- who said what ---------------------------------------------------------------------------------

  ranks() {
    const lanes = this.told.lanes;
    if (lanes.every(({ events }) => events.length === 0)) return null;
    const ranks = lanes.filter(({ rank }) => rank !== null).length;
    return element(
      "section",
      {},
      element("h3", { id: "ranks" }, ranks > 0 ? `What each of ${counted(ranks, "rank")} printed` : "What was printed"),
      lanesOf(lanes, this.answer.initiating, this.words.names, (file, line) => this.viewer.open(file, line)),
    );
  }

  collateral() {
    const rows = folded(this.answer.collateral, this.words.names);
    if (rows.length === 0) return null;
    const lines = rows.reduce((sum, { count }) => sum + count, 0);
    const items = rows.map((row) =>
      element(
        "li",
        {},
        sign(row.role),
        element("span", { class: "reported" }, this.reportText(row), ", ", this.lineLink(row.file, row.line)),
        element("code", { class: "reported-text" }, row.text),
        row.entry !== null && this.entries[row.entry] !== undefined && element("span", { class: "note" }, "explained by ", entryLink(row.entry, this.entries[row.entry])),
      ),
    );
    return element(
      "details",
      { class: "part", open: this.answer.initiating === null ? "" : null },
      element("summary", {}, element("h3", {}, "Not what started it"), element("span", { class: "note" }, `${counted(lines, "line")} of ${counted(rows.length, "kind")}`)),
      element("ul", { class: "reports" }, ...items),
    );
  }

  /** @param {import("../engine/diagnose/text.js").Collateral} row */
  reportText({ count, role, ranks }) {
    const by = ranks.length > 0 ? `, ${ranksBrief(ranks)}` : "";
    return `${this.words.names.roles[role]}${count > 1 ? ` ${count.toLocaleString("en")} times` : ""}${by}`;
  }

  others() {
    const top = this.answer.entry_match === "none" ? Infinity : this.answer.candidates[0].score;
    const rows = uniqueEntries(this.answer.candidates).filter(({ score, entry }) => score < top && entry !== this.answer.initiating?.entry);
    if (rows.length === 0) return null;
    const items = rows.slice(0, MOST_CANDIDATES).map(({ entry, file, line }) =>
      element("li", {}, this.entries[entry] === undefined ? entry : entryLink(entry, this.entries[entry]), " ", element("span", { class: "note" }, this.lineLink(file, line))),
    );
    return element("section", {}, element("h3", {}, "Entries that explain other lines here"), element("ul", { class: "plain" }, ...items));
  }

  recovered() {
    return this.places("The run went on after", "These were got over, so they did not start it.", this.answer.recovered, () => null);
  }

  unmatched() {
    const found = this.answer.initiating;
    const rows = this.answer.unmatched.filter(({ file, line }) => file !== found?.file || line !== found.line);
    const more = (/** @type {Place} */ place) => this.draftButton({ ...place, ranks: [], allRanks: false });
    return this.places("Error lines that no entry explains", "", rows, more);
  }

  /** @param {string} title @param {string} note @param {Place[]} rows @param {(place: Place) => HTMLElement | null} more */
  places(title, note, rows, more) {
    if (rows.length === 0) return null;
    const items = rows.map((row) =>
      element("li", {}, sign("consequence"), element("span", { class: "reported" }, this.lineLink(row.file, row.line)), element("code", { class: "reported-text" }, row.text), more(row)),
    );
    return element(
      "details",
      { class: "part" },
      element("summary", {}, element("h3", {}, title), element("span", { class: "note" }, counted(rows.length, "line"))),
      note !== "" && element("p", { class: "note" }, note),
      element("ul", { class: "reports" }, ...items),
    );
  }

  // --- drafts ----------------------------------------------------------------------------------------

  draftOfBeginning() {
    const found = this.answer.initiating;
    if (found === null || found.line === null || found.file === null || found.text === null) return null;
    if (found.role !== "cause") return null;
    return this.draftButton({ file: found.file, line: found.line, text: found.text, ranks: found.ranks, allRanks: found.symmetric });
  }

  /** @param {Fault} fault */
  draftButton(fault) {
    const button = element("button", { class: "button", type: "button" }, "Draft an entry for it");
    const box = element("div", { class: "draft-box" }, button);
    button.addEventListener("click", async () => {
      button.disabled = true;
      try {
        const panel = await draftPanel(fault, this.viewer);
        box.replaceChildren(panel);
        panel.focus();
      } catch {
        button.disabled = false;
        box.append(element("p", { class: "note", role: "alert" }, "The draft could not be made: the log or the skeleton can't be read."));
      }
    });
    return box;
  }

  // --- the rest --------------------------------------------------------------------------------------

  inputs() {
    const { inputs } = this.answer;
    const bytes = inputs.reduce((sum, each) => sum + each.bytes, 0);
    const lines = inputs.reduce((sum, each) => sum + each.lines, 0);
    const text = `${inputs.length === 1 ? inputs[0].file : counted(inputs.length, "file")}: ${counted(lines, "line")}, ${sizeText(bytes)}, read in ${secondsText(this.told.seconds)}`;
    if (inputs.length === 1) return element("p", { class: "note inputs" }, text);
    const rows = inputs.map(({ file, lines: count, bytes: size, ranks }) =>
      element("tr", {}, element("th", { scope: "row" }, file), element("td", {}, count.toLocaleString("en")), element("td", {}, sizeText(size)), element("td", {}, ranks.length > 0 ? ranksBrief(ranks) : "not told")),
    );
    const head = ["File", "Lines", "Size", "Ranks in it"].map((name) => element("th", { scope: "col" }, name));
    return element(
      "details",
      { class: "inputs" },
      element("summary", { class: "note" }, text),
      element("div", { class: "scroll", role: "region", "aria-label": "Files that were read", tabindex: "0" }, element("table", {}, element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...rows))),
    );
  }

  /** @param {string} file @param {number} line @param {string} [text] */
  lineLink(file, line, text = this.severalFiles ? `${file}, line ${line}` : `line ${line}`) {
    const link = element("button", { class: "line-link", type: "button", "aria-haspopup": "dialog" }, text);
    link.addEventListener("click", () => this.viewer.open(file, line));
    return link;
  }
}

/** @param {string} slug @param {Entry} entry */
export function entryLink(slug, entry) {
  const families = document.getElementById("main")?.dataset.families ?? "";
  const signs = new Map(families.split(" ").map((pair) => /** @type {[string, string]} */ (pair.split(":"))));
  return element(
    "a",
    { class: "entry-link", href: new URL(entry.url, ROOT).href, "data-entry": slug },
    signs.has(entry.family) && element("span", { class: `symbol of-${entry.family}`, "aria-hidden": "true" }, signs.get(entry.family)),
    element("span", {}, entry.title),
  );
}

/** @param {string} helps @param {string} why @param {Words} words */
function restart(helps, why, words) {
  return element("p", { class: `restart restart-${helps}` }, element("strong", {}, `Does a plain restart help: ${words.names.restarts[helps] ?? helps}.`), why !== "" && ` ${why}`);
}

/** @param {string} text */
function command(text) {
  return element(
    "div",
    { class: "command" },
    element("pre", { tabindex: "0" }, element("code", {}, text)),
    element("button", { class: "copy", type: "button", "data-copy": text, "aria-label": "Copy the command" }, "Copy"),
  );
}

/** @param {number} seconds */
function secondsText(seconds) {
  return seconds < 0.1 ? `${Math.max(1, Math.round(seconds * 1000))} ms` : `${seconds.toFixed(1)} s`;
}
