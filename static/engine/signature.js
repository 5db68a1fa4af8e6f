/**
 * The signature language: a message as upstream prints it, with typed holes. Twin of generator/signature.py,
 * which says what the language is and why every expression runs in linear time.
 */

export const KEY_BYTES = 8;
export const CONDITION_BYTES = 5;
const MAX_LINES = 3;
const MAX_HOLES = 20;
const MAX_WORK = 2_500;
const HOLE_LENGTH = 400;
const MAX_SEARCHED = 8_192;

/** @typedef {{literal: string}} Literal */
/** @typedef {{kind: string, name: string | null}} Hole */
/** @typedef {Literal | Hole} Piece */
/** @typedef {{piece: Piece, offset: number}} Placed */
/** @typedef {{literal: string, key_line: number, expressions: string[], captures: string[]}} Template what the bundle holds */
/** @typedef {{spans: [number, number][], captures: Record<string, string>}} Match spans in code points */

/** @type {Record<string, string>} */
const HOLES = {
  int: "-?[0-9]+",
  num: "-?[0-9]+(?:\\.[0-9]+)?(?:[eE][-+]?[0-9]+)?",
  hex: "(?:0x)?[0-9a-fA-F]{1,128}",
  size: "[0-9]+(?:\\.[0-9]+)? ?(?:[KMGTPE]i?)?B",
  word: "[A-Za-z0-9_.:+-]{1,400}",
  path: "[^ \\t\\n\\v\\f\\r'\"<>]{0,400}",
  quoted: "(?:'[^'\\n]{0,400}'|\"[^\"\\n]{0,400}\"|`[^`\\n]{0,400}`)",
  any: "[^\\n]{0,400}?",
};
const PATH_BETWEEN_BLANKS = "[^ \\t\\n\\v\\f\\r'\"<>]{1,400}";
const ANY_AFTER_BLANK = "(?:[^ \\t\\n][^\\n]{0,399}?)??";
const ANY_BEFORE_BLANK = "(?:[^\\n]{0,399}?[^ \\t\\n])??";
const ANY_BETWEEN_BLANKS = "[^ \\t\\n](?:[^\\n]{0,398}?[^ \\t\\n])??";

const NUMBERS = ["int", "num", "size"];
const BEGINS_WITH_DIGIT = [...NUMBERS, "hex"];
const WIDE = ["word", "path", "any"];
const MAY_BEGIN_WITH_DIGIT = [...BEGINS_WITH_DIGIT, ...WIDE];
const MAY_END_IN_DIGIT = ["int", "num", "hex", ...WIDE];

const BEFORE_NUMBER = "(?:^|[^0-9.]|(?:^|[^0-9])\\.)";
const AFTER_NUMBER = "(?:[^0-9.]|\\.[^0-9]|\\.?$)";
/** @type {Record<string, string>} */
const BEFORE = {
  int: BEFORE_NUMBER,
  num: BEFORE_NUMBER,
  size: BEFORE_NUMBER,
  hex: "(?:^|[^0-9A-Za-z])",
  word: "(?:^|[^A-Za-z0-9_.:+-])",
  path: "(?:^|[ \\t\\v\\f\\r'\"<>])",
};
/** @type {Record<string, string>} */
const AFTER = {
  int: AFTER_NUMBER,
  num: AFTER_NUMBER,
  hex: "(?:[^0-9A-Za-z]|$)",
  word: "(?:[^A-Za-z0-9_.:+-]|$)",
  path: "(?:[ \\t\\v\\f\\r'\"<>]|$)",
};

/** @type {Record<string, string>} */
const MEANT = {
  integer: "int",
  digits: "int",
  number: "num",
  float: "num",
  addr: "hex",
  address: "hex",
  bytes: "size",
  memory: "size",
  name: "word",
  id: "word",
  host: "word",
  ip: "word",
  file: "path",
  dir: "path",
  filename: "path",
  str: "quoted",
  string: "quoted",
  text: "any",
  rest: "any",
  "*": "any",
};

const NAME = /^[a-z][a-z0-9_]{0,31}$/;
const SHOWN = /^[A-Za-z0-9_*]{1,32}$/;
const DIGIT = /^[0-9]$/;
const BLANK = /^[ \t]$/;
const WORD_CHARACTER = /^[A-Za-z0-9_.:+-]$/;
const NOT_IN_PATH = /^[ \t\n\v\f\r'"<>]$/;

/** A template that can't be read; `offset` is the character (code point) of the template at fault, from 0. */
export class TemplateError extends Error {
  /** @param {string} message @param {number} offset */
  constructor(message, offset) {
    super(message);
    this.name = "TemplateError";
    this.offset = offset;
  }
}

/** A template made ready, from `compileTemplate` or from the bundle. */
export class Compiled {
  /** @param {Template} template */
  constructor(template) {
    this.literal = template.literal;
    this.keyLine = template.key_line;
    this.expressions = template.expressions;
    this.captures = template.captures;
    /** @type {RegExp[] | null} */
    this.patterns = null;
  }

  /**
   * The first match in lines that follow one another, as many as the template has, without their ends.
   * @param {readonly string[]} lines
   * @returns {Match | null}
   */
  search(lines) {
    if (lines.length !== this.expressions.length) return null;
    this.patterns ??= this.expressions.map((expression) => new RegExp(expression, "du"));
    /** @type {[number, number][]} */
    const spans = [];
    /** @type {string[]} */
    const groups = [];
    for (const [i, pattern] of this.patterns.entries()) {
      const { text, start } = this.searched(lines[i], i);
      const match = pattern.exec(text);
      if (match === null || match.indices === undefined) return null;
      const [from, to] = /** @type {[number, number]} */ (match.indices[1]);
      spans.push([start + codePoints(text, from), start + codePoints(text, to)]);
      for (const group of match.slice(2)) groups.push(group ?? "");
    }
    return { spans, captures: Object.fromEntries(this.captures.map((name, i) => [name, groups[i]])) };
  }

  /**
   * What of a line is searched: a line that is too long is searched around the key.
   * @param {string} line @param {number} number
   */
  searched(line, number) {
    if (line.length <= MAX_SEARCHED) return { text: line, start: 0 };
    const characters = Array.from(line);
    if (characters.length <= MAX_SEARCHED) return { text: line, start: 0 };
    const at = number === this.keyLine ? codePoints(line, line.indexOf(this.literal)) : 0;
    const start = Math.max(0, at - MAX_SEARCHED / 2);
    return { text: characters.slice(start, start + MAX_SEARCHED).join(""), start };
  }
}

/** How many code points stand before an index. @param {string} text @param {number} index */
function codePoints(text, index) {
  let count = 0;
  for (let i = 0; i < index; i += 1) {
    const code = text.charCodeAt(i);
    const next = i + 1 < index ? text.charCodeAt(i + 1) : 0;
    if (code >= 0xd800 && code <= 0xdbff && next >= 0xdc00 && next <= 0xdfff) i += 1;
    count += 1;
  }
  return count;
}

/**
 * The template's literals and holes in order; lines are parted by `{literal: "\n"}`.
 * @param {string} template
 * @returns {Piece[]}
 */
export function parse(template) {
  return linesOf(template).flatMap((line, i) => [
    ...(i > 0 ? [{ literal: "\n" }] : []),
    ...line.map((placed) => placed.piece),
  ]);
}

/**
 * The template as expressions and key.
 * @param {string} template
 * @param {number} [minimum] bytes that the key must have
 * @returns {Compiled}
 */
export function compileTemplate(template, minimum = KEY_BYTES) {
  const lines = linesOf(template);
  const { literal, line } = keyOf(lines);
  if (utf8Length(literal) < minimum) {
    throw new TemplateError(`needs a literal of ${minimum} bytes or more; the longest is '${literal}'`, 0);
  }
  const holes = lines.flat().flatMap(({ piece }) => ("kind" in piece && piece.name !== null ? [piece.name] : []));
  return new Compiled({ literal, key_line: line, expressions: lines.map(expressionOf), captures: holes });
}

/** @param {string} text */
function utf8Length(text) {
  return new TextEncoder().encode(text).length;
}

/** @param {string[]} chars @param {string} drop @param {boolean} start @param {boolean} end */
function strip(chars, drop, start, end) {
  let [from, to] = [0, chars.length];
  while (start && from < to && drop.includes(chars[from])) from += 1;
  while (end && to > from && drop.includes(chars[to - 1])) to -= 1;
  return chars.slice(from, to);
}

/**
 * The template's lines, each read and checked; blanks around a line are dropped.
 * @param {string} template
 * @returns {Placed[][]}
 */
function linesOf(template) {
  /** @type {string[][]} */
  const texts = [[]];
  for (const char of strip(Array.from(template), " \t\r\n", false, true)) {
    if (char === "\n") texts.push([]);
    else texts[texts.length - 1].push(char);
  }
  if (texts.length > MAX_LINES) {
    const offset = texts.slice(0, MAX_LINES).reduce((sum, text) => sum + text.length + 1, 0);
    throw new TemplateError(`has ${texts.length} lines; a signature has at most ${MAX_LINES}`, offset);
  }
  const lines = [];
  let offset = 0;
  for (const text of texts) {
    const stripped = strip(text, " \t", true, false);
    const start = offset + text.length - stripped.length;
    const content = strip(stripped, " \t\r", false, true);
    if (content.length === 0) throw new TemplateError("has an empty line", offset);
    const line = readLine(content, start);
    checkNeighbours(line);
    checkWork(line);
    lines.push(line);
    offset += text.length + 1;
  }
  checkHoles(lines);
  return lines;
}

/**
 * Literals and holes of one line, each with its offset in the template.
 * @param {string[]} text @param {number} start
 * @returns {Placed[]}
 */
function readLine(text, start) {
  /** @type {Placed[]} */
  const line = [];
  let literal = "";
  let literalAt = start;
  const close = () => {
    if (literal !== "") line.push({ piece: { literal }, offset: literalAt });
  };
  let i = 0;
  while (i < text.length) {
    const char = text[i];
    const code = /** @type {number} */ (char.codePointAt(0));
    if ((char === "{" || char === "}") && text[i + 1] === char) {
      literal += char;
      i += 2;
    } else if (char === "{") {
      close();
      const { hole, length } = readHole(text.slice(i), start + i);
      line.push({ piece: hole, offset: start + i });
      i += length;
      literal = "";
      literalAt = start + i;
    } else if (char === "}") {
      throw new TemplateError("has a stray '}'; a brace is written '}}'", start + i);
    } else if ((code < 0x20 && char !== "\t") || (code >= 0xd800 && code <= 0xdfff) || code === 0x7f) {
      throw new TemplateError("has a character that can't be printed", start + i);
    } else {
      literal += char;
      i += 1;
    }
  }
  close();
  return line;
}

/**
 * The hole at the start of `text`, and its length there.
 * @param {string[]} text @param {number} offset
 * @returns {{hole: Hole, length: number}}
 */
function readHole(text, offset) {
  const end = text.indexOf("}");
  if (end < 0) throw new TemplateError("has a hole that is not closed; a brace is written '{{'", offset);
  const inside = text.slice(1, end);
  const colon = inside.indexOf(":");
  const kind = (colon < 0 ? inside : inside.slice(0, colon)).join("");
  const name = colon < 0 ? null : inside.slice(colon + 1).join("");
  if (!Object.hasOwn(HOLES, kind)) throw new TemplateError(noSuchHole(kind), offset);
  if (name !== null && !NAME.test(name)) {
    throw new TemplateError(
      "names a hole with something else than lower-case letters, digits and _",
      offset + kind.length + 2,
    );
  }
  return { hole: { kind, name }, length: end + 1 };
}

/** What to say of a hole of unknown kind, with the kind that was probably meant. @param {string} kind */
function noSuchHole(kind) {
  const holes = `the holes are ${Object.keys(HOLES).join(", ")}`;
  if (!SHOWN.test(kind)) return `has a hole of no kind; ${holes}`;
  const lower = kind.toLowerCase();
  if (Object.hasOwn(MEANT, lower)) return `has no hole {${kind}}; did you mean {${MEANT[lower]}}?`;
  let meant = "";
  let nearest = Infinity;
  for (const known of Object.keys(HOLES).sort()) {
    const distance = distanceOf(lower, known);
    if (distance < nearest) [meant, nearest] = [known, distance];
  }
  if (nearest > (kind.length < 4 ? 1 : 2)) return `has no hole {${kind}}; ${holes}`;
  return `has no hole {${kind}}; did you mean {${meant}}?`;
}

/** Levenshtein's distance. @param {string} a @param {string} b */
function distanceOf(a, b) {
  const row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i += 1) {
    let previous = row[0];
    row[0] = i;
    for (let j = 1; j <= b.length; j += 1) {
      const here = Math.min(row[j] + 1, row[j - 1] + 1, previous + (a[i - 1] === b[j - 1] ? 0 : 1));
      previous = row[j];
      row[j] = here;
    }
  }
  return row[b.length];
}

/** @param {Placed[][]} lines */
function checkHoles(lines) {
  const holes = lines
    .flat()
    .flatMap(({ piece, offset }) => ("kind" in piece ? [{ name: piece.name, offset }] : []));
  if (holes.length > MAX_HOLES) {
    throw new TemplateError(
      `has ${holes.length} holes; at most ${MAX_HOLES} are allowed`,
      holes[MAX_HOLES].offset,
    );
  }
  const names = new Set();
  for (const { name, offset } of holes) {
    if (name !== null && names.has(name)) throw new TemplateError(`captures '${name}' twice`, offset);
    names.add(name);
  }
}

/** Rules 1 and 5: what may stand at the ends, and what beside what. @param {Placed[]} line */
function checkNeighbours(line) {
  for (const [placed, where] of /** @type {[Placed, string][]} */ ([
    [line[0], "begins"],
    [line[line.length - 1], "ends"],
  ])) {
    if (kindOf(placed.piece) === "any") {
      throw new TemplateError(`${where} with {any}, which says nothing there; leave it out`, placed.offset);
    }
  }
  for (let i = 1; i < line.length; i += 1) {
    const fault = faultBetween(line, i);
    if (fault !== null) throw new TemplateError(fault, line[i].offset);
  }
}

/**
 * What is wrong with piece `i` right after the one before it, or null.
 * @param {Placed[]} line @param {number} i
 */
function faultBetween(line, i) {
  const [left, right] = [line[i - 1].piece, line[i].piece];
  if ("kind" in left && "kind" in right) return `has no text between {${left.kind}} and {${right.kind}}`;
  if ("kind" in left && "literal" in right) {
    if (MAY_END_IN_DIGIT.includes(left.kind) && DIGIT.test(right.literal[0])) {
      return `has a digit right after {${left.kind}}, which may end in one`;
    }
    if (left.kind === "hex" && /^[a-fA-F]/.test(right.literal)) {
      return "has a hexadecimal digit right after {hex}";
    }
  }
  if ("literal" in left && "kind" in right) {
    if (MAY_BEGIN_WITH_DIGIT.includes(right.kind) && DIGIT.test(left.literal[left.literal.length - 1])) {
      return `has a digit right before {${right.kind}}, which may begin with one`;
    }
    const onlyBlank = /^[ \t]+$/.test(left.literal);
    if (WIDE.includes(right.kind) && onlyBlank && i > 1 && kindOf(line[i - 2].piece) === "any") {
      return `has nothing but a blank between {any} and {${right.kind}}`;
    }
  }
  return null;
}

/** @param {Piece | undefined} piece */
function kindOf(piece) {
  return piece !== undefined && "kind" in piece ? piece.kind : null;
}

/** Rule 4, in thousandths of a step. @param {Placed[]} line */
function checkWork(line) {
  const first = line[0].piece;
  let ways = "literal" in first ? per(1000, first.literal) : 1000;
  let free = ways;
  let [window, work] = [0, 0];
  for (const [i, { piece: hole, offset }] of line.entries()) {
    if (!("kind" in hole) || NUMBERS.includes(hole.kind)) continue;
    const [before, after] = [literalAt(line, i - 1), literalAt(line, i + 1)];
    const length = i === 0 ? 1 : hole.kind === "hex" ? 128 : HOLE_LENGTH;
    if (holds(hole.kind, before[before.length - 1])) [free, window] = [ways, 0];
    window += length;
    if (after.length > 0 && after.every((char) => holds(hole.kind, char))) {
      ways = per(Math.min(ways * length, free * window), after.join(""));
    }
    work += free * window;
    if (work > MAX_WORK * 1000) {
      throw new TemplateError(
        `could take long to match, since {${hole.kind}} may begin or end in many places; ` +
          "use narrower holes, or more text between them",
        offset,
      );
    }
  }
}

/** @param {Placed[]} line @param {number} at */
function literalAt(line, at) {
  const piece = line[at]?.piece;
  return piece !== undefined && "literal" in piece ? Array.from(piece.literal) : [];
}

/**
 * Whether a hole of this kind may hold the character; without one (at a line's end) it may not.
 * @param {string} kind @param {string | undefined} char
 */
function holds(kind, char) {
  if (char === undefined) return false;
  if (kind === "any") return true;
  if (kind === "path") return !NOT_IN_PATH.test(char);
  if (kind === "word") return WORD_CHARACTER.test(char);
  return kind === "hex" && /^[0-9a-fA-F]$/.test(char);
}

/** How often the literal begins in so many characters, at most, rounded up. @param {number} count @param {string} literal */
function per(count, literal) {
  return Math.ceil(count / periodOf(literal));
}

/** The smallest period: in any text, the literal begins at most once in so many characters. @param {string} literal */
function periodOf(literal) {
  const text = Array.from(oneBlank(literal));
  for (let period = 1; period < text.length; period += 1) {
    if (text.slice(period).every((char, i) => char === text[i])) return period;
  }
  return text.length;
}

/** @param {string} text */
function oneBlank(text) {
  return text.replace(/[ \t]+/g, " ");
}

/** The longest literal in bytes, the first of equals, and its line. @param {Placed[][]} lines */
function keyOf(lines) {
  let best = { literal: "", line: 0 };
  for (const [line, pieces] of lines.entries()) {
    for (const { piece } of pieces) {
      if (!("literal" in piece)) continue;
      for (const text of piece.literal.split(/ {2,}|[ ]*\t[ \t]*/)) {
        const literal = text.replace(/^ | $/g, "");
        if (utf8Length(literal) > utf8Length(best.literal)) best = { literal, line };
      }
    }
  }
  return best;
}

/** @param {Placed[]} line */
function expressionOf(line) {
  const pieces = line.map((placed) => placed.piece);
  const body = pieces.map((piece, i) => {
    if ("literal" in piece) return escape(piece.literal);
    const afterBlank = i === 0 || touchesBlank(pieces[i - 1], -1);
    const hole = holeBetween(piece.kind, afterBlank, touchesBlank(pieces[i + 1], 0));
    return piece.name === null ? hole : `(${hole})`;
  });
  return `${guardBefore(pieces)}(${body.join("")})${guardAfter(pieces)}`;
}

/** @param {Piece | undefined} piece @param {number} at */
function touchesBlank(piece, at) {
  return piece !== undefined && "literal" in piece && BLANK.test(/** @type {string} */ (piece.literal.at(at)));
}

/** @param {string} kind @param {boolean} afterBlank @param {boolean} beforeBlank */
function holeBetween(kind, afterBlank, beforeBlank) {
  if (kind === "path" && afterBlank && beforeBlank) return PATH_BETWEEN_BLANKS;
  if (kind !== "any" || !(afterBlank || beforeBlank)) return HOLES[kind];
  if (afterBlank && beforeBlank) return ANY_BETWEEN_BLANKS;
  return afterBlank ? ANY_AFTER_BLANK : ANY_BEFORE_BLANK;
}

/** @param {Piece[]} pieces */
function guardBefore(pieces) {
  const [first, second] = pieces;
  if ("kind" in first) return BEFORE[first.kind] ?? "";
  if (DIGIT.test(first.literal[0])) return BEFORE_NUMBER;
  const beginsFraction =
    first.literal === "."
      ? BEGINS_WITH_DIGIT.includes(kindOf(second) ?? "")
      : first.literal[0] === "." && DIGIT.test(first.literal[1]);
  return beginsFraction ? "(?:^|[^0-9])" : "";
}

/** @param {Piece[]} pieces */
function guardAfter(pieces) {
  const last = pieces[pieces.length - 1];
  if ("kind" in last) return AFTER[last.kind] ?? "";
  const text = last.literal;
  if (DIGIT.test(text[text.length - 1])) return AFTER_NUMBER;
  const endsBeforeFraction =
    text === "."
      ? ["int", "num"].includes(kindOf(pieces[pieces.length - 2]) ?? "")
      : text.endsWith(".") && DIGIT.test(text[text.length - 2]);
  return endsBeforeFraction ? "(?:[^0-9]|$)" : "";
}

/** @param {string} text */
function escape(text) {
  return oneBlank(text)
    .replace(/[\\^$.|?*+()[\]{}]/g, "\\$&")
    .replaceAll(" ", "[ \\t]+");
}
