/** Signatures and known lines of the bundle, looked for in the kept lines. Twin of generator/diagnose/match.py. */

import { Compiled } from "../signature.js";
import { LiteralFinder } from "./literals.js";

/** @typedef {import("../signature.js").Template} Template */
/** @typedef {import("./speaker.js").Line} Line */
/** @typedef {Template & {id: string, entry?: string, role: string, printed_by?: string, needs?: Template[], unless?: Template[]}} Row */
/** A signature of an entry, or a known line that belongs to none; `own` where the failing rank itself prints it. @typedef {{id: string, entry: string | null, role: string, compiled: Compiled, needs: Compiled[], unless: Compiled[], own: boolean}} Item */
/** An item that matches a line, by its order; `fits` says whether its conditions hold. @typedef {{item: Item, order: number, captures: Record<string, string>, fits: boolean}} Hit */

const BLOCK_BEFORE = 200;
const BLOCK_AFTER = 50;
const PART = 1 << 20;
const BLANKS = /[ \t]{2,}|\t/g;
const ENCODER = new TextEncoder();

/**
 * All signatures, then all known lines, in the bundle's order.
 * @param {{signatures: Row[], lines: Row[]}} bundle
 * @returns {Item[]}
 */
export function itemsOf(bundle) {
  return [...bundle.signatures, ...bundle.lines].map((row) => ({
    id: row.id,
    entry: row.entry ?? null,
    role: row.role,
    compiled: new Compiled(row),
    needs: (row.needs ?? []).map((condition) => new Compiled(condition)),
    unless: (row.unless ?? []).map((condition) => new Compiled(condition)),
    own: row.printed_by === "failing-rank",
  }));
}

/** The kept lines as texts to search: whole lines, and each stream's lines in order. */
export class Text {
  /** @param {Line[]} lines */
  constructor(lines) {
    this.lines = lines;
    /** @type {Map<string, number[]>} */
    this.streams = new Map();
    /** @type {number[]} */
    this.place = [];
    for (const line of lines) {
      const members = this.members(line);
      this.place.push(members.length);
      members.push(line.order);
    }
  }

  /** The orders of the lines of the line's stream. @param {Line} line */
  members(line) {
    let members = this.streams.get(line.stream);
    if (members === undefined) {
      members = [];
      this.streams.set(line.stream, members);
    }
    return members;
  }

  /** Lines of the same stream around a line, itself included. @param {number} order @param {number} before @param {number} after */
  neighbours(order, before, after) {
    const at = this.place[order];
    return this.members(this.lines[order])
      .slice(Math.max(0, at - before), at + after + 1)
      .map((each) => this.lines[each]);
  }
}

/** Finds the items in lines; compiled once. */
export class Matcher {
  /** @param {Item[]} items */
  constructor(items) {
    this.items = items;
    const literals = [...new Set(items.map((item) => item.compiled.literal))];
    const numbers = new Map(literals.map((literal, i) => [literal, i]));
    this.numbers = items.map((item) => /** @type {number} */ (numbers.get(item.compiled.literal)));
    this.literals = literals;
    this.finder = new LiteralFinder(literals.map((literal) => ENCODER.encode(literal)));
  }

  /**
   * The hits by the line's order; of a template of several lines, by its first line.
   * @param {Text} text
   * @returns {Map<number, Hit[]>}
   */
  findHits(text) {
    const orders = this.linesWith(text.lines);
    /** @type {Map<number, Hit[]>} */
    const hits = new Map();
    for (const [i, item] of this.items.entries()) {
      for (const order of orders[this.numbers[i]]) {
        const found = match(item.compiled, order, text);
        if (found === null) continue;
        const of = hits.get(found.first) ?? [];
        of.push({ item, order: found.first, captures: found.captures, fits: true });
        hits.set(found.first, of);
      }
    }
    return hits;
  }

  /** Of each literal the orders of the lines that hold it, in one pass over their bytes. @param {Line[]} lines */
  linesWith(lines) {
    /** @type {number[][]} */
    const orders = this.literals.map(() => []);
    for (const { bytes, starts, first, count } of joined(lines)) {
      let at = 0;
      for (const { place, number } of this.finder.find(bytes, 0, bytes.length)) {
        while (at + 1 < count && starts[at + 1] <= place) at += 1;
        const of = orders[number];
        if (of.at(-1) !== first + at) of.push(first + at);
      }
    }
    return orders;
  }
}

/** The lines' bytes, parted by line feeds, runs of blanks as one, some lines at a time. @param {Line[]} lines */
function* joined(lines) {
  let first = 0;
  while (first < lines.length) {
    /** @type {string[]} */
    const texts = [];
    for (let size = 0; size < PART && first + texts.length < lines.length; size += texts[texts.length - 1].length) {
      texts.push(lines[first + texts.length].text.replace(BLANKS, " "));
    }
    const starts = [];
    const parts = texts.map((text) => ENCODER.encode(`${text}\n`));
    const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
    let size = 0;
    for (const part of parts) {
      starts.push(size);
      bytes.set(part, size);
      size += part.length;
    }
    yield { bytes, starts, first, count: texts.length };
    first += texts.length;
  }
}

/**
 * The first line of a match that has the literal in this line, and the captures.
 * @param {Compiled} compiled @param {number} order @param {Text} text
 */
function match(compiled, order, text) {
  const members = text.members(text.lines[order]);
  const first = text.place[order] - compiled.keyLine;
  const span = first >= 0 ? members.slice(first, first + compiled.expressions.length) : [];
  const found = compiled.search(span.map((each) => text.lines[each].text));
  return found === null ? null : { first: span[0], captures: found.captures };
}

/**
 * Whether what the item needs stands near the line, and what it excludes does not.
 * @param {Item} item @param {number} order @param {Text} text
 */
export function conditionsHold(item, order, text) {
  if (item.needs.length === 0 && item.unless.length === 0) return true;
  const block = text.neighbours(order, BLOCK_BEFORE, BLOCK_AFTER);
  return item.needs.every((each) => stands(each, block)) && !item.unless.some((each) => stands(each, block));
}

/** @param {Compiled} compiled @param {Line[]} block */
function stands(compiled, block) {
  return block.some((line, at) => {
    if (!line.text.includes(compiled.literal)) return false;
    const first = at - compiled.keyLine;
    const span = first >= 0 ? block.slice(first, first + compiled.expressions.length) : [];
    return compiled.search(span.map((each) => each.text)) !== null;
  });
}
