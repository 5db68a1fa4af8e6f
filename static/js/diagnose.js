// The page /diagnose/: takes logs, runs the engine on them, shows what it answers. Everything stays in the tab.

import { byId, counted, element, sizeText } from "./dom.js";
import { isOfFiles, ofChooser, ofDrop } from "./inputs.js";
import { Run, RunError, fetchWords, takeOver } from "./run.js";

/** @typedef {import("../engine/diagnose/read.js").Item} Item */
/** @typedef {import("./inputs.js").Inputs} Inputs */
/** @typedef {{name: string, reason: string}} Unread */

const PASTED = "pasted text";
/** A longer text isn't put into the field, in which a browser would be slow. */
const MOST_IN_FIELD = 200_000;
const SPEED_AFTER_MS = 300;

/** What shows an answer: loaded when somebody begins. */
const load = () => Promise.all([fetchWords(), import("./result.js"), import("../engine/diagnose/text.js")]);

class Page {
  constructor() {
    this.main = byId("main", HTMLElement);
    this.intake = byId("intake", HTMLFormElement);
    this.field = byId("log", HTMLTextAreaElement);
    this.drop = byId("drop", HTMLElement);
    this.running = byId("running", HTMLElement);
    this.text = byId("running-text", HTMLElement);
    this.bar = byId("running-bar", HTMLProgressElement);
    this.told = byId("told", HTMLElement);
    this.notices = byId("notices", HTMLElement);
    this.beside = byId("beside", HTMLElement);
    this.spoken = byId("spoken", HTMLElement);
    this.skipped = (this.main.dataset.skipped ?? "").split(" ");
    /** The name of what stands in the field: that of the sample, until it is changed. */
    this.name = PASTED;
    /** @type {Run | null} */
    this.run = null;
  }

  listen() {
    const [files, folder] = [byId("files", HTMLInputElement), byId("folder", HTMLInputElement)];
    folder.webkitdirectory = true;
    byId("choose-files", HTMLElement).addEventListener("click", () => files.click());
    byId("choose-folder", HTMLElement).addEventListener("click", () => folder.click());
    for (const chooser of [files, folder]) {
      chooser.addEventListener("change", async () => {
        const chosen = [...(chooser.files ?? [])];
        chooser.value = "";
        if (chosen.length > 0) await this.take(ofChooser(chosen, this.skipped));
      });
    }
    this.intake.addEventListener("submit", (event) => {
      event.preventDefault();
      this.submit();
    });
    this.field.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) this.submit();
    });
    this.field.addEventListener("input", () => {
      this.name = PASTED;
    });
    this.field.addEventListener("paste", (event) => this.paste(event));
    this.field.addEventListener("focus", () => load().catch(() => {}));
    byId("stop", HTMLElement).addEventListener("click", () => this.stop());
    this.listenToDrops();
    this.listenToSamples();
  }

  listenToDrops() {
    document.addEventListener("dragover", (event) => {
      if (event.dataTransfer === null || !isOfFiles(event.dataTransfer)) return;
      event.preventDefault();
      this.drop.classList.add("over");
    });
    document.addEventListener("dragleave", (event) => {
      if (event.relatedTarget === null) this.drop.classList.remove("over");
    });
    document.addEventListener("drop", (event) => {
      this.drop.classList.remove("over");
      if (event.dataTransfer === null || !isOfFiles(event.dataTransfer)) return;
      event.preventDefault();
      this.take(ofDrop(event.dataTransfer, this.skipped));
    });
  }

  listenToSamples() {
    for (const button of document.querySelectorAll("button[data-sample]")) {
      if (!(button instanceof HTMLElement)) continue;
      button.addEventListener("click", async () => {
        const path = button.dataset.sample ?? "";
        const response = await fetch(path).catch(() => null);
        if (!response?.ok) {
          this.fail("The sample could not be loaded.", []);
          return;
        }
        const name = path.slice(path.lastIndexOf("/") + 1);
        this.start([{ name, text: this.fill(await response.text(), name) }], []);
      });
    }
  }

  /** Puts a text into the field, if it isn't too long for it. @param {string} text @param {string} name */
  fill(text, name) {
    this.field.value = text.length > MOST_IN_FIELD ? "" : text;
    this.name = name;
    return text;
  }

  /** @param {ClipboardEvent} event */
  paste(event) {
    const text = event.clipboardData?.getData("text/plain") ?? "";
    if (text.length <= MOST_IN_FIELD) return;
    event.preventDefault();
    this.start([{ name: PASTED, text }], []);
  }

  submit() {
    if (this.field.value.trim() === "") {
      this.fail("There is nothing to read yet. Paste some lines, drop files, or try one of the samples.", []);
      this.field.focus();
    } else {
      this.start([{ name: this.name, text: this.field.value }], []);
    }
  }

  /** @param {Promise<Inputs>} reading */
  async take(reading) {
    try {
      const { items, problems } = await reading;
      if (items.length > 0) await this.start(items, problems);
      else this.fail("Nothing of this could be read.", problems);
    } catch {
      this.fail("The files could not be listed.", []);
    }
  }

  /** @param {Item[]} items @param {Unread[]} problems */
  async start(items, problems) {
    this.run?.stop();
    const unread = [...problems];
    const begun = performance.now();
    const run = new Run(
      items,
      (bytes, total) => this.progress(bytes, total, performance.now() - begun),
      ({ name, code, reason }) =>
        unread.push({ name, reason: code === "zstd" ? `${reason}; the command line does: firstfault diagnose ${name}` : reason }),
    );
    this.run = run;
    this.show("running");
    this.text.textContent = `Reading ${items.length === 1 ? items[0].name : counted(items.length, "file")}`;
    this.bar.removeAttribute("value");
    try {
      const [told, [{ names, entries }, { resultOf }, { headline }]] = await Promise.all([run.told, load()]);
      if (this.run !== run) return;
      const titles = Object.fromEntries(Object.entries(entries).map(([slug, { title }]) => [slug, title]));
      const words = { names, why: told.why, titles };
      this.told.replaceChildren(this.again(), ...this.unread(unread), ...resultOf(told, items, words, entries));
      this.show("told");
      this.spoken.textContent = headline(told.answer, words);
      this.told.focus();
    } catch (error) {
      if (this.run !== run) return;
      run.stop();
      this.fail(error instanceof RunError && error.message === "none" ? "Nothing of this could be read." : "The engine could not answer.", unread);
    }
  }

  /** @param {number} bytes @param {number} total @param {number} milliseconds */
  progress(bytes, total, milliseconds) {
    if (total > 0) this.bar.value = bytes / total;
    const speed = milliseconds > SPEED_AFTER_MS ? `, ${sizeText((bytes * 1000) / milliseconds)} a second` : "";
    this.text.textContent = `Read ${sizeText(bytes)} of ${sizeText(total)}${speed}`;
  }

  stop() {
    this.run?.stop();
    this.run = null;
    this.show("intake");
    this.spoken.textContent = "Stopped.";
    this.field.focus();
  }

  /** @param {"intake" | "running" | "told"} part */
  show(part) {
    this.intake.hidden = part !== "intake";
    this.beside.hidden = part !== "intake";
    this.running.hidden = part !== "running";
    this.told.hidden = part !== "told";
    this.notices.hidden = true;
    this.main.dataset.shows = part;
  }

  /** What went wrong, above the field. @param {string} text @param {Unread[]} problems */
  fail(text, problems) {
    this.show("intake");
    this.notices.replaceChildren(element("p", { class: "notice" }, text), ...this.unread(problems));
    this.notices.hidden = false;
    this.spoken.textContent = text;
  }

  /** @param {Unread[]} problems */
  unread(problems) {
    if (problems.length === 0) return [];
    const rows = problems.map(({ name, reason }) => element("li", {}, element("code", {}, name), ` ${reason}`));
    return [
      element(
        "div",
        { class: "notice" },
        element("p", {}, element("strong", {}, `Not read: ${counted(problems.length, "input")}`)),
        element("ul", {}, ...rows),
      ),
    ];
  }

  again() {
    const button = element("button", { class: "button again", type: "button" }, "Another log");
    button.addEventListener("click", () => {
      this.told.replaceChildren();
      this.show("intake");
      this.field.focus();
      this.field.select();
    });
    return button;
  }
}

const page = new Page();
page.listen();
const handedOver = takeOver();
if (handedOver !== null) page.start([{ name: PASTED, text: page.fill(handedOver, PASTED) }], []);
