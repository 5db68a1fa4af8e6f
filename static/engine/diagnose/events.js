/**
 * Lines → what happened: exceptions with their tracebacks, native errors, reports, progress.
 * Twin of generator/diagnose/events.py.
 */

import { stripped, tail } from "./characters.js";

/** @typedef {import("./knowledge.js").Knowledge} Knowledge */
/** @typedef {import("./knowledge.js").Tagged} Tagged */
/** @typedef {import("./match.js").Hit} Hit */
/** @typedef {import("./speaker.js").Line} Line */
/** A file and a function. @typedef {[string, string]} Frame */
/** All that the lines told; `progress` is, by stream, the orders of its steps, `finished`, by file, the last line that tells of a good end. @typedef {{events: Event[], progress: Map<string, number[]>, finished: Map<number, number>}} Told */

const MESSAGE_LINES = 14;
const CODE_LENGTH = 400;
const IGNORED_REACH = 4;
const OPEN_REACH = 400;
const HANDLED_REACH = 2;
const FINISHED = "-finished";
const OF_MESSAGES = ["peer", "witness"];

/**
 * Something that a line, or a traceback that ends in it, tells. `kind` is exception, cut (a traceback whose end
 * is missing), error (a native or tool's line), logged or report (a known line). `grade` is how telling an error
 * line is. `before` is the exception that was being handled (link `during`), from which this one was raised
 * (`direct`), or that only carries this one (`caught`). `code` is the end of a cut traceback's lines of code.
 */
export class Event {
  /** @param {string} kind @param {Line} line @param {string} grade @param {string} name @param {string} message */
  constructor(kind, line, grade, name, message) {
    this.kind = kind;
    this.line = line;
    this.grade = grade;
    this.name = name;
    this.message = message;
    /** @type {Frame[]} */
    this.frames = [];
    this.code = "";
    this.header = -1;
    /** @type {Line[]} */
    this.extra = [];
    /** @type {Hit[]} */
    this.hits = [];
    /** @type {Event | null} */
    this.before = null;
    this.link = "";
    this.carried = false;
    this.ignored = false;
    this.quiet = false;
    this.thread = false;
    this.headless = false;
    this.grouped = false;
    this.role = "";
    /** @type {number | null} */
    this.rank = line.rank;
  }

  /** The message with the lines that it goes on in, in one. */
  get words() {
    return [this.message, ...this.extra.map((line) => line.body)].join(" ");
  }

  get whole() {
    return this.name === "" ? this.words : `${this.name}: ${this.words}`;
  }
}

/** A traceback whose exception has not come yet. */
class Open {
  /** @param {Line} line @param {Stream} stream */
  constructor(line, stream) {
    this.line = line;
    this.end = line;
    /** @type {Frame[]} */
    this.frames = [];
    this.code = "";
    this.link = stream.link;
    this.before = stream.link === "" ? null : stream.last;
    this.ignored = stream.seen <= stream.ignoreUntil;
    this.quiet = false;
    this.thread = false;
    this.headless = false;
    this.grouped = stream.grouped;
    this.foreign = 0;
  }
}

/** What one speaker's text has told so far. */
class Stream {
  constructor() {
    /** @type {Open[]} */
    this.opens = [];
    /** @type {Event | null} */
    this.last = null;
    this.lastAt = -1;
    /** @type {Event | null} */
    this.tail = null;
    this.link = "";
    this.ignoreUntil = -1;
    this.thread = false;
    this.grouped = false;
    /** @type {number | null} */
    this.spawned = null;
    this.handledAt = -1;
    this.seen = 0;
  }
}

/** Reads lines in order; one traceback state a stream. */
class Reader {
  /** @param {Knowledge} knowledge @param {Map<number, Hit[]>} hits */
  constructor(knowledge, hits) {
    this.knowledge = knowledge;
    this.hits = hits;
    /** @type {Map<string, Stream>} */
    this.streams = new Map();
    /** @type {Told} */
    this.told = { events: [], progress: new Map(), finished: new Map() };
  }

  /** @param {Line[]} lines */
  read(lines) {
    for (const line of lines) this.line(line);
    for (const stream of this.streams.values()) {
      for (const left of stream.opens) {
        if (stream.last === null || stream.last.line.order < left.line.order) this.cut(left);
      }
    }
    this.told.events.sort((a, b) => a.line.order - b.line.order);
    return this.told;
  }

  /** @param {string} name */
  stream(name) {
    let stream = this.streams.get(name);
    if (stream === undefined) {
      stream = new Stream();
      this.streams.set(name, stream);
    }
    return stream;
  }

  /** @param {Line} line */
  line(line) {
    const stream = this.stream(line.stream);
    stream.seen += 1;
    const hits = this.hits.get(line.order) ?? [];
    if (this.goesOn(line, hits)) {
      const steps = this.told.progress.get(line.stream) ?? [];
      steps.push(line.order);
      this.told.progress.set(line.stream, steps);
      if (hits.some((hit) => hit.item.id.endsWith(FINISHED))) this.told.finished.set(line.file, line.order);
    }
    const body = this.withoutMargin(line, stream);
    if (this.python(line, body, stream, hits)) return;
    for (const opened of stream.opens) opened.foreign += 1;
    const event = this.other(line, body, hits);
    if (event === null) {
      this.goOn(line, body, stream, hits);
      return;
    }
    if (event.name === "what" && stream.tail !== null && stream.tail.name === "terminate") {
      event.before = stream.tail;
      event.link = "caught";
      stream.tail.carried = true;
    }
    if (this.goOn(line, body, stream, hits) && event.kind === "report" && belongsToMessage(hits)) return;
    this.told.events.push(event);
    if (stream.tail === null && event.kind === "error" && event.grade === "strong") stream.tail = event;
  }

  /** Whether the line shows that a run goes on. @param {Line} line @param {Hit[]} hits */
  goesOn(line, hits) {
    if (line.bar || hits.some((hit) => hit.item.role === "progress")) return true;
    return hits.length === 0 && this.knowledge.single.progress.test(line.body);
  }

  /** @param {Line} line @param {Stream} stream */
  withoutMargin(line, stream) {
    const groups = line.body.includes(this.knowledge.words.group);
    if (groups) stream.grouped = true;
    if (!stream.grouped) return line.body;
    const match = this.knowledge.python.margin.exec(line.body);
    if (match === null) {
      stream.grouped = groups;
      return line.body;
    }
    return line.body.slice(match.index + match[0].length);
  }

  /**
   * Whether the line belongs to a traceback or what stands around one.
   * @param {Line} line @param {string} body @param {Stream} stream @param {Hit[]} hits
   */
  python(line, body, stream, hits) {
    const { words, python } = this.knowledge;
    if (body.includes(words.header)) {
      this.open(line, body, stream);
      return true;
    }
    if (body.includes(words.during) || body.includes(words.direct)) {
      stream.link = body.includes(words.direct) ? "direct" : "during";
      stream.tail = null;
      return true;
    }
    if (python.ignored.test(body)) stream.ignoreUntil = stream.seen + IGNORED_REACH;
    if (python.thread.test(body)) {
      stream.thread = true;
      return true;
    }
    const spawned = python.spawned.exec(body);
    if (spawned !== null) {
      stream.spawned = Number(spawned[1]);
      return true;
    }
    const frame = python.frame.exec(body);
    if (frame !== null) {
      this.frame(line, [frame[1], frame[3]], stream);
      return true;
    }
    if (python.c10.test(body)) return true;
    const indented = body.startsWith("  ") || body.startsWith(" \t");
    if (stream.opens.length > 0 && hits.length === 0 && indented && !line.logged) {
      this.source(line, body, stream);
      return true;
    }
    return this.exception(line, body, stream, hits);
  }

  /** @param {Line} line @param {string} body @param {Stream} stream */
  open(line, body, stream) {
    const opened = new Open(line, stream);
    if (body.includes(this.knowledge.words.original) && stream.last !== null) {
      opened.link = "caught";
      opened.before = stream.last;
    }
    opened.quiet = line.level === "W" || stream.handledAt === stream.seen - 1;
    opened.thread = stream.thread;
    stream.link = "";
    stream.thread = false;
    stream.tail = null;
    stream.opens.push(opened);
  }

  /** @param {Line} line @param {Frame} frame @param {Stream} stream */
  frame(line, frame, stream) {
    if (stream.opens.length === 0) {
      const opened = new Open(line, stream);
      opened.headless = true;
      stream.link = "";
      stream.opens.push(opened);
    }
    stream.tail = null;
    const opened = stream.opens[stream.opens.length - 1];
    opened.frames.push(frame);
    opened.end = line;
    opened.foreign = 0;
  }

  /** A line of source code under its frame, or marks under that. @param {Line} line @param {string} body @param {Stream} stream */
  source(line, body, stream) {
    const opened = stream.opens[stream.opens.length - 1];
    if (opened.frames.length === 0 || stripped(body, " \t^~") === "") return;
    opened.end = line;
    opened.code = tail(`${opened.code} ${stripped(body)}`, CODE_LENGTH);
  }

  /** @param {Line} line @param {string} body @param {Stream} stream @param {Hit[]} hits */
  exception(line, body, stream, hits) {
    const { python } = this.knowledge;
    let owner = stream;
    const expected = stream.opens.length > 0 && stream.opens[stream.opens.length - 1].foreign === 0;
    let match = expected ? python.exception_after_frames.exec(body) : null;
    if (match === null) {
      match = python.exception_alone.exec(body);
      if (match !== null && stream.opens.length === 0) owner = this.adopted(line, stream);
    }
    const told = line.level !== "" && "DIW".includes(line.level) && owner.opens.length === 0;
    if (match === null || told) {
      this.noteHandling(body, stream);
      return false;
    }
    if (stream.tail !== null && owner.opens.length === 0 && stream.tail.kind === "exception") {
      const inside = stream.tail.extra;
      if (inside.length > 0 && stripped(inside[inside.length - 1].body) === "") inside.pop();
    }
    const event = new Event("exception", line, "strong", match[1], match[2] ?? "");
    event.hits = [...hits];
    this.close(event, owner, stream);
    return true;
  }

  /** Words such as 'retrying' right before or after an exception: the program lived on. @param {string} body @param {Stream} stream */
  noteHandling(body, stream) {
    if (!this.knowledge.single.handled.test(body)) return;
    stream.handledAt = stream.seen;
    if (stream.last !== null && stream.seen - stream.lastAt <= HANDLED_REACH) stream.last.quiet = true;
  }

  /**
   * The stream whose open traceback a line without prefix ends: the only one that is open.
   * @param {Line} line @param {Stream} stream
   */
  adopted(line, stream) {
    if (line.rank !== null || line.pid !== null) return stream;
    const near = [];
    for (const [name, other] of this.streams) {
      if (other.opens.length === 0 || !name.startsWith(`${line.file}|`)) continue;
      if (line.order - other.opens[other.opens.length - 1].line.order <= OPEN_REACH) near.push(other);
    }
    return near.length === 1 ? near[0] : stream;
  }

  /** Gives the exception its traceback, and what hangs together with it. @param {Event} event @param {Stream} owner @param {Stream} stream */
  close(event, owner, stream) {
    const { line } = event;
    const opened = owner.opens.shift();
    if (opened !== undefined) {
      event.frames = opened.frames;
      event.header = opened.line.order;
      event.before = opened.before;
      event.link = opened.link;
      event.ignored = opened.ignored;
      event.quiet = opened.quiet;
      event.thread = opened.thread;
      event.headless = opened.headless;
      event.grouped = opened.grouped;
      event.rank = line.rank ?? opened.line.rank;
    } else {
      event.headless = true;
      event.header = line.order;
      event.before = owner.link === "" ? null : owner.last;
      event.link = owner.link;
      owner.link = "";
      event.ignored = stream.seen <= stream.ignoreUntil;
    }
    if (["__del__", "_run_finalizers"].includes(event.frames.at(-1)?.[1] ?? "")) event.ignored = true;
    if (event.rank === null && stream.spawned !== null) {
      event.rank = stream.spawned;
      stream.spawned = null;
    }
    if (event.before !== null) event.before.carried = true;
    owner.last = event;
    stream.tail = event;
    owner.lastAt = owner.seen;
    this.told.events.push(event);
  }

  /** A traceback whose exception never came. @param {Open} left */
  cut(left) {
    const event = new Event("cut", left.end, "weak", "", stripped(left.end.body));
    event.frames = left.frames;
    event.header = left.line.order;
    event.rank = left.line.rank;
    event.ignored = left.ignored;
    event.quiet = left.quiet;
    event.code = left.code;
    this.told.events.push(event);
  }

  /**
   * Whether the line is one more of the message before it; if not, that message has ended.
   * @param {Line} line @param {string} body @param {Stream} stream @param {Hit[]} hits
   */
  goOn(line, body, stream, hits) {
    const { tail } = stream;
    if (tail === null) return false;
    const empty = stripped(body) === "";
    const over = tail.extra.length >= MESSAGE_LINES || line.logged || line.bar || empty;
    if (over && !(empty && tail.message === "" && tail.extra.length === 0)) {
      stream.tail = null;
      return false;
    }
    tail.extra.push(line);
    tail.hits.push(...hits.filter((hit) => hit.item.entry !== null || OF_MESSAGES.includes(hit.item.role)));
    return true;
  }

  /** @param {Line} line @param {string} body @param {Hit[]} hits */
  other(line, body, hits) {
    const tagged = this.error(line, body);
    if (tagged !== null) return withHits(new Event("error", line, tagged.grade, tagged.id, stripped(body)), hits);
    if (hits.some((hit) => hit.item.role !== "progress")) {
      return withHits(new Event("report", line, "", "", stripped(body)), hits);
    }
    const pytest = this.knowledge.python.pytest.exec(body);
    if (pytest !== null) return withHits(new Event("error", line, "strong", "pytest", pytest[1]), hits);
    const failed = ["E", "C", "F"].includes(line.level) && stripped(body) !== "";
    return failed ? withHits(new Event("logged", line, "weak", "", stripped(body)), hits) : null;
  }

  /** @param {Line} line @param {string} body */
  error(line, body) {
    const calm = line.level !== "" && "DIW".includes(line.level);
    for (const tagged of this.knowledge.errors.byLiteral(body)) {
      if (calm && !["numeric", "overflow", "weak"].includes(tagged.grade)) continue;
      if (tagged.pattern.test(body)) return tagged;
    }
    return null;
  }
}

/** @param {Event} event @param {Hit[]} hits */
function withHits(event, hits) {
  event.hits = hits;
  return event;
}

/** Whether such a line may be a part of an exception's message, so that it tells nothing beside it. @param {Hit[]} hits */
function belongsToMessage(hits) {
  return hits.every((hit) => hit.item.entry !== null || OF_MESSAGES.includes(hit.item.role));
}

/**
 * What the lines tell, in their order.
 * @param {Line[]} lines @param {Knowledge} knowledge @param {Map<number, Hit[]>} hits
 */
export function readEvents(lines, knowledge, hits) {
  return new Reader(knowledge, hits).read(lines);
}
