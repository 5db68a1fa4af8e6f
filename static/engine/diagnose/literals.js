/**
 * Literals → where they stand in a chunk of bytes. Finds what the finders of generator/diagnose/literals.py
 * find: the start of every occurrence.
 *
 * Wu and Manber's search over bytes: of every literal a window of fixed length is looked for. Three bytes at the
 * window's end say how far it can be moved without passing a literal, so most bytes are never looked at.
 */

const LONGEST_WINDOW = 12;
const HASH_BITS = 15;
const NONE = -1;

/** @typedef {{place: number, number: number}} Found where a literal begins, and its number */

/** Finds all of some literals, each of three bytes or more. */
export class LiteralFinder {
  /** @param {Uint8Array[]} literals */
  constructor(literals) {
    this.literals = literals;
    this.window = Math.min(LONGEST_WINDOW, ...literals.map((literal) => literal.length));
    /** How far to move on, by the hash of the three bytes at the window's end; 0 where a literal may stand. */
    this.shift = new Uint8Array(1 << HASH_BITS).fill(this.window - 2);
    /** The first literal whose window ends in these bytes, and of each literal the next such. */
    this.first = new Int32Array(1 << HASH_BITS).fill(NONE);
    this.next = new Int32Array(literals.length).fill(NONE);
    for (let number = literals.length - 1; number >= 0; number -= 1) this.add(number);
  }

  /** @param {number} number */
  add(number) {
    const literal = this.literals[number];
    for (let end = 2; end < this.window; end += 1) {
      const hash = hashOf(literal[end - 2], literal[end - 1], literal[end]);
      this.shift[hash] = Math.min(this.shift[hash], this.window - 1 - end);
      if (end === this.window - 1) {
        this.next[number] = this.first[hash];
        this.first[hash] = number;
      }
    }
  }

  /**
   * All literals that stand in `data` from `from` to `to`, by place, then by number.
   * @param {Uint8Array} data @param {number} from @param {number} to
   * @returns {Found[]}
   */
  find(data, from, to) {
    /** @type {Found[]} */
    const found = [];
    const { shift, first } = this;
    let end = from + this.window - 1;
    while (end < to) {
      const hash = ((data[end - 2] << 10) ^ (data[end - 1] << 5) ^ data[end]) & ((1 << HASH_BITS) - 1);
      const step = shift[hash];
      if (step === 0) {
        this.collect(first[hash], data, end - this.window + 1, to, found);
        end += 1;
      } else end += step;
    }
    return found;
  }

  /**
   * Notes which of the literals from `number` on stand here.
   * @param {number} number @param {Uint8Array} data @param {number} place @param {number} to @param {Found[]} found
   */
  collect(number, data, place, to, found) {
    for (let each = number; each !== NONE; each = this.next[each]) {
      if (stands(this.literals[each], data, place, to)) found.push({ place, number: each });
    }
  }
}

/** @param {number} a @param {number} b @param {number} c */
function hashOf(a, b, c) {
  return ((a << 10) ^ (b << 5) ^ c) & ((1 << HASH_BITS) - 1);
}

/** @param {Uint8Array} literal @param {Uint8Array} data @param {number} place @param {number} to */
function stands(literal, data, place, to) {
  if (place + literal.length > to) return false;
  for (let i = 0; i < literal.length; i += 1) {
    if (data[place + i] !== literal[i]) return false;
  }
  return true;
}
