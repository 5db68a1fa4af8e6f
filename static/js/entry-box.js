// The box of an entry page: whether this entry explains the pasted lines. Loaded when the box is opened.

import { headline, uniqueEntries } from "../engine/diagnose/text.js";
import { element } from "./dom.js";
import { ROOT, Run, fetchWords, handOver } from "./run.js";

/** @typedef {import("../engine/diagnose/text.js").Answer} Answer */
/** @typedef {import("./run.js").Entry} Entry */

/** Longer texts are better read on the page that is made for them. */
const MOST_IN_BOX = 200_000;

/** @param {HTMLElement} box */
export function serve(box) {
  const [field, status] = [box.querySelector("textarea"), box.querySelector("[role=status]")];
  if (field === null || !(status instanceof HTMLElement)) return;
  fetchWords().catch(() => {});
  /** @type {Run | null} */
  let run = null;
  const compare = async () => {
    run?.stop();
    if (field.value.trim() === "") {
      status.replaceChildren(element("p", {}, "Paste some lines first."));
      return;
    }
    const mine = new Run([{ name: "pasted text", text: field.value }]);
    run = mine;
    status.replaceChildren(element("p", {}, "Reading"));
    try {
      const [{ answer, why }, { names, entries }] = await Promise.all([mine.told, fetchWords()]);
      if (run !== mine) return;
      const told = headline(answer, { names, why, titles: {} });
      status.replaceChildren(element("p", {}, element("strong", {}, told)), ...comparison(answer, box.dataset.slug ?? "", entries));
    } catch {
      mine.stop();
      if (run === mine) status.replaceChildren(element("p", {}, "The engine could not answer."));
    }
  };
  const diagnose = () => {
    if (handOver(field.value)) location.assign(new URL("diagnose/", ROOT));
    else status.replaceChildren(element("p", {}, "This is too long to take along. Save it as a file and drop it on ", diagnoseLink(), "."));
  };
  for (const button of box.querySelectorAll("button")) {
    button.addEventListener("click", button.dataset.do === "compare" ? compare : diagnose);
    button.disabled = false;
  }
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) compare();
  });
  field.addEventListener("paste", (event) => {
    const text = event.clipboardData?.getData("text/plain") ?? "";
    if (text.length <= MOST_IN_BOX) return;
    event.preventDefault();
    if (handOver(text)) location.assign(new URL("diagnose/", ROOT));
    else status.replaceChildren(element("p", {}, "This is too long for the box. Save it as a file and drop it on ", diagnoseLink(), "."));
  });
}

function diagnoseLink() {
  return element("a", { href: new URL("diagnose/", ROOT).href }, "the diagnosis page");
}

/** What the answer means for this entry. @param {Answer} answer @param {string} slug @param {Record<string, Entry>} entries @returns {HTMLElement[]} */
export function comparison(answer, slug, entries) {
  const { candidates, entry_match: match, initiating: found } = answer;
  const best = match === "none" ? [] : uniqueEntries(candidates).filter(({ score }) => score === candidates[0].score);
  const here = candidates.find(({ entry }) => entry === slug);
  const others = best.filter(({ entry }) => entry !== slug).map(({ entry }) => link(entry, entries));
  const line = found?.line ? `line ${found.line}` : "the beginning";
  if (best.some(({ entry }) => entry === slug)) {
    if (others.length === 0) return [sentence(`It fits: this entry explains ${line}. A match is a lead; the check above confirms it.`)];
    return [sentence(`It may be this one: for ${line} these fit too, and their first checks tell them apart: `, ...listed(others))];
  }
  const aside = here === undefined ? "" : ` The message of this entry stands in line ${here.line}, but it did not start the failure.`;
  if (others.length > 0) return [sentence(`Not this one: ${line} is explained by `, ...listed(others), `.${aside}`)];
  if (found !== null) return [sentence(`Not this one: no entry explains ${line} yet.${aside}`)];
  if (here !== undefined) return [sentence(`The message of this entry stands in line ${here.line}, as a report. What started it is not in these lines.`)];
  return [sentence("Nothing in these lines is of this entry.")];
}

/** @param {...(Node | string)} parts */
function sentence(...parts) {
  return element("p", {}, ...parts);
}

/** @param {HTMLElement[]} links @returns {(Node | string)[]} */
function listed(links) {
  return links.flatMap((each, i) => (i > 0 ? [", ", each] : [each]));
}

/** @param {string} slug @param {Record<string, Entry>} entries */
function link(slug, entries) {
  const entry = entries[slug];
  return element("a", { href: new URL(entry?.url ?? `failures/${slug}/`, ROOT).href }, entry?.title ?? slug);
}
