// The answer to take along, as Markdown or JSON, with names, hosts, addresses and tokens replaced first.

import { toJson } from "../engine/diagnose/report.js";
import { markdown } from "../engine/diagnose/text.js";
import { KINDS, countsOf, redactedJson, redactionsOf, redactor } from "../engine/redact.js";
import { counted, element } from "./dom.js";

/** @typedef {import("../engine/redact.js").Redaction} Redaction */
/** @typedef {import("../engine/diagnose/text.js").Words} Words */
/** @typedef {import("./run.js").Told} Told */

/** @type {Record<string, [string, string]>} */
const KIND_NAMES = {
  token: ["token", "tokens"],
  "e-mail": ["e-mail address", "e-mail addresses"],
  address: ["network address", "network addresses"],
  host: ["host name", "host names"],
  user: ["user name", "user names"],
};

/** All texts of a value that is JSON. @param {unknown} value @returns {string[]} */
function textsOf(value) {
  if (typeof value === "string") return [value];
  if (value === null || typeof value !== "object") return [];
  return Object.values(value).flatMap(textsOf);
}

/** @param {Told} told @param {Words} words */
export function shareOf(told, words) {
  const texts = textsOf(told.answer);
  const node = told.answer.initiating?.node;
  const redactions = redactionsOf(texts, node ? [node] : []);
  const preview = element("code");
  const copyMarkdown = copyButton("Copy as Markdown");
  const copyJson = copyButton("Copy as JSON");
  const apply = (/** @type {Redaction[]} */ active) => {
    const [answer, context] = redactedJson([told.answer, told.context], redactor(active));
    copyMarkdown.dataset.copy = markdown(answer, context, words);
    copyJson.dataset.copy = toJson(answer).trimEnd();
    preview.textContent = copyMarkdown.dataset.copy;
  };
  apply(redactions);
  return element(
    "section",
    { class: "share" },
    element("h3", { id: "share" }, "Take it along"),
    element("div", { class: "intake-row" }, copyMarkdown, copyJson),
    redactionList(redactions, countsOf(texts, redactions), apply),
    element(
      "details",
      {},
      element("summary", {}, "What the Markdown says"),
      element("pre", { class: "code", tabindex: "0" }, preview),
    ),
  );
}

/** @param {string} text */
function copyButton(text) {
  return element("button", { class: "button", type: "button", "data-copy": "" }, text);
}

/**
 * What is replaced, to be looked through; what is unticked stays as it is.
 * @param {Redaction[]} redactions @param {number[]} counts @param {(active: Redaction[]) => void} apply
 */
export function redactionList(redactions, counts, apply) {
  if (redactions.length === 0) {
    return element("p", { class: "note" }, "No user name, host, address or token was found in it. Look it through before you pass it on.");
  }
  const rows = redactions.map((redaction, i) => ({ redaction, count: counts[i], box: element("input", { type: "checkbox", id: `redact-${++made}` }) }));
  for (const { box } of rows) {
    box.checked = true;
    box.addEventListener("change", () => apply(rows.filter((row) => row.box.checked).map(({ redaction }) => redaction)));
  }
  const kinds = KINDS.map((kind) => [kind, rows.filter(({ redaction }) => redaction.kind === kind).length]);
  const summary = kinds.filter(([, count]) => Number(count) > 0).map(([kind, count]) => counted(Number(count), ...KIND_NAMES[kind]));
  const items = rows.map(({ redaction, count, box }) =>
    element(
      "li",
      {},
      box,
      element("label", { for: box.id }, element("code", {}, redaction.found), " becomes ", element("code", {}, redaction.shown)),
      element("span", { class: "note" }, `${KIND_NAMES[redaction.kind][0]}, ${counted(count, "time")}`),
    ),
  );
  return element(
    "details",
    { class: "redactions", open: rows.length <= 6 ? "" : null },
    element("summary", {}, `Replaced in what is copied: ${summary.join(", ")}`),
    element("ul", { class: "plain" }, ...items),
    element("p", { class: "note" }, "Names that look like ordinary words are not found. Look it through before you pass it on."),
  );
}

/** How many boxes there are; each has an id of its own. */
let made = 0;
