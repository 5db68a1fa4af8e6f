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

/**
 * What varies from run to run: paths, what stands for a name that was taken out, numbers; and the hole for it.
 * @type {[RegExp, string][]}
 */
const VARYING = [
  [/(?<![\w.:/\\-])(?:[A-Za-z]:[/\\]|\/)(?:[\w.@+=-]+[/\\])+[\w.@+=-]*/g, "{path}"],
  [/\[token [0-9]+\]/g, "{word}"],
  [/(?<![\w.-])user-[0-9]+@example\.com/g, "{word}@{word}"],
  [/(?<![\w.-])(?:host-[0-9]+|192\.0\.2\.[0-9]+|2001:db8::[0-9a-f]+)(?::[0-9]+)?(?![\w-])/g, "{word}"],
  [/(?<![\w.{-])-?[0-9]+(?![\w.}])/g, "{int}"],
];

/** A message as a template: without its rank's prefix, what varies as holes where the language allows that. Twin of scaffold.template_of. @param {string} message */
export function templateOf(message) {
  return VARYING.reduce(
    (template, [pattern, hole]) => {
      const holes = template.replace(pattern, hole);
      return isTemplate(holes) ? holes : template;
    },
    withoutPrefix(message).replaceAll("{", "{{").replaceAll("}", "}}"),
  );
}

/** @param {string} text */
function isTemplate(text) {
  try {
    compileTemplate(text);
  } catch (error) {
    if (error instanceof TemplateError) return false;
    throw error;
  }
  return true;
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
