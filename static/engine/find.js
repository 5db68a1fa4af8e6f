/**
 * Error text → ranked entries: signatures first, then the words that carry information, then parts of words.
 * Twin of generator/find.py; all arithmetic is in whole numbers, and ties go by slug.
 */

import { allWords, linesOf, withoutPrefix, wordsOf } from "./normalize.js";
import { CONDITION_BYTES, Compiled, TemplateError, compileTemplate } from "./signature.js";

export const SIGNATURE_SCORE = 700;
/** @type {Record<string, number>} */
const ROLE_SCORE = { cause: 200, confirmation: 140, witness: 80, peer: 80, supervisor: 80, teardown: 40 };
const UNMET_SCORE = 15;
const FEW_WORDS = 12;
const WRAPPED_LINES = 4;
const MAX_PLACES = 100;

/** @typedef {{ids: string[][], roles: string[][], templates: string[][], needs: string[][][], unless: string[][][]}} Columns a list for each entry */
/** @typedef {{slugs: string[], titles: string[], signatures: Columns, words: Record<string, number[]>}} Index what api/v1/search.json holds */
/** @typedef {{entry: string, score: number, how: "signature" | "words" | "text", signature: string | null, title: string, url: string}} Found */
/** @typedef {{id: string, entry: number, role: string, template: Template, needs: Template[], unless: Template[]}} Signature */
/** @typedef {{lines: string[], bare: string[], whole: string, joined: string}} Text what was pasted, with and without prefixes, as lines and as one */

/** A template as the index has it; `anchor` stands in every text that matches. */
class Template {
  /** @param {string} text */
  constructor(text) {
    this.text = text;
    const parts = text.replace(/[ \t]+/g, " ").split(/\{\{|\}\}|\{[^{}]*\}|[\r\n]/);
    this.anchor = parts.map(strip).reduce((longest, part) => (part.length > longest.length ? part : longest));
    /** @type {Map<string, Compiled>} */
    this.known = new Map();
  }

  /** The template ready to be matched, or null where the text doesn't hold what was cut of it. @param {Text} text */
  compiled(text) {
    if (!text.whole.includes(this.anchor) && !text.joined.includes(this.anchor)) return null;
    const whole = restored(this.text, text);
    if (whole === null) return null;
    const compiled = this.known.get(whole) ?? compiledOf(whole);
    if (compiled !== null) this.known.set(whole, compiled);
    return compiled;
  }
}

/** Null for what is no template: another text with the same number as a cut literal may make one. @param {string} template */
function compiledOf(template) {
  try {
    return compileTemplate(template, CONDITION_BYTES);
  } catch (error) {
    if (error instanceof TemplateError) return null;
    throw error;
  }
}

/** Ranks the entries of an index. */
export class Finder {
  /** @param {Index} index */
  constructor(index) {
    this.slugs = index.slugs;
    this.titles = index.titles;
    this.signatures = [...signaturesOf(index)];
    this.rarest = rarityOf(index.slugs.length, 1);
    this.weights = weightsOf(index);
  }

  /**
   * The best `n` entries for a text of any length; none where nothing in it is known.
   * @param {string} text
   * @param {number} [n]
   * @returns {Found[]}
   */
  find(text, n = 10) {
    const pasted = textOf(text);
    const found = new Map([...this.byWords(pasted.bare), ...this.bySignature(pasted)]);
    return [...found.values()]
      .sort((a, b) => b.score - a.score || (a.entry < b.entry ? -1 : Number(a.entry > b.entry)))
      .slice(0, n);
  }

  /** What of the text a signature that was found knows it by, and its role. @param {string} id @param {string} text */
  message(id, text) {
    const signature = this.signatures.find((one) => one.id === id);
    const literal = signature?.template.compiled(textOf(text))?.literal;
    return signature && literal ? { role: signature.role, literal } : null;
  }

  /**
   * @param {number} number @param {number} score @param {Found["how"]} how @param {string | null} signature
   * @returns {Found}
   */
  found(number, score, how, signature = null) {
    const slug = this.slugs[number];
    return { entry: slug, score, how, signature, title: this.titles[number], url: `failures/${slug}/` };
  }

  /** @param {Text} text */
  bySignature(text) {
    /** @type {Map<number, Found>} */
    const best = new Map();
    for (const signature of this.signatures) {
      if (!stands(signature.template, text)) continue;
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
    /** @type {Map<number, Found>} */
    const found = new Map();
    for (const [number, weight] of best) found.set(number, this.scored(number, weight, pooled));
    return found;
  }

  /**
   * Many words of weight come near the lowest score of a signature, and never reach it.
   * @param {number} number @param {number} weight @param {Map<number, number>} pooled
   */
  scored(number, weight, pooled) {
    const total = weight + Math.floor((pooled.get(number) ?? 0) / 4);
    const score = Math.floor(((SIGNATURE_SCORE - 1) * total) / (total + 2 * this.rarest));
    return this.found(number, score, pooled.has(number) ? "words" : "text");
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

/** Sixteen times the binary logarithm of how rare a word is, rounded up. @param {number} entries @param {number} having */
function rarityOf(entries, having) {
  return (BigInt(entries + 1) ** 16n / BigInt(having) ** 16n).toString(2).length;
}

/** The texts of an entry that stand in the index, by what their words weigh, the best first. @param {Index} index @param {number} number @returns {[number, string[]][]} */
function fieldsOf({ slugs, titles, signatures }, number) {
  return [
    [4, [titles[number], slugs[number].replaceAll("-", " ")]],
    [3, signatures.templates[number].map(withoutHoles)],
    [1, signatures.needs[number].flat().map(withoutHoles)],
  ];
}

/** The text of a template, with a blank for each hole and brace, and for a word that is cut. @param {string} template */
function withoutHoles(template) {
  return template.replace(/\{\{|\}\}|[^ {}]*\{~[0-9a-z]+\}|\{[^{}]*\}/g, " ");
}

/** What each word tells of each entry: the words listed, and those that stand in titles and templates. @param {Index} index */
function weightsOf(index) {
  /** Pairs of an entry and a field, which become a weight at the end. @type {Map<string, [number, number][]>} */
  const weights = new Map();
  for (const number of index.slugs.keys()) {
    for (const [field, texts] of fieldsOf(index, number)) {
      for (const word of allWords(texts, field > 2)) {
        const found = weights.get(word);
        if (found === undefined) weights.set(word, [[number, field]]);
        else if (found[found.length - 1][0] !== number) found.push([number, field]);
      }
    }
  }
  for (const [word, [, ...packed]] of Object.entries(index.words)) {
    weights.set(word, [...new Map([...(weights.get(word) ?? []), ...unpacked(packed)])]);
  }
  /** @type {number[]} */
  const rarities = [];
  for (const [word, found] of weights) {
    rarities[found.length] ??= rarityOf(index.slugs.length, found.length);
    const rarity = Object.hasOwn(index.words, word) ? index.words[word][0] : rarities[found.length];
    for (const pair of found) pair[1] = weightOf(rarity, pair[1]);
  }
  return weights;
}

/** Entries with the field of a word in each, from 1 to 4, from what the index holds of the word. @param {number[]} packed @returns {[number, number][]} */
function unpacked(packed) {
  let number = 0;
  return packed.map((value) => {
    number += Math.floor(value / 4);
    return [number, (value % 4) + 1];
  });
}

/** @param {Index} index @returns {Generator<Signature>} */
function* signaturesOf({ slugs, signatures: { ids, roles, templates, needs, unless } }) {
  for (const [entry, slug] of slugs.entries()) {
    for (const [i, id] of ids[entry].entries()) {
      const [needed, excluded] = [needs, unless].map((column) => column[entry][i].map((text) => new Template(text)));
      const template = new Template(templates[entry][i]);
      yield { id: `${slug}/${id}`, entry, role: roles[entry][i], template, needs: needed, unless: excluded };
    }
  }
}

/** @param {string} text @returns {Text} */
function textOf(text) {
  const lines = linesOf(text);
  const bare = lines.map(withoutPrefix);
  return { lines, bare, whole: lines.join("\n"), joined: bare.join(" ") };
}

/** Without blanks at the ends. @param {string} text */
function strip(text) {
  return text.replace(/^ +/, "").replace(/(?<! ) +$/, "");
}

/** The template with the rest of its cut literals, which the text has; null where it hasn't. @param {string} template @param {Text} text */
function restored(template, text) {
  if (!template.includes("{~")) return template;
  let isWhole = true;
  const whole = template.replace(/([^{}\n]+)\{~([0-9a-z]+)\}/g, (_, head, check) => {
    const literal = literalOf(head, parseInt(check, 36), text.whole) ?? literalOf(head, parseInt(check, 36), text.joined);
    isWhole &&= literal !== null;
    return literal ?? "";
  });
  return isWhole ? whole : null;
}

/** What of the text begins with the head and is the literal that the number means. @param {string} head @param {number} check @param {string} text */
function literalOf(head, check, text) {
  let at = text.indexOf(head);
  for (let place = 0; place < MAX_PLACES && at >= 0; place += 1) {
    const literal = text.slice(at, at + (check % 256));
    if (/^[ -z|~]*$/.test(literal) && checkOf(literal) === check) return literal;
    at = text.indexOf(head, at + 1);
  }
  return null;
}

/** A number by which a literal (ASCII) is known: its length, and a sum of its characters. @param {string} literal */
function checkOf(literal) {
  let total = 0;
  for (let i = 0; i < literal.length; i += 1) total = (31 * total + literal.charCodeAt(i)) % 4093;
  return 256 * total + literal.length;
}

/** How good a match is, from 0 to 300. @param {Signature} signature @param {Text} text */
function meritOf(signature, text) {
  const met = signature.needs.filter((condition) => stands(condition, text)).length;
  const all = signature.needs.length;
  const role = met < all && signature.role === "cause" ? UNMET_SCORE : (ROLE_SCORE[signature.role] ?? 20);
  const conditions = all > 0 ? Math.floor((40 * met) / all) : 20;
  const literal = Array.from(signature.template.compiled(text)?.literal ?? "").length;
  return role + conditions + Math.min(60, Math.floor(literal / 2));
}

/** Whether the message stands in the text: in its lines, or broken over several of them. @param {Template} template @param {Text} text */
function stands(template, text) {
  const compiled = template.compiled(text);
  if (compiled === null) return false;
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
