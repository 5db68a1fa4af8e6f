/** The verdict → the answer of schema 1, the same bytes from both engines. Twin of generator/diagnose/report.py. */

import { HIDDEN } from "../hidden.js";
import { compare, head } from "./characters.js";
import { familyOf } from "./normal.js";

/** @typedef {import("./events.js").Event} Event */
/** @typedef {import("./knowledge.js").Tables} Tables */
/** @typedef {import("./match.js").Hit} Hit */
/** @typedef {import("./speaker.js").Line} Line */
/** @typedef {import("./verdict.js").Candidate} Candidate */
/** @typedef {import("./verdict.js").Scene} Scene */
/** @typedef {import("./verdict.js").Verdict} Verdict */
/** @typedef {import("./verdict.js").Why} Why */
/** A file that was read; `places` are known ones: line feeds before a byte. @typedef {{name: string, lines: number, size: number, places: [number, number][]}} Input */
/** @typedef {{steps: string[], restart: string}} DoNow */
/** What a verdict says of an entry. @typedef {{title: string, url: string, do_now: DoNow, first_check: {step: string, command: string | null}}} Entry */
/** @typedef {{file: string, line: number, text: string}} Place */
/** @typedef {{entry: string, signature: string, file: string, line: number, score: number, why: Why[]}} CandidateRow */
/** A row with what is not told. @typedef {CandidateRow & {captures: Record<string, string>, order: number}} Ranked */
/** @typedef {{entry: string | null, role: string, ranks: number[], count: number, file: string, line: number, text: string}} CollateralRow */
/**
 * @typedef {{
 *   entry: string | null, signature: string | null, role: string, rank: number | null, ranks: number[],
 *   symmetric: boolean, node: string | null, file: string | null, line: number | null, time: string | null,
 *   text: string | null, captures: Record<string, string>, why: Why[],
 * }} Initiating
 */
/**
 * The answer of schema 1.
 * @typedef {{
 *   schema: number, verdict: string, entry_match: string, initiating: Initiating | null, candidates: CandidateRow[],
 *   collateral: CollateralRow[], recovered: Place[], attempts: number,
 *   missing_fact: {id: string, text: string, command: string | null} | null,
 *   next_action: {text: string, command: string | null, restart_helps: string | null},
 *   unmatched: Place[], inputs: {file: string, lines: number, bytes: number, ranks: number[]}[],
 * }} Answer
 */

const SCHEMA = 1;
const SHOWN = 1_000;
const MOST_COLLATERAL = 60;
const MOST_UNMATCHED = 20;
const MOST_CANDIDATES = 10;
export const OF_OTHERS = ["witness", "peer", "supervisor", "teardown", "confirmation", "death"];
export const OF_ERRORS = ["cause", "local", "ambiguous", "wrapper", "weak", "cut", "numeric", "plain"];

const ESCAPED = new RegExp(`[${HIDDEN}]`, "gu");

/** The answer as it is printed, with a line end; escaped is what a terminal would obey or not show. @param {Answer} answer */
export function toJson(answer) {
  return `${JSON.stringify(answer, null, 2).replace(ESCAPED, escaped)}\n`;
}

/** @param {string} character */
function escaped(character) {
  const units = [...Array(character.length).keys()].map((i) => character.charCodeAt(i));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`).join("");
}

/** Puts a verdict into the answer's shape. */
export class Reporter {
  /**
   * @param {Scene} scene @param {Verdict} verdict @param {Input[]} inputs
   * @param {Record<string, Entry>} entries @param {Tables} tables
   */
  constructor(scene, verdict, inputs, entries, tables) {
    this.scene = scene;
    this.verdict = verdict;
    this.inputs = inputs;
    this.entries = entries;
    this.tables = tables;
  }

  /** @returns {Answer} */
  answer() {
    const { attempt } = this.scene;
    const candidates = this.candidates();
    const match = entryMatch(candidates, this.verdict);
    const chosen = match !== "none" ? candidates[0] : null;
    return {
      schema: SCHEMA,
      verdict: this.verdict.grade,
      entry_match: match,
      initiating: this.initiating(chosen),
      candidates: candidates.slice(0, MOST_CANDIDATES).map(({ captures, order, ...row }) => row),
      collateral: this.collateral(),
      recovered: attempt.recovered.slice(0, MOST_UNMATCHED).map((each) => this.place(each.line)),
      attempts: attempt.number,
      missing_fact: this.missing(match, candidates),
      next_action: this.next(chosen),
      unmatched: this.unmatched(),
      inputs: this.inputRows(),
    };
  }

  // --- the beginning ------------------------------------------------------------------------------

  /** @param {Ranked | null} chosen @returns {Initiating | null} */
  initiating(chosen) {
    const found = this.verdict.initiating;
    if (found === null) return null;
    const { line } = found;
    return {
      entry: chosen?.entry ?? null,
      signature: chosen?.signature ?? null,
      role: found.role,
      rank: found.ranks.length === 1 ? found.ranks[0] : null,
      ranks: found.ranks,
      symmetric: found.symmetric,
      node: line?.node ?? null,
      file: line === null ? null : this.inputs[line.file].name,
      line: line?.number ?? null,
      time: line?.stamp || null,
      text: line === null ? null : shown(line.text),
      captures: chosen?.captures ?? {},
      why: found.why,
    };
  }

  /** The entries whose messages are here, the likeliest first; one row a signature. */
  candidates() {
    const { events } = this.scene.attempt;
    const ofBeginning = this.verdict.initiating?.inferred
      ? new Set(events.filter((each) => ["witness", "peer"].includes(each.role)))
      : eventsOf(this.verdict.initiating);
    /** @type {Map<string, Ranked>} */
    const rows = new Map();
    for (const event of events) {
      for (const hit of event.hits) {
        if (hit.item.entry === null || !hit.fits) continue;
        const row = this.row(event, hit, hit.item.entry, ofBeginning.has(event));
        const before = rows.get(hit.item.id);
        if (before === undefined || row.score > before.score) rows.set(hit.item.id, row);
      }
    }
    return [...rows.values()].sort(
      (a, b) =>
        b.score - a.score ||
        a.order - b.order ||
        compare(a.entry, b.entry) ||
        compare(a.signature, b.signature),
    );
  }

  /** @param {Event} event @param {Hit} hit @param {string} entry @param {boolean} begins */
  row(event, { item, captures, order }, entry, begins) {
    const conditions = item.needs.length + item.unless.length;
    /** @type {Why[]} */
    const why = [["signature", {}]];
    let score = begins ? 700 : 300;
    if (item.role === "cause") score = (begins ? 900 : 500) + 20 * Math.min(conditions, 4);
    else if (!begins) why.push(["collateral", {}]);
    if (conditions > 0) why.push(["conditions", { count: conditions }]);
    const file = this.inputs[event.line.file].name;
    const line = this.scene.text.lines[order].number;
    return { entry, signature: item.id, file, line, score, why, captures, order };
  }

  // --- the rest -----------------------------------------------------------------------------------

  /** What others said of it, alike lines folded into one with their ranks. */
  collateral() {
    const ofBeginning = eventsOf(this.verdict.initiating);
    const line = this.verdict.initiating?.line ?? null;
    /** @type {Map<string, CollateralRow>} */
    const folded = new Map();
    for (const event of this.scene.attempt.events) {
      if (ofBeginning.has(event) || event.line === line) continue;
      if (OF_OTHERS.includes(event.role)) this.fold(folded, event.role, event);
      else if (OF_ERRORS.includes(event.role)) this.fold(folded, "consequence", event);
    }
    return [...folded.values()]
      .slice(0, MOST_COLLATERAL)
      .map((row) => ({ ...row, ranks: [...new Set(row.ranks)].sort((a, b) => a - b) }));
  }

  /** @param {Map<string, CollateralRow>} folded @param {string} role @param {Event} event */
  fold(folded, role, event) {
    const fitting = event.hits.filter((each) => each.fits);
    const key = `${role}\n${fitting.length > 0 ? fitting[0].item.id : familyOf(event.whole)}`;
    const rank = event.rank ?? event.line.said;
    let row = folded.get(key);
    if (row === undefined) {
      const entry = fitting.find((hit) => hit.item.entry)?.item.entry ?? null;
      row = { entry, role, ranks: [], count: 0, ...this.place(event.line) };
      folded.set(key, row);
    }
    row.count += 1;
    if (rank !== null) row.ranks.push(rank);
  }

  /** Error lines that no entry explains. */
  unmatched() {
    const seen = new Set();
    /** @type {Place[]} */
    const rows = [];
    for (const event of this.scene.attempt.events) {
      if (!OF_ERRORS.includes(event.role) || event.hits.some((hit) => hit.item.entry)) continue;
      const key = familyOf(event.whole);
      if (!seen.has(key)) rows.push(this.place(event.line));
      seen.add(key);
    }
    return rows.slice(0, MOST_UNMATCHED);
  }

  /** @param {Line} line @returns {Place} */
  place(line) {
    return { file: this.inputs[line.file].name, line: line.number, text: shown(line.text) };
  }

  inputRows() {
    /** @type {Set<number>[]} */
    const ranks = this.inputs.map(() => new Set());
    for (const { file, rank } of this.scene.text.lines) {
      if (rank !== null) ranks[file].add(rank);
    }
    return this.inputs.map(({ name, lines, size }, i) => ({
      file: name,
      lines,
      bytes: size,
      ranks: [...ranks[i]].sort((a, b) => a - b),
    }));
  }

  // --- what to do ---------------------------------------------------------------------------------

  /** @param {string} match @param {CandidateRow[]} candidates */
  missing(match, candidates) {
    const { grade, missing, missingRanks } = this.verdict;
    if (grade === "clean" || (grade === "established" && match === "unique")) return null;
    const id = missing || (match === "candidate" ? "first-check" : "versions");
    const row = this.tables.missing[id];
    const ranks = missingRanks.join(", ");
    let text = ranks === "" && row.without !== undefined ? row.without : row.text;
    let { command } = row;
    if (id === "first-check") {
      const check = this.entries[candidates[0].entry].first_check;
      text = check.step;
      command = check.command ?? "";
    }
    return { id, text: text.replaceAll("{ranks}", () => ranks), command: command || null };
  }

  /** @param {CandidateRow | null} chosen */
  next(chosen) {
    if (chosen !== null && Object.hasOwn(this.entries, chosen.entry)) {
      const { do_now: doNow, first_check: check } = this.entries[chosen.entry];
      return { text: doNow.steps[0], command: check.command || null, restart_helps: doNow.restart };
    }
    const row = this.tables.actions[this.action()];
    const ranks = this.verdict.initiating?.ranks.join(", ") ?? "";
    return {
      text: row.text.replaceAll("{ranks}", () => ranks),
      command: row.command || null,
      restart_helps: row.restart || null,
    };
  }

  /** The row of the table of actions for a verdict without an entry. */
  action() {
    const { initiating: found, grade } = this.verdict;
    if (found === null) return grade === "clean" ? "clean" : "undecided";
    if (found.line === null) return "absent-rank";
    const signal = found.why.find(([code]) => code === "death-by-signal")?.[1].signal;
    if (signal !== undefined) return signal === 9 ? "killed" : signal === 7 ? "bus-error" : "crashed";
    if (found.role === "confirmation") return "ended-by-system";
    if (found.role === "supervisor") return "exit-code-only";
    if (grade !== "established") return "suspected";
    return found.symmetric ? "symmetric" : "own-error";
  }
}

/** As much of a line as is shown, in characters. @param {string} text */
export function shown(text) {
  return head(text, SHOWN);
}

/** The events that are the beginning itself: its line's and those of its chain. @param {Candidate | null} found */
export function eventsOf(found) {
  if (found === null) return new Set();
  return new Set([...found.alike, ...found.chain, ...(found.event === null ? [] : [found.event])]);
}

/** Whether one entry fits the beginning, or several. @param {CandidateRow[]} candidates @param {Verdict} verdict */
function entryMatch(candidates, verdict) {
  if (verdict.initiating === null || candidates.length === 0 || candidates[0].score < 700) return "none";
  const best = candidates.filter((row) => row.score === candidates[0].score);
  return best.every((row) => row.entry === best[0].entry) ? "unique" : "candidate";
}
