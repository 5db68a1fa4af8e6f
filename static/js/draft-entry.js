// An error that no entry explains → the two files of a new entry, to look through and to download.

import { draftOf } from "../engine/draft.js";
import { countsOf, redactionsOf, redactor } from "../engine/redact.js";
import { element } from "./dom.js";
import { ROOT } from "./run.js";
import { redactionList } from "./share.js";

/** @typedef {import("../engine/lines.js").Row} Row */
/** @typedef {import("./line-viewer.js").LineViewer} LineViewer */
/** The error, and who made it. @typedef {{file: string, line: number, text: string, ranks: number[], allRanks: boolean}} Fault */

const BEFORE = 200;
const AFTER = 80;
const LOG = "run.log";

/** A panel with both files; rejects where the log or the skeleton can't be read. @param {Fault} fault @param {LineViewer} viewer @returns {Promise<HTMLElement>} */
export async function draftPanel(fault, viewer) {
  const response = await fetch(new URL("diagnose/draft.yaml", ROOT));
  if (!response.ok) throw new Error(`draft.yaml: ${response.status}`);
  const skeleton = await response.text();
  const rows = await viewer.read(fault.file, Math.max(1, fault.line - BEFORE), fault.line + AFTER);
  const place = 1 + placeOf(rows, fault);
  const log = `${rows.map(({ text }) => text).join("\n")}\n`;
  const day = new Date().toISOString().slice(0, 10);
  const { ranks, allRanks } = fault;
  const yaml = draftOf(skeleton, { title: fault.text, message: fault.text, day, line: place, ranks, allRanks });
  const redactions = redactionsOf([log, yaml]);
  const [yamlFile, logFile] = [new Download("entry.yaml", "text/yaml"), new Download(LOG, "text/plain")];
  const preview = element("code");
  const apply = (/** @type {typeof redactions} */ active) => {
    const redact = redactor(active);
    yamlFile.offer(redact(yaml));
    logFile.offer(redact(log));
    preview.textContent = redact(yaml);
  };
  apply(redactions);
  return element(
    "div",
    { class: "draft", tabindex: "-1" },
    element(
      "p",
      {},
      "A short entry with what this log tells. Put both files into a folder ",
      element("code", {}, "content/failures/your-slug/"),
      ", fill in what has no value, and run ",
      element("code", {}, "python build.py check"),
      ". ",
      element("a", { href: new URL("contribute/", ROOT).href }, "How to add a failure"),
    ),
    element("div", { class: "intake-row" }, yamlFile.link, logFile.link, element("span", { class: "note" }, `${LOG}: lines ${rows[0]?.number ?? 1} to ${rows.at(-1)?.number ?? 1} of the log`)),
    redactionList(redactions, countsOf([log, yaml], redactions), apply),
    element("details", {}, element("summary", {}, "The entry"), element("pre", { class: "code", tabindex: "0" }, preview)),
  );
}

/** Which row is the error: a line that a progress bar drew over has several. @param {Row[]} rows @param {Fault} fault */
function placeOf(rows, { line, text }) {
  const exact = rows.findIndex((row) => row.number === line && row.text === text);
  return Math.max(0, exact === -1 ? rows.findIndex(({ number }) => number === line) : exact);
}

/** A link that downloads a text; the former text is let go. */
class Download {
  /** @param {string} name @param {string} type */
  constructor(name, type) {
    this.type = type;
    this.link = element("a", { class: "button", download: name }, `Download ${name}`);
  }

  /** @param {string} text */
  offer(text) {
    if (this.link.href !== "") URL.revokeObjectURL(this.link.href);
    this.link.href = URL.createObjectURL(new Blob([text], { type: this.type }));
  }
}
