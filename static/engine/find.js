/**
 * Error text → ranked entries: signatures first, then the words that carry information, then parts of words.
 * Twin of generator/find.py; all arithmetic is in whole numbers, and ties go by slug.
 */

import { linesOf, withoutPrefix, wordsOf } from "./normalize.js";
import { Compiled } from "./signature.js";

export const SIGNATURE_SCORE = 700;
/** @type {Record<string, number>} */
const ROLE_SCORE = { cause: 200, confirmation: 140, witness: 80, peer: 80, supervisor: 80, teardown: 40 };
const UNMET_SCORE = 15;
const FEW_WORDS = 12;
const WRAPPED_LINES = 4;
const MAX_PLACES = 100;

/** @typedef {import("./signature.js").Template} Template */
/** @typedef {Template & {id: string, entry: string, role: string, needs: Template[], unless: Template[]}} SignatureItem */
/** @typedef {{rarest: number, entries: string[], index: Record<string, number[]>}} Words */
/** @typedef {{signatures: SignatureItem[], entries: Record<string, {title: string, url: string}>, words: Words}} Bundle the parts of the bundle that `find` reads */
/** @typedef {{entry: string, score: number, how: "signature" | "words" | "text", signature: string | null, title: string, url: string}} Found */
/** @typedef {{id: string, entry: string, role: string, compiled: Compiled, needs: Compiled[], unless: Compiled[]}} Signature */
/** @typedef {{lines: string[], bare: string[], whole: string, joined: string}} Text what was pasted, with and without prefixes, as lines and as one */

/** Ranks the entries of a bundle. */
export class Finder {
  /** @param {Bundle} bundle */
  constructor(bundle) {
    this.entries = bundle.entries;
    /** @type {Signature[]} */
    this.signatures = bundle.signatures.map((item) => ({
      id: item.id,
      entry: item.entry,
      role: item.role,
      compiled: new Compiled(item),
      needs: item.needs.map((condition) => new Compiled(condition)),
      unless: item.unless.map((condition) => new Compiled(condition)),
    }));
    this.slugs = bundle.words.entries;
    this.rarest = bundle.words.rarest;
    /** @type {Map<string, [number, number][]>} */
    this.weights = new Map(Object.entries(bundle.words.index).map(([word, packed]) => [word, unpacked(packed)]));
  }

  /**
   * The best `n` entries for a text of any length; none where nothing in it is known.
   * @param {string} text
   * @param {number} [n]
   * @returns {Found[]}
   */
  find(text, n = 10) {
    const lines = linesOf(text);
    const bare = lines.map(withoutPrefix);
    const pasted = { lines, bare, whole: lines.join("\n"), joined: bare.join(" ") };
    const found = new Map([...this.byWords(bare), ...this.bySignature(pasted)]);
    return [...found.values()]
      .sort((a, b) => b.score - a.score || (a.entry < b.entry ? -1 : Number(a.entry > b.entry)))
      .slice(0, n);
  }

  /**
   * @param {string} slug @param {number} score @param {Found["how"]} how @param {string | null} signature
   * @returns {Found}
   */
  found(slug, score, how, signature = null) {
    const { title, url } = this.entries[slug];
    return { entry: slug, score, how, signature, title, url };
  }

  /** @param {Text} text */
  bySignature(text) {
    /** @type {Map<string, Found>} */
    const best = new Map();
    for (const signature of this.signatures) {
      if (!stands(signature.compiled, text)) continue;
      if (signature.unless.some((condition) => stands(condition, text))) continue;
      const score = SIGNATURE_SCORE + meritOf(signature, text);
      if (score > (best.get(signature.entry)?.score ?? 0)) {
        best.set(signature.entry, this.found(signature.entry, score, "signature", signature.id));
      }
    }
    return best;
  }

  /** Entries by the line that tells most of each, and by a quarter of what the whole text tells. @param {string[]} lines */
  byWords(lines) {
    const typed = lines.length === 1 && lines[0].split(" ").length <= FEW_WORDS;
    /** @type {Map<number, number>} */
    const best = new Map();
    /** @type {Set<string>} */
    const everything = new Set();
    const [least, unknown] = typed ? [1, Math.floor(this.rarest / 2)] : [this.rarest, this.rarest];
    for (const line of new Set(withoutFrames(lines))) {
      const words = wordsOf(line, typed);
      for (const word of words) everything.add(word);
      const weights = this.weigh(words);
      if (typed) this.addGuesses(words, weights);
      const asked = words.reduce((sum, word) => sum + this.most(word, unknown), 0);
      for (const [number, weight] of weights) {
        if (weight >= least && 4 * weight >= asked) best.set(number, Math.max(best.get(number) ?? 0, weight));
      }
    }
    const pooled = this.weigh(everything);
    /** @type {Map<string, Found>} */
    const found = new Map();
    for (const [number, weight] of best) {
      found.set(this.slugs[number], this.scored(number, weight, pooled));
    }
    return found;
  }

  /**
   * Many words of weight come near the lowest score of a signature, and never reach it.
   * @param {number} number @param {number} weight @param {Map<number, number>} pooled
   */
  scored(number, weight, pooled) {
    const total = weight + Math.floor((pooled.get(number) ?? 0) / 4);
    const score = Math.floor(((SIGNATURE_SCORE - 1) * total) / (total + 2 * this.rarest));
    return this.found(this.slugs[number], score, pooled.has(number) ? "words" : "text");
  }

  /** How much the words tell of each entry. @param {Iterable<string>} words */
  weigh(words) {
    /** @type {Map<number, number>} */
    const weights = new Map();
    for (const word of words) add(weights, this.weights.get(word) ?? []);
    return weights;
  }

  /** What a word could tell at most. @param {string} word @param {number} unknown what it tells where no entry has it */
  most(word, unknown) {
    const known = this.weights.get(word);
    return known === undefined ? unknown : known.reduce((most, [, weight]) => Math.max(most, weight), 0);
  }

  /**
   * For a word that is unknown, half of what the words tell that begin with it or are one slip away.
   * @param {string[]} words @param {Map<number, number>} weights
   */
  addGuesses(words, weights) {
    for (const word of words) {
      if (this.weights.has(word) || word.length < 3) continue;
      let known = [...this.weights.keys()].filter((other) => other.startsWith(word));
      if (known.length === 0 && word.length > 4) {
        known = [...this.weights.keys()].filter((other) => isOneSlip(word, other));
      }
      /** @type {Map<number, number>} */
      const guessed = new Map();
      for (const [number, weight] of known.flatMap((other) => this.weights.get(other) ?? [])) {
        guessed.set(number, Math.max(guessed.get(number) ?? 0, Math.floor(weight / 2)));
      }
      add(weights, guessed);
    }
  }
}

/** The lines without a traceback's frames, whose files and code tell of every program. @param {string[]} lines */
function withoutFrames(lines) {
  const isFrame = lines.map((line) => line.startsWith('File "'));
  const rest = lines.filter((_, i) => !isFrame[i] && !(i > 0 && isFrame[i - 1]));
  return rest.length > 0 ? rest : lines;
}

/** @param {Map<number, number>} weights @param {Iterable<[number, number]>} more */
function add(weights, more) {
  for (const [number, weight] of more) weights.set(number, (weights.get(number) ?? 0) + weight);
}

/** How much a word tells of an entry. @param {number} rarity @param {number} field how telling its field is, from 1 to 4 */
function weightOf(rarity, field) {
  return Math.max(1, Math.floor((rarity * field) / 4));
}

/** Entries with what a word tells of each, from what the bundle holds of the word. @param {number[]} packed @returns {[number, number][]} */
function unpacked([rarity, ...packed]) {
  let number = 0;
  return packed.map((value) => {
    number += Math.floor(value / 4);
    return [number, weightOf(rarity, (value % 4) + 1)];
  });
}

/** How good a match is, from 0 to 300. @param {Signature} signature @param {Text} text */
function meritOf(signature, text) {
  const met = signature.needs.filter((condition) => stands(condition, text)).length;
  const all = signature.needs.length;
  const role = met < all && signature.role === "cause" ? UNMET_SCORE : (ROLE_SCORE[signature.role] ?? 20);
  const conditions = all > 0 ? Math.floor((40 * met) / all) : 20;
  const literal = Array.from(signature.compiled.literal).length;
  return role + conditions + Math.min(60, Math.floor(literal / 2));
}

/** Whether the message stands in the text: in its lines, or broken over several of them. @param {Compiled} compiled @param {Text} text */
function stands(compiled, text) {
  if (text.whole.includes(compiled.literal) && standsIn(compiled, text.lines)) return true;
  if (!text.joined.includes(compiled.literal)) return false;
  if (compiled.expressions.length > 1) return standsIn(compiled, text.bare);
  for (const line of rejoined(compiled.literal, text)) {
    if (compiled.search([line]) !== null) return true;
  }
  return false;
}

/** @param {Compiled} compiled @param {string[]} lines */
function standsIn(compiled, lines) {
  const count = compiled.expressions.length;
  return lines.some((line, at) => {
    const first = at - compiled.keyLine;
    if (first < 0 || !line.includes(compiled.literal)) return false;
    return compiled.search(lines.slice(first, first + count)) !== null;
  });
}

/** The lines around each place of the literal that a terminal may have made of one, as one again. @param {string} literal @param {Text} text */
function* rejoined(literal, { bare, joined }) {
  const starts = [0];
  for (const line of bare) starts.push(starts[starts.length - 1] + line.length + 1);
  let at = joined.indexOf(literal);
  for (let place = 0; place < MAX_PLACES && at >= 0; place += 1) {
    const first = lineAt(starts, at);
    const last = lineAt(starts, at + literal.length - 1);
    for (let begin = Math.max(0, last - WRAPPED_LINES + 1); begin <= first; begin += 1) {
      yield bare.slice(begin, begin + WRAPPED_LINES).join(" ");
    }
    at = joined.indexOf(literal, at + 1);
  }
}

/** The number of the line that holds a place. @param {number[]} starts @param {number} at */
function lineAt(starts, at) {
  let [low, high] = [0, starts.length - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (starts[middle] <= at) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Whether one letter more, less, other, or swapped with the next makes one word the other. @param {string} word @param {string} other */
function isOneSlip(word, other) {
  if (Math.abs(word.length - other.length) > 1 || word[0] !== other[0]) return false;
  let same = 0;
  while (same < Math.min(word.length, other.length) && word[same] === other[same]) same += 1;
  const [left, right] = [word.slice(same), other.slice(same)];
  return (
    left.slice(1) === right.slice(1) ||
    left.slice(1) === right ||
    left === right.slice(1) ||
    (left[0] === right[1] && left[1] === right[0] && left.slice(2) === right.slice(2))
  );
}
