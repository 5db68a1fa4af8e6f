/**
 * Who waited for whom: what the ranks that did not fail tell of the one that did.
 * Twin of generator/diagnose/witness.py.
 */

import { compare } from "./characters.js";
import { whole } from "./exits.js";

/** @typedef {import("./events.js").Event} Event */
/** @typedef {import("./knowledge.js").Knowledge} Knowledge */
/** @typedef {import("./speaker.js").Line} Line */
/** A rank's word that it waited: in which process group, at which step, in which operation. @typedef {{rank: number, group: string, sequence: number, operation: string, numel: string, waited: number, line: Line}} Waiting */
/** How far a rank was in a process group. @typedef {{rank: number, group: string, enqueued: number, completed: number}} Status */
/** Whom the testimony points at: ranks, how it is known, and what is missing to be sure. @typedef {{ranks: number[], code: string, missing: string, firm: boolean, line: Line | null}} Inference */

const STORE = ["store-", "rendezvous-"];
const BARRIER = "monitored-barrier-other";

/** All that waiting and surviving ranks told; `innocent` are those who told. */
export class Testimony {
  constructor() {
    /** @type {Waiting[]} */
    this.waiting = [];
    /** @type {Status[]} */
    this.status = [];
    /** @type {number[]} */
    this.named = [];
    /** @type {number[]} */
    this.innocent = [];
    this.store = false;
    this.barrier = false;
    this.witnesses = 0;
    this.reports = 0;
  }

  get waiters() {
    return sorted(this.waiting.map((each) => each.rank));
  }
}

/**
 * What the witnesses and the reports of others' deaths tell.
 * @param {Event[]} events @param {Knowledge} knowledge
 */
export function hear(events, knowledge) {
  const heard = new Testimony();
  for (const event of events) {
    if (["witness", "peer", "teardown", "advice"].includes(event.role)) hearOne(event, knowledge, heard);
  }
  joinGroups(heard);
  return heard;
}

/** Gives a timeout line, which names no group, the group of the same rank's next line on that step. @param {Testimony} heard */
function joinGroups(heard) {
  const groups = new Map();
  for (const each of [...heard.waiting].reverse()) {
    if (each.group !== "") groups.set(`${each.rank} ${each.sequence}`, each.group);
  }
  for (const each of heard.waiting) each.group ||= groups.get(`${each.rank} ${each.sequence}`) ?? "";
}

/** @param {Event} event @param {Knowledge} knowledge @param {Testimony} heard */
function hearOne(event, knowledge, heard) {
  const text = event.kind === "exception" ? event.whole : event.line.text;
  const rank = speakerOf(event, text, knowledge);
  const group = knowledge.watchdog.group.exec(text)?.[1] ?? "";
  if (event.role === "witness") heard.witnesses += 1;
  if (event.role === "peer") heard.reports += 1;
  const survived = ["witness", "peer"].includes(event.role);
  if (survived && rank !== null && !heard.innocent.includes(rank)) heard.innocent.push(rank);
  const ofStore = event.hits.some((hit) => STORE.some((start) => hit.item.id.startsWith(start)));
  if (survived && ofStore) heard.store = true;
  if (survived && event.hits.some((hit) => hit.item.id === BARRIER)) heard.barrier = true;
  if (rank !== null) hearWatchdog(event, text, rank, group, knowledge, heard);
  hearNames(text, knowledge, heard);
}

/**
 * @param {Event} event @param {string} text @param {number} rank @param {string} group
 * @param {Knowledge} knowledge @param {Testimony} heard
 */
function hearWatchdog(event, text, rank, group, knowledge, heard) {
  const { watchdog } = knowledge;
  const { line } = event;
  const timeout = watchdog.timeout.exec(text);
  if (timeout !== null) {
    const [, sequence, operation, inside, outside, , waited] = timeout;
    const numel = `${inside ?? ""}/${outside ?? ""}`;
    heard.waiting.push({ rank, group, sequence: Number(sequence), operation, numel, waited: Number(waited), line });
  }
  const detected = watchdog.detected.exec(text);
  if (detected !== null && timeout === null) {
    heard.waiting.push({ rank, group, sequence: Number(detected[1]), operation: "", numel: "", waited: 0, line });
  }
  const status = watchdog.progress.exec(text);
  if (status !== null) {
    heard.status.push({ rank, group, enqueued: Number(status[1]), completed: Number(status[2]) });
  }
}

/** @param {string} text @param {Knowledge} knowledge @param {Testimony} heard */
function hearNames(text, knowledge, heard) {
  const barrier = knowledge.single.barrier.exec(text);
  const finished = knowledge.watchdog.finished.exec(text);
  const lists = [barrier, finished].flatMap((match) => (match === null ? [] : [match[1]]));
  for (const each of lists.flatMap((list) => list.replaceAll(" ", "").split(","))) {
    const rank = whole(each);
    if (rank !== null && !heard.named.includes(rank)) heard.named.push(rank);
  }
}

/** @param {Event} event @param {string} text @param {Knowledge} knowledge */
function speakerOf(event, text, knowledge) {
  if (event.rank !== null) return event.rank;
  const { watchdog, single } = knowledge;
  const match = watchdog.rank.exec(text) ?? watchdog.group.exec(text) ?? single.aborted.exec(text);
  if (match !== null) return Number(match[match.length - 1]);
  return event.line.said ?? event.line.local;
}

/**
 * Whom the silence points at.
 * @param {Testimony} heard @param {number[]} members
 * @param {boolean} closed the members are known, not only those that were seen
 * @returns {Inference | null}
 */
export function infer(heard, members, closed) {
  if (heard.named.length > 0) return inference(sorted(heard.named), "named-by-witness", "log-of-rank");
  if (heard.waiting.length > 0) return fromWaiting(heard, members, closed);
  if (heard.store && !heard.innocent.includes(0)) return inference([0], "store-host", "log-of-rank");
  if (heard.barrier && !heard.innocent.includes(0)) return inference([0], "barrier-head", "log-of-rank");
  return heard.innocent.length > 0 ? fromSilence(heard.innocent, members) : null;
}

/** @param {number[]} ranks @param {string} code @param {string} missing @returns {Inference} */
function inference(ranks, code, missing) {
  return { ranks, code, missing, firm: false, line: null };
}

/** @param {Testimony} heard @param {number[]} members @param {boolean} closed */
function fromWaiting(heard, members, closed) {
  const odd = oddOf(heard);
  if (odd.length > 0) return { ...inference(odd, "odd-operation", "python-stack"), line: lineOf(odd, heard) };
  const behind = behindOf(heard);
  const { waiters } = heard;
  if (behind.length > 0) {
    const told = new Set([...heard.status.map((each) => each.rank), ...waiters]);
    const firm = closed && members.every((rank) => told.has(rank));
    return { ...inference(behind, "behind", "python-stack"), firm };
  }
  const waiting = new Set(waiters);
  if (members.some((rank) => !waiting.has(rank))) return fromSilence(waiters, members);
  const slowest = slowestOf(heard);
  return slowest.length > 0 ? inference(slowest, "lowest-sequence", "process-groups") : null;
}

/** Ranks that never started the step at which the others wait. @param {Testimony} heard */
function behindOf(heard) {
  const waiting = new Set(heard.waiters);
  const found = [];
  for (const group of new Set(heard.waiting.map((each) => each.group))) {
    const first = least(heard.waiting.filter((each) => each.group === group).map((each) => each.sequence));
    for (const each of heard.status) {
      if (each.group === group && each.enqueued < first && !waiting.has(each.rank)) found.push(each.rank);
    }
  }
  return sorted(found);
}

/** @param {number[]} spoke @param {number[]} members */
function fromSilence(spoke, members) {
  const speakers = new Set(spoke);
  const silent = members.filter((rank) => !speakers.has(rank));
  if (silent.length === 0 || 2 * silent.length > Math.max(2, members.length)) return null;
  return inference(silent, "silent", "log-of-rank");
}

/**
 * The ranks that ran another operation, or another size, at the same step: the minority. Of two that differ, the
 * one that has come less far.
 * @param {Testimony} heard
 */
function oddOf(heard) {
  for (const at of placesOf(heard)) {
    /** @type {Map<string, number[]>} */
    const kinds = new Map();
    for (const each of at) {
      if (each.operation === "") continue;
      const kind = `${each.operation} ${each.numel}`;
      const ranks = kinds.get(kind) ?? [];
      if (!ranks.includes(each.rank)) ranks.push(each.rank);
      kinds.set(kind, ranks);
    }
    if (kinds.size < 2) continue;
    const { group } = at[0];
    const sides = [...kinds.values()].map((ranks) => ({ ranks, furthest: furthestOf(ranks, group, heard) }));
    sides.sort((a, b) => a.ranks.length - b.ranks.length || a.furthest - b.furthest);
    const [first, second] = sides;
    if (first.ranks.length < second.ranks.length || first.furthest < second.furthest) return sorted(first.ranks);
  }
  return [];
}

/** What was told of each step of each group, in their order. @param {Testimony} heard */
function placesOf(heard) {
  /** @type {Map<string, Waiting[]>} */
  const places = new Map();
  for (const each of heard.waiting) {
    const key = `${each.group} ${each.sequence}`;
    const of = places.get(key) ?? [];
    of.push(each);
    places.set(key, of);
  }
  return [...places.values()].sort(
    ([a], [b]) => compare(a.group, b.group) || a.sequence - b.sequence,
  );
}

/** How far the ranks had come, by their last enqueued step. @param {number[]} ranks @param {string} group @param {Testimony} heard */
function furthestOf(ranks, group, heard) {
  let furthest = -1;
  let told = false;
  for (const each of heard.status) {
    if (each.group !== group || !ranks.includes(each.rank)) continue;
    furthest = told ? Math.max(furthest, each.enqueued) : each.enqueued;
    told = true;
  }
  return furthest;
}

/** @param {number[]} ranks @param {Testimony} heard */
function lineOf(ranks, heard) {
  return heard.waiting.find((each) => ranks.includes(each.rank))?.line ?? null;
}

/** @param {Testimony} heard */
function slowestOf(heard) {
  if (new Set(heard.waiting.map((each) => each.group)).size !== 1) return [];
  const lowest = least(heard.waiting.map((each) => each.sequence));
  if (heard.waiting.every((each) => each.sequence === lowest)) return [];
  return sorted(heard.waiting.filter((each) => each.sequence === lowest).map((each) => each.rank));
}

/** @param {number[]} numbers */
function least(numbers) {
  return numbers.reduce((a, b) => Math.min(a, b));
}

/** Each once, in order. @param {number[]} ranks */
function sorted(ranks) {
  return [...new Set(ranks)].sort((a, b) => a - b);
}
