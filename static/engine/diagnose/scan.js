/**
 * A stream of bytes → the lines worth reading: the head, the tail, and what stands around the literals.
 * Twin of generator/diagnose/scan.py, which says what is kept; the chunks that the bytes come in don't matter.
 */

import { cut } from "./clean.js";
import { LiteralFinder } from "./literals.js";

/** @typedef {import("./clean.js").Raw} Raw */
/** @typedef {import("./literals.js").Found} Found */
/** What a stream held: line feeds (and a last line without one), bytes, the kept lines, and known places: line feeds before a byte. @typedef {{lines: number, size: number, kept: Raw[], places: [number, number][]}} Scanned */
/** Bytes that are kept: where they start, and how many line feeds stand before. @typedef {{start: number, feeds: number, content: Uint8Array}} Piece */

const HEAD = 64 * 1024;
const TAIL = 64 * 1024;
const BEFORE = 24 * 1024;
const AFTER = 8 * 1024;
const OWN_BEFORE = 1024;
const OWN_AFTER = 2048;
const FULL = 4;
const EACH = 1_024;
const BUDGET = 2 * 1024 * 1024;
const RING = 256 * 1024;
const FAMILY_BYTES = 120;
const FAMILIES = 4_096;
const KEY_HITS = 20_000;
const LONG = 1024;
const CHUNK = 1024 * 1024;
const BLOCK = 4 * 1024;
const PLACE_EVERY = 4 * 1024 * 1024;
const LF = 0x0a;
const CR = 0x0d;

/** The literals of the scan; `restarts` are the numbers of those that start an attempt. */
export class Keys {
  /** @param {Uint8Array[]} literals @param {Set<number>} restarts */
  constructor(literals, restarts) {
    this.literals = literals;
    this.restarts = restarts;
    this.longest = Math.max(1, ...literals.map((literal) => literal.length));
    this.finder = new LiteralFinder(literals);
  }
}

/** Scans one stream: give it all chunks, then ask for what it kept. */
export class Scan {
  /** @param {number} file the stream's number @param {Keys} keys */
  constructor(file, keys) {
    this.file = file;
    this.keys = keys;
    this.window = new Window();
    this.keeper = new Keeper(keys);
    /** @type {[number, number][]} */
    this.places = [];
  }

  /** Bytes that were taken so far. */
  get size() {
    return this.window.end;
  }

  /** @param {Uint8Array} bytes */
  take(bytes) {
    for (let at = 0; at < bytes.length; ) {
      at += this.window.add(bytes, at);
      if (this.window.full) this.look(false);
    }
  }

  /** The stream is at its end. @returns {Scanned} */
  finish() {
    const { window } = this;
    if (window.end === 0) return { lines: 0, size: 0, kept: [], places: [] };
    this.look(true);
    this.keeper.takeTail(window);
    const lines = window.feedsBefore(window.end) + (window.data[window.length - 1] === LF ? 0 : 1);
    const kept = [...rawLines(this.keeper.pieces(), window.end, this.file)];
    return { lines, size: window.end, kept, places: this.places };
  }

  /** Looks at the new bytes, and makes room for more. @param {boolean} ended */
  look(ended) {
    const { window, keys } = this;
    window.count();
    const short = ended && window.end <= HEAD + TAIL;
    this.keeper.take(window, short ? [] : this.found(keys), ended);
    if (ended) return;
    window.carry();
    const [, last] = this.places.at(-1) ?? [0, 0];
    if (window.start >= last + PLACE_EVERY) this.places.push([window.feedsAtStart, window.start]);
  }

  /** The literals that end in the new bytes, with absolute places. @param {Keys} keys */
  found(keys) {
    const { window } = this;
    const from = Math.max(0, window.fresh - keys.longest + 1);
    return keys.finder
      .find(window.data, from, window.length)
      .filter(({ place, number }) => place + keys.literals[number].length > window.fresh)
      .map(({ place, number }) => ({ place: place + window.start, number }));
  }
}

/**
 * Scans a stream to its end. Throws what the stream throws.
 * @param {AsyncIterable<Uint8Array>} stream @param {number} file @param {Keys} keys
 */
export async function scan(stream, file, keys) {
  const running = new Scan(file, keys);
  for await (const bytes of stream) running.take(bytes);
  return running.finish();
}

/**
 * A part of the stream: what was carried over, then the new bytes. `start` and `end` are places in the stream,
 * `fresh` and `length` in `data`.
 */
class Window {
  constructor() {
    this.data = new Uint8Array(TAIL + CHUNK);
    this.words = new Int32Array(this.data.buffer);
    this.start = 0;
    this.length = 0;
    this.fresh = 0;
    this.feedsAtStart = 0;
    this.feeds = new Float64Array(this.data.length / BLOCK + 1);
  }

  get end() {
    return this.start + this.length;
  }

  get full() {
    return this.length === this.data.length;
  }

  /** Takes in as much as there is room for, and says how much. @param {Uint8Array} bytes @param {number} from */
  add(bytes, from) {
    const count = Math.min(bytes.length - from, this.data.length - this.length);
    this.data.set(from === 0 && count === bytes.length ? bytes : bytes.subarray(from, from + count), this.length);
    this.length += count;
    return count;
  }

  /** Keeps the last bytes and drops those before. */
  carry() {
    const drop = this.length - TAIL;
    this.feedsAtStart = this.feedsBefore(this.start + drop);
    this.data.copyWithin(0, drop, this.length);
    this.start += drop;
    this.length -= drop;
    this.fresh = this.length;
  }

  /** Counts the line feeds of every block. */
  count() {
    let total = this.feedsAtStart;
    this.feeds[0] = total;
    for (let block = 0; block * BLOCK < this.length; block += 1) {
      const whole = (block + 1) * BLOCK <= this.length;
      total += whole ? feedsInBlock(this.words, block) : feedsIn(this.data, block * BLOCK, this.length);
      this.feeds[block + 1] = total;
    }
  }

  /** Line feeds before a place of the stream that lies in the counted window. @param {number} place */
  feedsBefore(place) {
    const at = place - this.start;
    const block = Math.floor(at / BLOCK);
    return this.feeds[block] + feedsIn(this.data, block * BLOCK, at);
  }

  /** The letters that stand from here on, up to the line's end. @param {number} place */
  familyAt(place) {
    const from = place - this.start;
    const to = Math.min(from + FAMILY_BYTES, this.length);
    let family = "";
    for (let i = from; i < to && this.data[i] !== LF; i += 1) {
      const lower = this.data[i] | 0x20;
      if (lower >= 0x61 && lower <= 0x7a) family += String.fromCharCode(this.data[i]);
    }
    return family;
  }

  /**
   * The line at a place with the line feeds before and after it, or as much as is looked at.
   * @param {number} place
   * @returns {[number, number]}
   */
  lineAround(place) {
    const at = place - this.start;
    const first = this.data.subarray(Math.max(0, at - OWN_BEFORE), at).lastIndexOf(LF);
    const last = this.data.subarray(at, Math.min(at + OWN_AFTER, this.length)).indexOf(LF);
    const start = first < 0 ? place - OWN_BEFORE : this.start + Math.max(0, at - OWN_BEFORE) + first;
    return [start, last < 0 ? place + OWN_AFTER : place + last + 1];
  }

  /** @param {number} start @param {number} end @returns {Piece} */
  piece(start, end) {
    const content = this.data.slice(start - this.start, end - this.start);
    return { start, feeds: this.feedsBefore(start), content };
  }
}

/**
 * Line feeds in a whole block, four bytes at a time: a byte's high bit is set where it is none, then the bits
 * are added up in four lanes.
 * @param {Int32Array} words @param {number} block
 */
function feedsInBlock(words, block) {
  const [from, to] = [(block * BLOCK) / 4, ((block + 1) * BLOCK) / 4];
  let others = 0;
  for (let start = from; start < to; start += 128) {
    let lanes = 0;
    for (let i = start; i < start + 128; i += 1) {
      const word = words[i] ^ 0x0a0a0a0a;
      lanes = (lanes + ((((word & 0x7f7f7f7f) + 0x7f7f7f7f) | word) >>> 7 & 0x01010101)) | 0;
    }
    others += (lanes & 0xff) + ((lanes >>> 8) & 0xff) + ((lanes >>> 16) & 0xff) + (lanes >>> 24);
  }
  return BLOCK - others;
}

/** @param {Uint8Array} data @param {number} from @param {number} to */
function feedsIn(data, from, to) {
  let total = 0;
  for (let i = from; i < to; i += 1) {
    if (data[i] === LF) total += 1;
  }
  return total;
}

/** Intervals of the stream that come sorted by their starts, as pieces: the first bytes of their union. */
class Union {
  /** @param {number} [until] */
  constructor(until = 0) {
    this.taken = 0;
    this.until = until;
    this.size = 0;
    /** @type {Piece[]} */
    this.pieces = [];
  }

  /** @param {Window} window @param {number} from @param {number} end */
  add(window, from, end) {
    const start = Math.max(0, from);
    if (start > this.until) {
      this.keep(window, this.until);
      this.taken = start;
    }
    this.until = Math.max(this.until, end);
  }

  /** Keeps what is wanted, as far as the window reaches. @param {Window} window */
  flush(window) {
    this.keep(window, Math.min(this.until, window.end));
  }

  /** @param {Window} window @param {number} until */
  keep(window, until) {
    const end = Math.min(until, this.taken + BUDGET - this.size);
    if (this.taken < end) this.put(window.piece(this.taken, end));
  }

  /** @param {Piece} piece */
  put(piece) {
    this.pieces.push(piece);
    this.size += piece.content.length;
    this.skipTo(endOf(piece));
  }

  /** @param {number} place */
  skipTo(place) {
    this.taken = place;
  }

  dropOldest() {
    this.size -= this.pieces.shift()?.content.length ?? 0;
  }
}

/** The last bytes of a union. What a window adds is taken at its end: most of it would be dropped again. */
class Ring extends Union {
  constructor() {
    super();
    /** @type {[number, number][]} */
    this.added = [];
  }

  /** @override @param {Window} window */
  flush(window) {
    super.flush(window);
    for (const [start, end] of lastBytes(this.added)) this.put(window.piece(start, end));
    this.added = [];
    while (this.size - this.pieces[0]?.content.length >= RING) this.dropOldest();
  }

  /** @override @param {Window} window @param {number} end */
  keep(window, end) {
    if (this.taken >= end) return;
    this.added.push([this.taken, end]);
    this.skipTo(end);
  }

  /** The pieces without what is too much of the oldest. */
  last() {
    const [oldest, ...others] = this.pieces;
    const count = this.size - RING;
    if (count <= 0) return this.pieces;
    const feeds = oldest.feeds + feedsIn(oldest.content, 0, count);
    return [{ start: oldest.start + count, feeds, content: oldest.content.subarray(count) }, ...others];
  }
}

/** Of intervals in order what covers the last `RING` bytes. @param {[number, number][]} intervals */
function lastBytes(intervals) {
  /** @type {[number, number][]} */
  const last = [];
  let room = RING;
  for (let i = intervals.length - 1; i >= 0 && room > 0; i -= 1) {
    const [start, end] = intervals[i];
    last.push([Math.max(start, end - room), end]);
    room -= end - start;
  }
  return last.reverse();
}

/** Decides around which hits to keep how much. */
class Keeper {
  /** @param {Keys} keys */
  constructor(keys) {
    this.restarts = keys.restarts;
    this.margin = Math.max(OWN_AFTER, keys.longest);
    /** @type {Map<string, number>} */
    this.counts = new Map();
    /** @type {Map<number, number>} */
    this.keyCounts = new Map();
    /** @type {Found[]} */
    this.pending = [];
    this.full = new Union(HEAD);
    this.each = new Union();
    this.ring = new Ring();
    /** @type {Piece[]} */
    this.tail = [];
  }

  /**
   * Keeps what these hits call for; those whose family is not all there wait for the next window.
   * @param {Window} window @param {Found[]} hits @param {boolean} ended
   */
  take(window, hits, ended) {
    const due = [...this.pending, ...hits].sort((a, b) => a.place - b.place || a.number - b.number);
    const border = window.end - (ended ? 0 : this.margin);
    this.pending = due.filter((hit) => hit.place > border);
    for (const hit of due.slice(0, due.length - this.pending.length)) this.hit(window, hit);
    for (const union of [this.full, this.each, this.ring]) union.flush(window);
  }

  /** @param {Window} window */
  takeTail(window) {
    this.tail.push(window.piece(Math.max(window.start, window.end - TAIL), window.end));
  }

  /** What is kept, in order, without what is kept twice, pieces that touch joined. @returns {Piece[]} */
  pieces() {
    const kept = [...this.full.pieces, ...this.each.pieces, ...this.ring.last(), ...this.tail];
    kept.sort((a, b) => a.start - b.start || endOf(b) - endOf(a));
    /** @type {Piece[][]} */
    const runs = [];
    let end = -1;
    for (const piece of kept) {
      if (endOf(piece) <= end) continue;
      if (piece.start > end) runs.push([piece]);
      else runs[runs.length - 1].push({ ...piece, content: piece.content.subarray(end - piece.start) });
      end = endOf(piece);
    }
    return runs.map(joined);
  }

  /** @param {Window} window @param {Found} hit */
  hit(window, { place, number }) {
    if (this.restarts.has(number)) {
      this.counts.clear();
      this.keyCounts.clear();
    }
    const hits = this.keyCounts.get(number) ?? 0;
    if (hits < KEY_HITS) {
      this.keyCounts.set(number, hits + 1);
      this.firstOnes(window, place);
    }
    this.ring.add(window, place - BEFORE, place + AFTER);
  }

  /** @param {Window} window @param {number} place */
  firstOnes(window, place) {
    let family = window.familyAt(place);
    if (this.counts.size >= FAMILIES && !this.counts.has(family)) family = "";
    const count = this.counts.get(family) ?? 0;
    this.counts.set(family, count + 1);
    if (count < FULL) this.full.add(window, place - BEFORE, place + AFTER);
    else if (count < EACH) this.each.add(window, ...window.lineAround(place));
  }
}

/** @param {Piece} piece */
function endOf(piece) {
  return piece.start + piece.content.length;
}

/** @param {Piece[]} run pieces that follow one another @returns {Piece} */
function joined(run) {
  if (run.length === 1) return run[0];
  const content = new Uint8Array(run.reduce((sum, piece) => sum + piece.content.length, 0));
  let at = 0;
  for (const piece of run) {
    content.set(piece.content, at);
    at += piece.content.length;
  }
  return { start: run[0].start, feeds: run[0].feeds, content };
}

/**
 * The pieces' lines. What a border cuts is dropped; of CR LF, and of what a bar draws over, no empty part.
 * @param {Piece[]} pieces @param {number} size @param {number} file
 * @returns {Generator<Raw>}
 */
function* rawLines(pieces, size, file) {
  for (const piece of pieces) {
    const rows = split(piece.content, LF);
    const toEnd = endOf(piece) === size;
    if (toEnd && rows[rows.length - 1].length === 0) rows.pop();
    for (const [number, row] of rows.entries()) {
      const parts = row.includes(CR) ? split(row, CR) : [row];
      let shown = false;
      for (const [at, part] of parts.entries()) {
        const cutBefore = number === 0 && at === 0 && piece.start > 0;
        const cutAfter = number === rows.length - 1 && at === parts.length - 1 && !toEnd;
        const dropped = (cutBefore || cutAfter) && part.length < LONG;
        if (dropped || part.length > 0) shown = true;
        if (!dropped && part.length > 0) yield { file, number: piece.feeds + number + 1, content: cut(part) };
      }
      if (!shown) yield { file, number: piece.feeds + number + 1, content: row.subarray(0, 0) };
    }
  }
}

/** @param {Uint8Array} bytes @param {number} byte */
function split(bytes, byte) {
  const rows = [];
  let start = 0;
  for (let end = bytes.indexOf(byte); end >= 0; end = bytes.indexOf(byte, start)) {
    rows.push(bytes.subarray(start, end));
    start = end + 1;
  }
  rows.push(bytes.subarray(start));
  return rows;
}
