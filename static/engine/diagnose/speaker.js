/**
 * Who said a line: the prefixes that launchers, loggers and clusters put before it, taken off one by one.
 * Twin of generator/diagnose/speaker.py.
 */

import { lengthOf, stripped } from "./characters.js";
import { clean } from "./clean.js";

/** @typedef {import("./clean.js").Raw} Raw */
/** @typedef {import("./knowledge.js").Knowledge} Knowledge */
/** @typedef {import("./knowledge.js").Tagged} Tagged */
/** Numbers of lines, and their texts. @typedef {{numbers: number[], texts: string[]}} Texts */
/** What the prefixes of one line told. @typedef {{values: Map<string, string>, logged: boolean}} Taken */

const MAX_PREFIXES = 8;
const LABEL_SAMPLE = 200;
const [NARROWEST, WIDEST] = [60, 400];
const BROKEN_LINES = 3;

/**
 * A line with its prefixes taken off. `text` is all of it, `body` what the program itself printed, indentation
 * kept. `rank` is the global rank, `local` the number inside a node, `said` a rank that the message itself
 * names as its speaker. `time` is in milliseconds from the year's start; `stream` names whoever printed this.
 */
export class Line {
  /** @param {number} file @param {number} number @param {number} order @param {string} text */
  constructor(file, number, order, text) {
    this.file = file;
    this.number = number;
    this.order = order;
    this.text = text;
    this.body = text;
    /** @type {number | null} */
    this.rank = null;
    /** @type {number | null} */
    this.local = null;
    /** @type {number | null} */
    this.said = null;
    /** @type {string | null} */
    this.node = null;
    /** @type {number | null} */
    this.pid = null;
    this.level = "";
    /** @type {number | null} */
    this.time = null;
    this.stamp = "";
    this.logged = false;
    this.bar = false;
    this.stream = "";
  }
}

/**
 * The kept lines with who said them.
 * @param {Raw[]} raws @param {string[]} names the files' names, by number @param {Knowledge} knowledge
 * @returns {Line[]}
 */
export function attribute(raws, names, knowledge) {
  /** @type {Line[]} */
  const lines = [];
  for (const [file, own] of byFile(raws)) {
    const read = { numbers: own.map((raw) => raw.number), texts: own.map((raw) => clean(raw.content)) };
    const { numbers, texts } = rejoined(read, knowledge);
    const labels = labelsOf(texts, knowledge);
    const rank = rankOfName(names[file], knowledge);
    for (const [i, text] of texts.entries()) {
      lines.push(lineOf(new Line(file, numbers[i], lines.length, text), labels, rank, knowledge));
    }
  }
  ranksOfPids(lines, knowledge);
  ranksOfLocals(lines);
  for (const line of lines) line.stream = streamOf(line);
  return lines;
}

/** @param {Raw[]} raws */
function byFile(raws) {
  /** @type {Map<number, Raw[]>} */
  const files = new Map();
  for (const raw of raws) {
    const of = files.get(raw.file) ?? [];
    of.push(raw);
    files.set(raw.file, of);
  }
  return files;
}

/** Puts together what a terminal had broken at its width. @param {Texts} read @param {Knowledge} knowledge @returns {Texts} */
function rejoined(read, knowledge) {
  const lengths = read.texts.map(lengthOf);
  const width = widthOf(read, lengths, knowledge);
  if (width === 0) return read;
  /** @type {Texts} */
  const kept = { numbers: [], texts: [] };
  for (const [at, text] of read.texts.entries()) {
    if (at > 0 && lengths[at - 1] === width && follows(read, at, knowledge)) {
      kept.texts[kept.texts.length - 1] += text;
    } else {
      kept.numbers.push(read.numbers[at]);
      kept.texts.push(text);
    }
  }
  return kept;
}

/**
 * The width at which the lines were broken, or 0. No line is longer, and what follows the longest ones begins as no
 * line of its own does.
 * @param {Texts} read @param {number[]} lengths @param {Knowledge} knowledge
 */
function widthOf(read, lengths, knowledge) {
  const width = lengths.reduce((a, b) => Math.max(a, b), 0);
  if (width < NARROWEST || width > WIDEST) return 0;
  const longest = [...lengths.keys()].filter((at) => lengths[at] === width);
  if (longest.length < BROKEN_LINES) return 0;
  const followable = longest.filter((at) => at + 1 < lengths.length);
  const followed = followable.filter((at) => follows(read, at + 1, knowledge)).length;
  return followed >= BROKEN_LINES && 4 * (followable.length - followed) <= followable.length ? width : 0;
}

/**
 * Whether a line may be the rest of the one before: next to it, and with nothing that begins a line.
 * @param {Texts} read @param {number} at @param {Knowledge} knowledge
 */
function follows({ numbers, texts }, at, knowledge) {
  const text = texts[at];
  if (numbers[at] !== numbers[at - 1] + 1 || stripped(text) === "") return false;
  if (" \t[".includes(text[0]) || knowledge.single.starter.test(text)) return false;
  return !knowledge.prefixes.byFirst(text).some((prefix) => prefix.exec(text) !== null);
}

/** NCCL says once which rank a pid is; its other lines bear the pid alone. @param {Line[]} lines @param {Knowledge} knowledge */
function ranksOfPids(lines, knowledge) {
  /** @type {Map<string, number>} */
  const ranks = new Map();
  for (const line of lines) {
    if (line.pid === null || !line.text.includes("comm 0x")) continue;
    const match = knowledge.single.comm_rank.exec(line.text);
    const key = processOf(line);
    if (match !== null && !ranks.has(key)) ranks.set(key, Number(match[1]));
  }
  for (const line of lines) {
    if (line.rank === null && line.pid !== null) line.rank = ranks.get(processOf(line)) ?? null;
  }
}

/** @param {Line} line */
function processOf(line) {
  return `${line.pid} ${line.node ?? ""}`;
}

/** On one node the number inside the node is the rank. @param {Line[]} lines */
function ranksOfLocals(lines) {
  const places = new Set();
  for (const line of lines) {
    if (line.local !== null) places.add(`${line.file} ${line.node ?? ""}`);
  }
  if (places.size > 1) return;
  for (const line of lines) line.rank ??= line.local;
}

/**
 * The rank that a file's name or folder tells, such as `attempt_0/3/stderr.log` or `x_rank3.log`.
 * @param {string} name @param {Knowledge} knowledge
 */
export function rankOfName(name, knowledge) {
  for (const tagged of knowledge.files) {
    const match = tagged.all(name.replaceAll("\\", "/")).at(-1);
    if (match !== undefined) return Number(match[1]);
  }
  return null;
}

/** The labels that most lines of the file bear, so that they are labels and no part of the text. @param {string[]} texts @param {Knowledge} knowledge */
function labelsOf(texts, knowledge) {
  /** @type {string[]} */
  const sample = [];
  for (let i = 0; i < texts.length && sample.length < LABEL_SAMPLE; i += 1) {
    if (stripped(texts[i]) !== "") sample.push(texts[i]);
  }
  if (sample.length < 4) return [];
  return knowledge.labels.filter(
    (label) => 2 * sample.filter((text) => label.exec(text) !== null).length > sample.length,
  );
}

/**
 * The line with what its prefixes tell.
 * @param {Line} line @param {Tagged[]} labels @param {number | null} fileRank @param {Knowledge} knowledge
 */
function lineOf(line, labels, fileRank, knowledge) {
  /** @type {Taken} */
  const taken = { values: new Map(), logged: false };
  const { values } = taken;
  const afterFirst = afterBar(line.text, knowledge);
  line.bar = afterFirst !== null;
  line.body = takePrefixes(afterFirst ?? line.text, labels, knowledge, taken);
  if (!line.bar) {
    const rest = afterBar(line.body, knowledge);
    line.bar = rest !== null;
    if (rest !== null) line.body = takePrefixes(rest, labels, knowledge, taken);
  }
  line.logged = taken.logged;
  line.rank = numberOf(values.get("rank")) ?? fileRank;
  line.local = numberOf(values.get("local"));
  line.said = numberOf(values.get("said"));
  line.pid = numberOf(values.get("pid"));
  line.node = values.get("node") ?? null;
  line.level = (values.get("level") ?? "").slice(0, 1);
  if (values.has("minute")) takeTime(line, values, knowledge);
  return line;
}

/** The text after the last progress bar in it; null where there is none. @param {string} text @param {Knowledge} knowledge */
function afterBar(text, knowledge) {
  if (!text.includes(", ") || !text.includes("]")) return null;
  let end = -1;
  for (const match of text.matchAll(knowledge.bars)) end = match.index + match[0].length;
  return end < 0 ? null : text.slice(end);
}

/**
 * The text without its prefixes; what they told is noted, what was told before stays.
 * @param {string} text @param {Tagged[]} labels @param {Knowledge} knowledge @param {Taken} taken
 */
function takePrefixes(text, labels, knowledge, taken) {
  let body = text;
  for (let i = 0; i < MAX_PREFIXES; i += 1) {
    const rest = takeOne(body, labels, knowledge, taken);
    if (rest === null) break;
    body = rest;
  }
  return body;
}

/** @param {string} body @param {Tagged[]} labels @param {Knowledge} knowledge @param {Taken} taken */
function takeOne(body, labels, knowledge, taken) {
  for (const label of labels) {
    const match = label.exec(body);
    if (match === null) continue;
    note(label, match, taken);
    return after(body, match);
  }
  for (const prefix of knowledge.prefixes.byFirst(body)) {
    const match = prefix.exec(body);
    if (match === null || match.index + match[0].length === 0) continue;
    note(prefix, match, taken);
    taken.logged ||= prefix.fields.includes("level") || prefix.fields.includes("minute");
    return after(body, match);
  }
  for (const label of knowledge.labels) {
    const match = label.exec(body);
    if (match === null || !knowledge.single.starter.test(after(body, match))) continue;
    note(label, match, taken);
    return after(body, match);
  }
  return null;
}

/** @param {string} text @param {RegExpExecArray} match */
function after(text, match) {
  return text.slice(match.index + match[0].length);
}

/** @param {Tagged} tagged @param {RegExpExecArray} match @param {Taken} taken */
function note(tagged, match, taken) {
  for (const [i, name] of tagged.fields.entries()) {
    const value = match[i + 1];
    if (value !== undefined && !taken.values.has(name)) taken.values.set(name, value);
  }
}

/** @param {string | undefined} text */
function numberOf(text) {
  return text === undefined ? null : Number(text);
}

/**
 * Milliseconds from the year's start, every month counted as 31 days, for order and distance; and shown.
 * @param {Line} line @param {Map<string, string>} values @param {Knowledge} knowledge
 */
function takeTime(line, values, knowledge) {
  const part = (/** @type {string} */ name) => Number(values.get(name) ?? "0");
  const month = part("month") || (knowledge.months.get(values.get("monthname") ?? "") ?? 0);
  const [day, hour, minute, second] = [part("day"), part("hour"), part("minute"), part("second")];
  const fraction = `${values.get("fraction") ?? ""}000`.slice(0, 3);
  line.time = (((month * 31 + day) * 24 + hour) * 3600 + minute * 60 + second) * 1000 + Number(fraction);
  line.stamp = `${two(month)}-${two(day)} ${two(hour)}:${two(minute)}:${two(second)}.${fraction}`;
}

/** @param {number} number */
function two(number) {
  return String(number).padStart(2, "0");
}

/** @param {Line} line */
function streamOf(line) {
  let who = "";
  if (line.rank !== null) who = `r${line.rank}`;
  else if (line.pid !== null) who = `p${line.pid}`;
  else if (line.local !== null) who = `l${line.local}`;
  return `${line.file}|${line.node ?? ""}|${who}`;
}
