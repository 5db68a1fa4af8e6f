/** Lines of a log by their numbers, read again from the file or the text: nothing of it is kept. */

import { clean } from "./diagnose/clean.js";
import { Source } from "./diagnose/read.js";
import { HIDDEN } from "./hidden.js";

/** @typedef {import("./diagnose/read.js").Item} Item */
/** @typedef {import("./diagnose/read.js").Bytes} Bytes */
/** Known places of a file: [line feeds before, byte]. @typedef {[number, number][]} Places */
/** @typedef {{number: number, text: string}} Row */

const LONGEST_LINE = 16 * 1024;
const MOST_PARTS = 6;
const LINE_FEED = 10;
const UNSEEN = new RegExp(`[${HIDDEN}]`, "gu");

/**
 * The lines `first` to `last` (from 1), as far as they are there. A line that a progress bar drew over gives several rows
 * with one number. Rejects with a ReadError, or with what reading a file rejects with.
 * @param {Item} item @param {Places} places @param {number} first @param {number} last @returns {Promise<Row[]>}
 */
export async function linesOf(item, places, first, last) {
  const [feeds, byte] = places.filter(([before]) => before < first).at(-1) ?? [0, 0];
  const source = new Source(item);
  const chunks = byte > 0 ? chunksOf(source.blob.slice(byte).stream()) : source.open();
  const rows = new Rows(feeds + 1, first, last);
  for await (const chunk of chunks) {
    if (rows.take(chunk)) break;
  }
  return rows.all();
}

/** @param {ReadableStream<Bytes>} stream */
async function* chunksOf(stream) {
  const reader = stream.getReader();
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

/** Counts line feeds, and keeps the lines that are wanted. */
class Rows {
  /** @param {number} number of the line that comes first @param {number} first @param {number} last */
  constructor(number, first, last) {
    this.number = number;
    this.first = first;
    this.last = last;
    /** @type {Row[]} */
    this.rows = [];
    /** @type {number[]} */
    this.line = [];
  }

  /** Whether the last line is complete. @param {Bytes} chunk */
  take(chunk) {
    for (let at = 0; at < chunk.length; ) {
      const found = chunk.indexOf(LINE_FEED, at);
      const end = found === -1 ? chunk.length : found;
      const until = Math.min(end, at + LONGEST_LINE - this.line.length);
      if (this.number >= this.first) for (let i = at; i < until; i++) this.line.push(chunk[i]);
      if (found === -1) return false;
      this.end();
      if (this.number > this.last) return true;
      at = found + 1;
    }
    return false;
  }

  end() {
    if (this.number >= this.first) this.rows.push(...rowsOf(this.number, new Uint8Array(this.line)));
    this.line = [];
    this.number += 1;
  }

  all() {
    if (this.line.length > 0) this.end();
    return this.rows;
  }
}

/** @param {number} number @param {Bytes} line @returns {Row[]} */
function rowsOf(number, line) {
  const parts = new TextDecoder("latin1").decode(line).split("\r").map((part) => part.length);
  const rows = [];
  let at = 0;
  for (const length of parts) {
    if (length > 0) rows.push({ number, text: clean(line.subarray(at, at + length)).replace(UNSEEN, "") });
    at += length + 1;
  }
  return rows.length > 0 ? rows.slice(-MOST_PARTS) : [{ number, text: "" }];
}
