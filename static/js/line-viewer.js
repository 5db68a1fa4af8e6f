// The lines of a log around one of them, in a dialog, read again from where they lie.

import { safe } from "../engine/diagnose/text.js";
import { linesOf } from "../engine/lines.js";
import { element } from "./dom.js";

/** @typedef {import("../engine/diagnose/read.js").Item} Item */
/** @typedef {import("../engine/lines.js").Places} Places */
/** @typedef {import("../engine/lines.js").Row} Row */

const AROUND = 20;
const MORE = 60;

export class LineViewer {
  /** @param {Item[]} items @param {{file: string, every: Places}[]} places */
  constructor(items, places) {
    this.items = new Map(items.map((item) => [item.name, item]));
    this.places = new Map(places.map(({ file, every }) => [file, every]));
    this.title = element("h2", { id: "viewer-title" });
    this.note = element("p", { class: "note", role: "status" });
    this.rows = element("div", { class: "viewer-rows", tabindex: "0", role: "region", "aria-labelledby": "viewer-title" });
    this.earlier = this.button("Earlier lines", () => this.show(this.first - MORE, this.last));
    this.later = this.button("Later lines", () => this.show(this.first, this.last + MORE));
    const close = this.button("Close", () => this.dialog.close());
    const head = element("div", { class: "viewer-head" }, this.title, this.earlier, this.later, close);
    this.dialog = element("dialog", { class: "viewer", "aria-labelledby": "viewer-title" }, head, this.note, this.rows);
    this.dialog.addEventListener("click", (event) => {
      if (event.target === this.dialog) this.dialog.close();
    });
    this.file = "";
    this.line = 0;
    this.first = 0;
    this.last = 0;
  }

  /** @param {string} text @param {() => void} act */
  button(text, act) {
    const made = element("button", { class: "button", type: "button" }, text);
    made.addEventListener("click", act);
    return made;
  }

  /** Opens the dialog at a line. @param {string} file @param {number} line */
  open(file, line) {
    [this.file, this.line] = [file, line];
    this.title.replaceChildren(safe(file), element("span", { class: "note" }, ` line ${line}`));
    this.rows.replaceChildren();
    if (!this.dialog.open) this.dialog.showModal();
    return this.show(line - AROUND, line + AROUND);
  }

  /** @param {number} first @param {number} last */
  async show(first, last) {
    const [file, line] = [this.file, this.line];
    [this.first, this.last] = [Math.max(1, first), last];
    this.note.textContent = "Reading";
    try {
      const rows = await this.read(file, this.first, this.last);
      if (file !== this.file || line !== this.line) return;
      this.note.textContent = rows.length === 0 ? "These lines are not there." : "";
      this.fill(rows);
    } catch {
      this.note.textContent = "The file can't be read any more. Was it moved or changed?";
    }
  }

  /** Lines of a file; rejects where it can't be read any more. @param {string} file @param {number} first @param {number} last */
  async read(file, first, last) {
    const item = this.items.get(file);
    return item === undefined ? [] : await linesOf(item, this.places.get(file) ?? [], first, last);
  }

  /** @param {Row[]} rows */
  fill(rows) {
    this.earlier.disabled = this.first === 1;
    this.later.disabled = rows.length === 0 || rows[rows.length - 1].number < this.last;
    const kept = this.rows.scrollHeight - this.rows.scrollTop;
    const grew = this.rows.childElementCount > 0 && Number(this.rows.dataset.first) > this.first;
    this.rows.replaceChildren(...rows.map((row) => lineRow(row.number, row.text, row.number === this.line)));
    this.rows.dataset.first = String(this.first);
    if (grew) this.rows.scrollTop = this.rows.scrollHeight - kept;
    else this.rows.querySelector(".chosen")?.scrollIntoView({ block: "center", behavior: "instant" });
  }
}

/** A line with its number. @param {number} number @param {string} text @param {boolean} chosen */
export function lineRow(number, text, chosen) {
  return element(
    "div",
    { class: `line${chosen ? " chosen" : ""}` },
    element("span", { class: "line-number" }, String(number)),
    element("code", { class: "line-text" }, text),
  );
}
