/**
 * Literals → where they stand in a chunk of bytes. Finds what the finders of generator/diagnose/literals.py
 * find: the start of every occurrence.
 *
 * Four bytes are looked at, some are skipped, four are looked at, and so on. Of every literal so many runs of four
 * bytes are known that one of them is looked at wherever the literal stands. No step waits for the one before, and
 * most bytes cost next to nothing.
 */

const GRAM = 4;
const HASH_BITS = 16;
const SHIFT = 32 - HASH_BITS;
const FACTOR = 0x9e3779b1;
const NONE = -1;

/** What logs are full of: runs of bytes that stand in it are no good to find a literal by. */
const COMMON =
  "[rank0]: [Rank 0] INFO train: step=1 iteration epoch loss 0.1 lr=[1e-4] tokens samples NCCL INFO Channel " +
    "via P2P/IPC node-1 worker logging.py torch/python3 site-packages/ UserWarning: warnings.warn(";

/** @typedef {{place: number, number: number}} Found where a literal begins, and its number */

/** Finds all of some literals, each of four bytes or more. */
export class LiteralFinder {
  /** @param {Uint8Array[]} literals */
  constructor(literals) {
    this.literals = literals;
    this.stride = Math.max(1, Math.min(...literals.map((literal) => literal.length)) - GRAM + 1);
    /** 1 for each hash of four bytes that are known. */
    this.known = new Uint8Array(1 << HASH_BITS);
    /** @type {Map<number, Found[]>} by the hash, the literals in which such bytes stand, and where in them */
    this.owners = new Map();
    for (const number of literals.keys()) this.add(number);
  }

  /** @param {number} number */
  add(number) {
    const literal = this.literals[number];
    const first = rarest(literal, this.stride);
    for (let place = first; place < first + this.stride; place += 1) {
      const hash = hashAt(new DataView(literal.buffer, literal.byteOffset), place);
      this.known[hash] = 1;
      const owners = this.owners.get(hash) ?? [];
      owners.push({ place, number });
      this.owners.set(hash, owners);
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
    const { known, stride } = this;
    const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
    let at = from;
    // Four at once: where none is known, as mostly, that is one branch.
    for (; at + 3 * stride + GRAM <= to; at += 4 * stride) {
      const first = known[hashAt(view, at)] | known[hashAt(view, at + stride)];
      const second = known[hashAt(view, at + 2 * stride)] | known[hashAt(view, at + 3 * stride)];
      if ((first | second) === 0) continue;
      for (let i = 0; i < 4; i += 1) this.collect(view, data, at + i * stride, from, to, found);
    }
    for (; at + GRAM <= to; at += stride) this.collect(view, data, at, from, to, found);
    return found.sort((a, b) => a.place - b.place || a.number - b.number);
  }

  /**
   * Notes the literals that stand around these four bytes.
   * @param {DataView} view @param {Uint8Array} data @param {number} at @param {number} from @param {number} to
   * @param {Found[]} found
   */
  collect(view, data, at, from, to, found) {
    const hash = hashAt(view, at);
    if (this.known[hash] === 0) return;
    for (const owner of this.owners.get(hash) ?? []) {
      const literal = this.literals[owner.number];
      const place = at - owner.place;
      if (place >= from && place + literal.length <= to && stands(literal, data, place)) {
        found.push({ place, number: owner.number });
      }
    }
  }
}

/** @param {DataView} view @param {number} at */
function hashAt(view, at) {
  return Math.imul(view.getInt32(at, true), FACTOR) >>> SHIFT;
}

/** Where in the literal the runs begin that are least common in logs. @param {Uint8Array} literal @param {number} stride */
function rarest(literal, stride) {
  const text = String.fromCharCode(...literal);
  const common = Array.from(literal, (_, i) => Number(COMMON.includes(text.slice(i, i + GRAM))));
  let [best, least] = [0, Infinity];
  for (let first = 0; first + stride + GRAM - 1 <= literal.length; first += 1) {
    const count = common.slice(first, first + stride).reduce((sum, each) => sum + each, 0);
    if (count < least) [best, least] = [first, count];
  }
  return best;
}

/** @param {Uint8Array} literal @param {Uint8Array} data @param {number} place */
function stands(literal, data, place) {
  for (let i = 0; i < literal.length; i += 1) {
    if (data[place + i] !== literal[i]) return false;
  }
  return true;
}
