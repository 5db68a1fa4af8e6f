/** Lines of a log by their numbers, read again from the file or the text: nothing of it is kept. */

/** @typedef {{name: string, blob?: Blob, text?: string}} Item */
/** Known places of a file: [line feeds before, byte]. @typedef {[number, number][]} Places */
/** @typedef {{number: number, text: string}} Row */

const LONGEST_LINE = 16 * 1024;
const MOST_PARTS = 6;
const LINE_FEED = 10;
const GZIP = [0x1f, 0x8b];

/**
 * The lines `first` to `last` (from 1), as far as they are there. A line that a progress bar drew over gives several rows
 * with one number. Rejects with what reading a file rejects with.
 * @param {Item} item @param {Places} places @param {number} first @param {number} last @returns {Promise<Row[]>}
 */
export async function linesOf(item, places, first, last) {
  const blob = item.blob ?? new Blob([item.text ?? ""]);
  const start = new Uint8Array(await blob.slice(0, 4).arrayBuffer());
  const encoding = encodingOf(start);
  const packed = GZIP.every((byte, i) => start[i] === byte);
  const seekable = !packed && encoding === "utf-8";
  const [feeds, byte] = (seekable && places.filter(([before]) => before < first).at(-1)) || [0, 0];
  const stream = packed ? blob.stream().pipeThrough(new DecompressionStream("gzip")) : blob.slice(byte).stream();
  const decoder = new TextDecoder(encoding, { fatal: false });
  return await (encoding === "utf-8" ? ofBytes(stream, feeds + 1, first, last, decoder) : ofText(stream, first, last, decoder));
}

/** @param {Uint8Array} start */
function encodingOf(start) {
  if (start[0] === 0xff && start[1] === 0xfe) return "utf-16le";
  return start[0] === 0xfe && start[1] === 0xff ? "utf-16be" : "utf-8";
}

/** @param {ReadableStream<Uint8Array>} stream @param {number} number of the stream's first line @param {number} first @param {number} last @param {TextDecoder} decoder */
async function ofBytes(stream, number, first, last, decoder) {
  /** @type {Row[]} */
  const rows = [];
  /** @type {number[]} */
  let line = [];
  const reader = stream.getReader();
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) break;
      for (let at = 0; at < value.length; ) {
        const end = value.indexOf(LINE_FEED, at);
        const until = end === -1 ? value.length : end;
        if (number >= first) line.push(...value.subarray(at, Math.min(until, at + LONGEST_LINE - line.length)));
        at = until + 1;
        if (end === -1) break;
        if (number >= first) rows.push(...parts(number, decoder.decode(new Uint8Array(line))));
        line = [];
        number += 1;
        if (number > last) return rows;
      }
    }
    if (line.length > 0) rows.push(...parts(number, decoder.decode(new Uint8Array(line))));
    return rows;
  } finally {
    await reader.cancel().catch(() => {});
  }
}

/** @param {ReadableStream<Uint8Array>} stream @param {number} first @param {number} last @param {TextDecoder} decoder */
async function ofText(stream, first, last, decoder) {
  /** @type {Row[]} */
  const rows = [];
  let [number, line] = [1, ""];
  const reader = stream.getReader();
  try {
    for (let done = false; !done && number <= last; ) {
      const chunk = await reader.read();
      done = chunk.done;
      const text = done ? decoder.decode() : decoder.decode(chunk.value, { stream: true });
      const pieces = text.split("\n");
      for (const [i, piece] of pieces.entries()) {
        if (line.length < LONGEST_LINE) line += piece.slice(0, LONGEST_LINE);
        if (i === pieces.length - 1) break;
        if (number >= first && number <= last) rows.push(...parts(number, line));
        [number, line] = [number + 1, ""];
      }
    }
    if (line !== "" && number >= first && number <= last) rows.push(...parts(number, line));
    return rows;
  } finally {
    await reader.cancel().catch(() => {});
  }
}

/** @param {number} number @param {string} text @returns {Row[]} */
function parts(number, text) {
  const shown = text.split("\r").filter((part) => part !== "");
  if (shown.length === 0) return [{ number, text: "" }];
  return shown.slice(-MOST_PARTS).map((part) => ({ number, text: plain(part) }));
}

/** Without escapes and what one can't see. @param {string} text */
function plain(text) {
  return text
    .replace(/\u001b\[[0-9;:<=>?]{0,64}[ -/]{0,8}[@-~]|\u001b\][^\u0007\u001b]{0,2048}(?:\u0007|\u001b\\)?|\u001b[ -/]?[0-~]?/g, "")
    .replace(/[\u0000-\u0008\u000a-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g, "");
}
