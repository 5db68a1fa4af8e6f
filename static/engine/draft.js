/**
 * An error that no entry explains → the files of a new short entry. What only a person can say stays without a value.
 * The skeleton is the one of `new` (generator/scaffold.py), with marks that the build put there.
 */
import { TemplateError, compileTemplate } from "./signature.js";

/** @typedef {{title: string, message: string, day: string, line: number, ranks: number[], allRanks: boolean}} Known */

const LONGEST_TITLE = 120;

/** The YAML of the entry. @param {string} skeleton @param {Known} known what the log tells; `line` counts in the log beside it */
export function draftOf(skeleton, { title, message, day, line, ranks, allRanks }) {
  const ranksLine = ranks.length > 0 ? `    ranks: [${ranks.join(", ")}]\n` : "";
  return skeleton
    .replace('"@title@"', () => quoted(titleOf(title)))
    .replace('"@message@"', () => quoted(templateOf(message)))
    .replaceAll("1000-01-01", day)
    .replace("printed_by: failing-rank", () => `printed_by: ${allRanks ? "all-ranks" : "failing-rank"}`)
    .replace("    says: initiating\n", () => `    says: initiating\n    line: ${line}\n${ranksLine}`);
}

/** A message as a template: without its rank's prefix, numbers as holes where the language allows that. Twin of scaffold.template_of. @param {string} message */
export function templateOf(message) {
  const literal = withoutPrefix(message).replaceAll("{", "{{").replaceAll("}", "}}");
  const holes = literal.replace(/(?<![\w.{-])-?[0-9]+(?![\w.}])/g, "{int}");
  try {
    compileTemplate(holes);
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    return literal;
  }
  return holes;
}

/** @param {string} message */
function withoutPrefix(message) {
  return message
    .split(/\s+/)
    .filter((word) => word !== "")
    .join(" ")
    .replace(/^\s*(?:\[(?:rank|default)?[0-9]+\]:?|[0-9]+:)\s*/, "");
}

/** @param {string} text */
function titleOf(text) {
  const bare = withoutPrefix(text);
  return bare.length <= LONGEST_TITLE ? bare : `${bare.slice(0, LONGEST_TITLE).replace(/\s+\S*$/, "")}`;
}

/** The text as a YAML scalar in double quotes; nothing where there is no text. @param {string} text */
function quoted(text) {
  const printable = text.replace(/[\p{C}\p{Z}]/gu, (character) => (character === " " ? " " : "")).trim();
  return printable === "" ? "" : JSON.stringify(printable);
}
