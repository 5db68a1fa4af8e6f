/** The verdict → what each rank told, in order: a swim-lane a rank. For the page; Python's engine draws none. */

import { head } from "./characters.js";
import { eventsOf, OF_ERRORS, OF_OTHERS, shown } from "./report.js";

/** @typedef {import("./events.js").Event} Event */
/** @typedef {import("./report.js").Input} Input */
/** @typedef {import("./speaker.js").Line} Line */
/** @typedef {import("./verdict.js").Scene} Scene */
/** @typedef {import("./verdict.js").Verdict} Verdict */
/** Of a file, the first and the last kept line of the rank in the last attempt. @typedef {{file: string, first: number, last: number}} Seen */
/** @typedef {{file: string, line: number, role: string, text: string, time: number | null}} Mark */
/** What one rank told; null where no prefix tells the rank. @typedef {{rank: number | null, seen: Seen[], events: Mark[]}} Lane */

const MOST_LANES = 4_096;
const MOST_EVENTS = 200;
const SHOWN = 300;

/**
 * A lane for each rank that speaks in the last attempt, that the verdict names, or that there must be; and, last, one
 * for what nobody's prefix tells, where there is such.
 * @param {Scene} scene @param {Verdict} verdict @param {Input[]} inputs
 * @returns {Lane[]}
 */
export function lanesOf(scene, verdict, inputs) {
  const lanes = new Lanes(inputs);
  if (scene.members.length <= MOST_LANES) for (const rank of scene.members) lanes.lane(rank);
  for (const rank of verdict.initiating?.ranks ?? []) lanes.lane(rank);
  for (const line of scene.text.lines) {
    lanes.hear(line);
    if (line.rank !== null && line.order >= (scene.attempt.starts.get(line.file) ?? 0)) lanes.see(line.rank, line);
  }
  for (const { rank, line, role } of marksOf(scene, verdict)) lanes.put(rank, line, role);
  return lanes.all();
}

class Lanes {
  /** @param {Input[]} inputs */
  constructor(inputs) {
    this.inputs = inputs;
    /** @type {Map<number | null, {seen: Map<number, Seen>, events: Mark[]}>} */
    this.lanes = new Map();
    /** The last time that each speaker told. @type {Map<string, number>} */
    this.clocks = new Map();
    /** Of each line, by order, its time or the last one that its speaker told before. @type {(number | null)[]} */
    this.times = [];
  }

  /** Lines of a traceback bear no time; what their speaker said last bears one. @param {Line} line */
  hear({ order, stream, time }) {
    if (time !== null) this.clocks.set(stream, time);
    this.times[order] = this.clocks.get(stream) ?? null;
  }

  /** @param {number | null} rank */
  lane(rank) {
    let lane = this.lanes.get(rank);
    if (lane === undefined) {
      lane = { seen: new Map(), events: [] };
      this.lanes.set(rank, lane);
    }
    return lane;
  }

  /** @param {number} rank @param {Line} line */
  see(rank, { file, number }) {
    const { seen } = this.lane(rank);
    const before = seen.get(file);
    if (before === undefined) seen.set(file, { file: this.inputs[file].name, first: number, last: number });
    else before.last = number;
  }

  /** @param {number | null} rank @param {Line} line @param {string} role */
  put(rank, line, role) {
    const { events } = this.lane(rank);
    if (events.length >= MOST_EVENTS) return;
    const { file, number, order } = line;
    const text = head(shown(line.text), SHOWN);
    events.push({ file: this.inputs[file].name, line: number, role, text, time: this.times[order] ?? null });
  }

  /** @returns {Lane[]} */
  all() {
    const byRank = [...this.lanes].sort(([a], [b]) => (a ?? Infinity) - (b ?? Infinity));
    return byRank.map(([rank, { seen, events }]) => ({ rank, seen: [...seen.values()], events }));
  }
}

/**
 * What is marked, in the lines' order.
 * @param {Scene} scene @param {Verdict} verdict
 * @returns {{rank: number | null, line: Line, role: string}[]}
 */
function marksOf(scene, verdict) {
  const { attempt } = scene;
  const found = verdict.initiating;
  const begins = eventsOf(found);
  const recovered = new Set(attempt.recovered);
  const only = found?.ranks.length === 1 ? found.ranks[0] : null;
  const marks = [];
  if (found?.line && ![...begins].some((event) => event.line === found.line)) {
    marks.push({ rank: found.line.rank ?? only ?? found.line.said, line: found.line, role: "initiating" });
  }
  for (const event of [...attempt.events, ...attempt.recovered]) {
    if (event.line === found?.line && !begins.has(event)) continue;
    const role = recovered.has(event) ? "recovered" : begins.has(event) ? "initiating" : roleOf(event);
    if (role === "") continue;
    const rank = event.rank ?? event.line.said ?? (role === "initiating" ? only : null);
    marks.push({ rank, line: event.line, role });
  }
  return marks.sort((a, b) => a.line.order - b.line.order);
}

/** @param {Event} event */
function roleOf({ role }) {
  if (OF_OTHERS.includes(role)) return role;
  return OF_ERRORS.includes(role) ? "consequence" : "";
}
