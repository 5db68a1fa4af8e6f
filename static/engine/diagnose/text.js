/**
 * The answer in words, and as Markdown for a ticket. Twin of generator/diagnose/text.py.
 * What codes are called stands in words.json, which both read.
 */

import { HIDDEN } from "../hidden.js";

/** @typedef {{file: string, line: number, text: string}} Place */
/** @typedef {[string, Record<string, string | number>]} Why */
/**
 * @typedef {{entry: string | null, signature: string | null, role: string, rank: number | null, ranks: number[], symmetric: boolean,
 *   node: string | null, file: string | null, line: number | null, time: string | null, text: string | null,
 *   captures: Record<string, string>, why: Why[]}} Initiating
 */
/** @typedef {{entry: string, signature: string, file: string, line: number, score: number, why: Why[]}} Candidate */
/** @typedef {{entry: string | null, role: string, ranks: number[], count: number, file: string, line: number, text: string}} Collateral */
/**
 * @typedef {{schema: number, verdict: string, entry_match: string, initiating: Initiating | null, candidates: Candidate[],
 *   collateral: Collateral[], recovered: Place[], attempts: number,
 *   missing_fact: {id: string, text: string, command: string | null} | null,
 *   next_action: {text: string, command: string | null, restart_helps: string | null},
 *   unmatched: Place[], inputs: {file: string, lines: number, bytes: number, ranks: number[]}[]}} Answer
 */
/** A line around the beginning; `chosen` is the line itself. @typedef {{number: number, text: string, chosen: boolean}} Shown */
/**
 * @typedef {{verdicts: Record<string, {headline: string, name: string, reading: string}>, roles: Record<string, string>,
 *   folded: string[], matches: Record<string, string>, no_entry: string, no_rank: string, restarts: Record<string, string>}} Names
 */
/** What the codes of an answer mean. @typedef {{names: Names, why: Record<string, string>, titles: Record<string, string>}} Words */

export const MOST_COLLATERAL = 8;
export const MOST_CANDIDATES = 5;
const SHOWN_OF_COLLATERAL = 120;
const UNSAFE = new RegExp(`[${HIDDEN}\\t\\n\\r\\ud800-\\udfff]`, "gu");

/** Without what a terminal would obey or hide. @param {string} text */
export function safe(text) {
  return text.replace(UNSAFE, " ");
}

/** A code of `why` in words. @param {Why} why @param {Words} words */
export function said([code, parameters], words) {
  let text = words.why[code];
  for (const [name, value] of Object.entries(parameters)) text = text.replaceAll(`{${name}}`, () => String(value));
  return text;
}

/** The verdict in one sentence, with the rank. @param {Answer} answer @param {Words} words */
export function headline(answer, words) {
  const parts = [words.names.verdicts[answer.verdict].headline];
  if (answer.initiating !== null) parts.push(who(answer.initiating, words.names));
  const attempts =
    answer.attempts > 1 ? ` The run was started ${answer.attempts} times; this is the last one.` : "";
  return `${parts.filter((part) => part !== "").join(": ")}.${attempts}`;
}

/** @param {Initiating} found @param {Names} names */
function who({ ranks, symmetric, line }, names) {
  if (symmetric) return `all of ranks ${ranksText(ranks)} alike`;
  if (ranks.length > 0) return `rank${ranks.length > 1 ? "s" : ""} ${ranksText(ranks)}`;
  return line === null ? "" : names.no_rank;
}

/** Runs of ranks as their ends: 0-6, 8. @param {number[]} ranks */
export function ranksText(ranks) {
  /** @type {[number, number][]} */
  const runs = [];
  for (const rank of ranks) {
    const run = runs.at(-1);
    if (run !== undefined && rank === run[1] + 1) run[1] = rank;
    else runs.push([rank, rank]);
  }
  return runs.map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`)).join(", ");
}

/** What launchers say, in one row; whose end it is stands in the line that is named anyway. @param {Collateral[]} rows @param {Names} names @returns {Collateral[]} */
export function folded(rows, names) {
  /** @type {Collateral[]} */
  const kept = [];
  for (const row of rows) {
    const folds = names.folded.includes(row.role);
    const same = kept.find((each) => folds && each.role === row.role);
    if (same === undefined) {
      kept.push({ ...row });
    } else {
      same.count += row.count;
      same.ranks = [...new Set([...same.ranks, ...row.ranks])].sort((a, b) => a - b);
    }
  }
  return kept;
}

/** The likeliest row of each entry. @param {Candidate[]} candidates */
export function uniqueEntries(candidates) {
  /** @type {Map<string, Candidate>} */
  const first = new Map();
  for (const row of candidates) if (!first.has(row.entry)) first.set(row.entry, row);
  return [...first.values()].slice(0, MOST_CANDIDATES);
}

/** The answer for a ticket: headings, lists, and the log's lines as code. @param {Answer} answer @param {Shown[]} context @param {Words} words */
export function markdown(answer, context, words) {
  const rows = [`**${headline(answer, words)}**`, ""];
  const found = answer.initiating;
  if (found !== null) {
    if (found.line !== null && found.file !== null) {
      rows.push(`\`${code(found.file)}\` line ${found.line}:`, "");
      rows.push(...context.filter(({ chosen }) => chosen).map(({ text }) => `    ${safe(text)}`), "");
    }
    rows.push(...found.why.map((why) => `- ${marked(said(why, words))}`), "");
  }
  for (const { entry } of uniqueEntries(answer.candidates)) {
    rows.push(`- Lead: ${marked(words.titles[entry] ?? entry)} (\`${entry}\`)`);
  }
  if (answer.collateral.length > 0) {
    rows.push("", "Not what started it:", "");
    for (const row of folded(answer.collateral, words.names).slice(0, MOST_COLLATERAL)) {
      rows.push(`- ${collateralText(row, words.names)}, line ${row.line}: \`${shortened(code(row.text))}\``);
    }
  }
  if (answer.verdict !== "clean") rows.push("", `Next: ${marked(answer.next_action.text)}`);
  if (answer.missing_fact !== null) {
    rows.push("", `Missing: ${marked(answer.missing_fact.text)}`);
    if (answer.missing_fact.command) {
      rows.push("", ...answer.missing_fact.command.split("\n").map((line) => `    ${safe(line)}`));
    }
  }
  return `${rows.join("\n").replace(/\n+$/, "")}\n`;
}

/** How often, what and by whom: `3 x waited, ranks 0-2`. @param {Collateral} row @param {Names} names */
export function collateralText({ count, role, ranks }, names) {
  const times = count > 1 ? `${count} x ` : "";
  const by = ranks.length > 0 ? `, rank${ranks.length > 1 ? "s" : ""} ${ranksText(ranks)}` : "";
  return `${times}${names.roles[role]}${by}`;
}

/** @param {string} text */
function shortened(text) {
  return [...text.trim()].slice(0, SHOWN_OF_COLLATERAL).join("");
}

/** @param {string} text */
function code(text) {
  return safe(text).replaceAll("`", "'");
}

/** Text in which nothing is Markdown's. @param {string} text */
function marked(text) {
  return safe(text).replace(/([\\`*_[\]<>#|])/g, "\\$1");
}
