/**
 * Raw bytes of a line → its text: no escapes, no control characters, nothing that a progress bar drew over.
 * Twin of generator/diagnose/clean.py.
 */

const HEAD_BYTES = 24 * 1024;
const TAIL_BYTES = 8 * 1024;

const ESCAPE =
  /\x1b\[[0-9;:<=>?]{0,64}[ -/]{0,8}[@-~]|\x1b\][^\x07\x1b]{0,2048}(?:\x07|\x1b\\)?|\x1b[ -/]?[0-~]?/gu;
// What is left of a colour where a terminal, an editor or a log viewer wrote the escape as text.
const WRITTEN_OUT = /(?:ESC|\^\[|\\x1b|\\033|\\u001b|\ufffd)\[[0-9;]{0,16}m/gu;
const CONTROL = /[\x00-\x08\x0a-\x1f\x7f\ufeff]/g;
const DECODER = new TextDecoder("utf-8", { ignoreBOM: true });

/**
 * A line as it stands in a file: what lies between two line ends or carriage returns. `number` counts line
 * feeds, from 1, so that several of these can bear one number.
 * @typedef {{file: number, number: number, content: Uint8Array}} Raw
 */

/** A line of sane length: of a longer one its first 24 KiB and its last 8 KiB. @param {Uint8Array} content */
export function cut(content) {
  if (content.length <= HEAD_BYTES + TAIL_BYTES) return content;
  const kept = new Uint8Array(HEAD_BYTES + TAIL_BYTES);
  kept.set(content.subarray(0, HEAD_BYTES));
  kept.set(content.subarray(-TAIL_BYTES), HEAD_BYTES);
  return kept;
}

/** The text that a terminal would have shown, bytes that are no UTF-8 replaced by U+FFFD. @param {Uint8Array} content */
export function clean(content) {
  const text = DECODER.decode(content);
  const plain = text.includes("\x1b") ? text.replace(ESCAPE, "") : text;
  return plain.replace(WRITTEN_OUT, "").replace(CONTROL, "");
}
