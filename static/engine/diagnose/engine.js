/** Streams of bytes → the answer: the stages in their order. Twin of generator/diagnose/engine.py. */

import { compare } from "./characters.js";
import { lastAttempt } from "./attempts.js";
import { readEvents } from "./events.js";
import { readExits } from "./exits.js";
import { Knowledge } from "./knowledge.js";
import { itemsOf, Matcher, Text } from "./match.js";
import { Reporter, shown } from "./report.js";
import { giveRoles } from "./roles.js";
import { Keys, Scan, scan } from "./scan.js";
import { attribute } from "./speaker.js";
import { judge, Scene } from "./verdict.js";
import { hear } from "./witness.js";

/** @typedef {import("./clean.js").Raw} Raw */
/** @typedef {import("./exits.js").Exits} Exits */
/** @typedef {import("./knowledge.js").Tables} Tables */
/** @typedef {import("./match.js").Item} Item */
/** @typedef {import("./match.js").Row} Row */
/** @typedef {import("./report.js").Answer} Answer */
/** @typedef {import("./report.js").Entry} Entry */
/** @typedef {import("./report.js").Input} Input */
/** @typedef {import("./scan.js").Scanned} Scanned */
/** @typedef {import("./speaker.js").Line} Line */
/** @typedef {import("./verdict.js").Verdict} Verdict */
/** The parts of the bundle that a diagnosis reads. @typedef {{signatures: Row[], lines: Row[], entries: Record<string, Entry>}} Bundle */
/** A line around the beginning, as it is shown; `chosen` is the line itself. @typedef {{number: number, text: string, chosen: boolean}} Shown */
/** The answer, the lines around its beginning, and what the codes in it mean. @typedef {{answer: Answer, context: Shown[], why: Record<string, string>, scene: Scene, verdict: Verdict}} Conclusion */

const UNSCANNED = ["progress", "advice"];
const MOST_RANKS = 100_000;
const CONTEXT = 2;

/** What was read: the inputs, and of each the lines worth reading. */
export class Logs {
  constructor() {
    /** @type {Input[]} */
    this.inputs = [];
    /** @type {Raw[]} */
    this.kept = [];
  }

  /** @param {string} name @param {Scanned} scanned */
  add(name, { lines, size, kept, places }) {
    this.inputs.push({ name, lines, size, places });
    for (const raw of kept) this.kept.push(raw);
  }
}

/** Diagnoses logs by one bundle and the tables of knowledge.json. */
export class Engine {
  /** @param {Bundle} bundle @param {Tables} tables */
  constructor(bundle, tables) {
    this.entries = bundle.entries;
    this.tables = tables;
    this.knowledge = new Knowledge(tables);
    const items = itemsOf(bundle);
    this.matcher = new Matcher(items);
    this.keys = keysOf(items, this.knowledge);
  }

  /**
   * The answer for named bytes in UTF-8.
   * @param {[string, Uint8Array][]} inputs
   */
  diagnose(inputs) {
    const logs = new Logs();
    for (const [name, bytes] of inputs) {
      const running = new Scan(logs.inputs.length, this.keys);
      running.take(bytes);
      logs.add(name, running.finish());
    }
    return this.conclude(logs);
  }

  /**
   * Adds a stream to the logs, or nothing where it throws.
   * @param {Logs} logs @param {string} name @param {AsyncIterable<Uint8Array>} stream
   */
  async read(logs, name, stream) {
    logs.add(name, await scan(stream, logs.inputs.length, this.keys));
  }

  /** @param {Logs} logs @returns {Conclusion} */
  conclude(logs) {
    const { scene, verdict } = this.judged(logs);
    const answer = new Reporter(scene, verdict, logs.inputs, this.entries, this.tables).answer();
    return { answer, context: contextOf(scene, verdict), why: this.tables.why, scene, verdict };
  }

  /** What is known of the last attempt, and what follows from it. @param {Logs} logs */
  judged(logs) {
    const { knowledge } = this;
    const names = logs.inputs.map((each) => each.name);
    const lines = attribute(logs.kept, names, knowledge);
    const text = new Text(lines);
    const told = readEvents(lines, knowledge, this.matcher.findHits(text));
    giveRoles(told.events, text, knowledge);
    const attempt = lastAttempt(told, names, knowledge);
    const exits = readExits(attempt.events, statedWorld(lines, knowledge), knowledge);
    const heard = hear(attempt.events, knowledge);
    const members = membersOf(lines, exits);
    const scene = new Scene({ attempt, exits, heard, text, members, knowledge });
    return { scene, verdict: judge(scene) };
  }
}

/** The literals of the scan, each once, sorted. @param {Item[]} items @param {Knowledge} knowledge */
export function keysOf(items, knowledge) {
  const restarts = new Set(items.filter((item) => item.role === "attempt").map((item) => item.compiled.literal));
  const scanned = items.filter((item) => !UNSCANNED.includes(item.role)).map((item) => item.compiled.literal);
  const literals = [...new Set([...scanned, ...knowledge.literals])].sort(compare);
  const encoder = new TextEncoder();
  return new Keys(
    literals.map((literal) => encoder.encode(literal)),
    new Set(literals.flatMap((literal, number) => (restarts.has(literal) ? [number] : []))),
  );
}

/** The largest number of ranks that a line states, or 0. @param {Line[]} lines @param {Knowledge} knowledge */
function statedWorld(lines, knowledge) {
  let stated = 0;
  for (const { text } of lines) {
    for (const { literal, pattern } of knowledge.world) {
      if (text.includes(literal)) stated = Math.max(stated, Number(pattern.exec(text)?.[1] ?? 0));
    }
  }
  return stated;
}

/** The ranks that there must be: as many as stated, and all below the highest that is named. @param {Line[]} lines @param {Exits} exits */
function membersOf(lines, { exits, world }) {
  let highest = world - 1;
  for (const { rank, said } of lines) highest = Math.max(highest, rank ?? -1, said ?? -1);
  for (const { rank } of exits) highest = Math.max(highest, rank ?? -1);
  return Array.from({ length: Math.min(highest + 1, MOST_RANKS) }, (_, rank) => rank);
}

/** The line that is named, with its neighbours of the same speaker. @param {Scene} scene @param {Verdict} verdict @returns {Shown[]} */
function contextOf(scene, verdict) {
  const line = verdict.initiating?.line ?? null;
  if (line === null) return [];
  const near = scene.text.neighbours(line.order, CONTEXT, CONTEXT);
  return near.map((each) => ({ number: each.number, text: shown(each.text), chosen: each === line }));
}
