/**
 * A pasted line → what of it carries information: no escapes, no prefix, no numbers, paths or addresses.
 * Twin of generator/normalize.py.
 */

const HEAD = 60_000;
const TAIL = 180_000;
const MAX_LENGTH = 4_000;

const ESCAPE =
  /\x1b\[[0-9;:<=>?]{0,64}[ -/]{0,8}[@-~]|\x1b\][^\x07\x1b\n]{0,2048}(?:\x07|\x1b\\)?|\x1b[ -/]?[0-~]?/g;
const UNSEEN = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g;
/** A line of which nothing is taken out. */
const PLAIN = /^[\x20-\x7e]{0,4000}$/;
const SURROGATE = /[\ud800-\udfff]/gu;
const BLANKS = /[ \t\u00a0]+/g;

const DATE = "[0-9]{4}[-/][0-9]{2}[-/][0-9]{2}";
const TIME = "[0-9]{2}:[0-9]{2}:[0-9]{2}(?:[.,][0-9]{1,9})?";
const LEVEL = "(?:DEBUG|INFO|WARNING|WARN|ERROR|CRITICAL|FATAL)";
const PREFIXES = [
  "\\[[A-Za-z_-]{1,30} ?[0-9]{1,6}\\]:?",
  "\\[[0-9]{1,6},[0-9]{1,6}\\]<std(?:out|err)>:?",
  "[0-9]{1,6}: ",
  "\\([A-Za-z_. ]{0,60}pid=[0-9]{1,10}(?:, ip=[0-9a-fA-F.:]{3,45})?\\)",
  "[Rr]ank[ =:]{0,2}[0-9]{1,6} ?[:|]",
  "[a-z][a-z-]{0,62}[.-]?[0-9]{1,9}(?:\\.[a-z0-9.-]{1,60})?: ",
  "[A-Za-z0-9._-]{1,64}:[0-9]{1,10}:[0-9]{1,10} \\[[0-9]{1,3}\\] (?:[0-9.]{1,20} )?NCCL (?:INFO|WARN)",
  `\\[?${DATE}[T _]${TIME}(?:Z|[+-][0-9]{2}:?[0-9]{2})?\\]?`,
  `\\[?${TIME}\\]?`,
  `(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) [0-9]{1,2} ${TIME}(?: [A-Za-z0-9._-]{1,64} kernel:)?`,
  "[EWIF][0-9]{4} [0-9:.]{8,20} [0-9]{1,10} [A-Za-z0-9_./-]{1,200}:[0-9]{1,6}\\]",
  "\\[ ?[0-9]{1,10}\\.[0-9]{1,9}\\]",
  `\\[${LEVEL}\\]`,
  `${LEVEL} ?[:|-]`,
  `${LEVEL} `,
  "\\[[A-Za-z0-9_./-]{1,120}:[0-9]{1,6}(?::[A-Za-z0-9_<>]{1,80})?\\]",
];

const PREFIX = new RegExp(`^(?:(?:${PREFIXES.join("|")})[ |:-]{0,4})`);
const ADDRESS = /https?:\/\/[^ ]{0,2000}|0x[0-9a-fA-F]{1,128}/g;
const CHUNK = /[^ '"`<>()[\]{},;=]+/g;
const WORD = /-?[0-9]+(?:\.[0-9]+){0,8}(?![0-9A-Za-z_])|[0-9]*[A-Za-z_][A-Za-z0-9_]*/g;
const PART = /[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[A-Z]/g;
const NUMBER = /^-?[0-9.]+$/;
const HEX = /^[0-9a-f]*[0-9][0-9a-f]*$/;

const STOP = new Set(
  `
    a about after all also an and any are as at be been before but by call called can cannot could did do does
    each error exception file following for from get given got had has have how if in info instead into is it its
    just last like line may me more most my no not now of off on one only or other our out over please raise
    raised return see self should so some such than that the their them then there these they this those to
    traceback use used using was we were what when where which while who why will with within without would
    you your kib mib gib kb mb gb tb
`
    .trim()
    .split(/\s+/),
);

/** @type {Map<string, string>} */
const SHORT = new Map(
  Object.entries({
    oom: "memory",
    mem: "memory",
    vram: "memory",
    ckpt: "checkpoint",
    grad: "gradient",
    grads: "gradient",
    param: "parameter",
    params: "parameter",
    config: "configuration",
    cfg: "configuration",
    optim: "optimizer",
    hung: "hang",
    freeze: "hang",
    stuck: "hang",
    crash: "fail",
    sigkill: "kill",
    comm: "communication",
    init: "initialize",
    initialization: "initialize",
    dataloader: "loader",
  }),
);

/**
 * The lines that a terminal would have shown, in order, empty ones left out.
 * @param {string} text
 * @returns {string[]}
 */
export function linesOf(text) {
  return ends(text)
    .split("\n")
    .map(clean)
    .filter((line) => line !== "");
}

/**
 * A line without escapes, control and direction marks; blanks are single, none stands at its ends.
 * @param {string} line
 * @returns {string}
 */
export function clean(line) {
  if (PLAIN.test(line)) return strip(line.includes("  ") ? line.replace(BLANKS, " ") : line);
  const drawn = head(line, 4 * MAX_LENGTH)
    .replace(SURROGATE, "\ufffd")
    .replace(ESCAPE, "")
    .split("\r")
    .filter((part) => /[^ \t]/.test(part));
  const shown = (drawn.at(-1) ?? "").replace(UNSEEN, "");
  return strip(head(shown, MAX_LENGTH).replace(BLANKS, " "));
}

/**
 * A clean line without what loggers and launchers put before it.
 * @param {string} line
 * @returns {string}
 */
export function withoutPrefix(line) {
  let rest = line;
  for (let i = 0; i < 8; i += 1) {
    const match = PREFIX.exec(rest);
    if (match === null) break;
    rest = rest.slice(match[0].length);
  }
  return strip(rest);
}

/** The first so many code points. @param {string} text @param {number} count */
function head(text, count) {
  if (text.length <= count) return text;
  return Array.from(text.slice(0, 2 * count)).slice(0, count).join("");
}

/** Without blanks at the ends. @param {string} text */
function strip(text) {
  return text.replace(/^ +/, "").replace(/(?<! ) +$/, "");
}

/** Of a long text its first and last code points. @param {string} text */
function ends(text) {
  if (text.length <= HEAD + TAIL) return text;
  if (text.length <= 2 * (HEAD + TAIL) && Array.from(text).length <= HEAD + TAIL) return text;
  const tail = Array.from(text.slice(-2 * TAIL)).slice(-TAIL);
  return `${head(text, HEAD)}\n${tail.join("")}`;
}

/**
 * The words of a clean line that carry information, stemmed, each once, sorted.
 * @param {string} line
 * @param {boolean} [numbers] whether small numbers count too, as in 'code -9'
 * @returns {string[]}
 */
export function wordsOf(line, numbers = false) {
  return [...new Set(readingsOf(line, numbers))].sort();
}

/** The words of all lines of the texts, as `wordsOf` has them, some more than once. @param {string[]} texts @param {boolean} numbers */
export function allWords(texts, numbers) {
  return texts.flatMap((text) => text.split("\n").flatMap((line) => readingsOf(clean(line), numbers)));
}

/** @param {string} line @param {boolean} numbers */
function readingsOf(line, numbers) {
  /** @type {string[]} */
  const found = [];
  for (const word of tokens(line)) {
    if (NUMBER.test(word)) addNumber(found, word, numbers);
    else found.push(...readings(word));
  }
  return found;
}

/** @param {string} line @returns {string[]} */
function tokens(line) {
  const chunks = line.replace(ADDRESS, " ").match(CHUNK) ?? [];
  return chunks.flatMap((chunk) => lastOfPath(chunk).match(WORD) ?? []);
}

/** Of a path its last part. @param {string} chunk */
function lastOfPath(chunk) {
  const parts = chunk.split(/[/\\]/).filter((part) => part !== "");
  const isPath = parts.length > 2 || (parts.length > 0 && "/\\~.".includes(chunk[0]));
  return isPath ? parts[parts.length - 1] : chunk;
}

/** A number that names a ZeRO stage always counts. @param {string[]} found @param {string} word @param {boolean} numbers */
function addNumber(found, word, numbers) {
  const digits = word.replace(/^-+/, "");
  const before = found.at(-1) ?? "";
  if (["zero", "stag", "zero_stage"].includes(before) && ["0", "1", "2", "3"].includes(digits)) {
    found.push(`zero${digits}`);
  } else if (numbers && digits.length <= 3 && !digits.includes(".")) {
    found.push(word);
  }
}

/** The word whole and its parts. @param {string} word @returns {string[]} */
function readings(word) {
  const lower = word.toLowerCase().replace(/^_+/, "").replace(/(?<!_)_+$/, "");
  if (lower.length < 2 || STOP.has(lower) || (lower.length >= 6 && HEX.test(lower))) return [];
  const parts = (word.match(PART) ?? [])
    .filter((part) => part.length > 2 && part.length < lower.length)
    .map((part) => part.toLowerCase())
    .filter((part) => !STOP.has(part));
  return [...parts.map(stem), stem(lower)];
}

/**
 * The word without its ending, so that 'resuming', 'resumed' and 'resume' are one.
 * @param {string} word
 * @returns {string}
 */
export function stem(word) {
  if (/^stage[0-3]$/.test(word)) return `zero${word[5]}`;
  let stemmed = SHORT.get(word) ?? word;
  if (!/^[a-z]{4,}$/.test(stemmed)) return stemmed;
  if (stemmed.endsWith("ies")) stemmed = `${stemmed.slice(0, -3)}y`;
  else if (/s$/.test(stemmed) && !/(?:ss|us|is)$/.test(stemmed)) stemmed = stemmed.slice(0, -1);
  for (const [ending, rest] of /** @type {[string, number][]} */ ([
    ["ing", 4],
    ["ed", 4],
    ["e", 3],
  ])) {
    if (stemmed.endsWith(ending) && stemmed.length - ending.length >= rest) {
      return stemmed.slice(0, -ending.length);
    }
  }
  return stemmed;
}
