/**
 * Roles, exits and testimony → which line and rank started it, and how sure that is.
 * Twin of generator/diagnose/verdict.py.
 */

import { stripped } from "./characters.js";
import { whole } from "./exits.js";
import { familyOf } from "./normal.js";
import { infer } from "./witness.js";

/** @typedef {import("./attempts.js").Attempt} Attempt */
/** @typedef {import("./events.js").Event} Event */
/** @typedef {import("./exits.js").Exit} Exit */
/** @typedef {import("./exits.js").Exits} Exits */
/** @typedef {import("./knowledge.js").Explains} Explains */
/** @typedef {import("./knowledge.js").Knowledge} Knowledge */
/** @typedef {import("./match.js").Hit} Hit */
/** @typedef {import("./match.js").Text} Text */
/** @typedef {import("./speaker.js").Line} Line */
/** @typedef {import("./witness.js").Inference} Inference */
/** @typedef {import("./witness.js").Testimony} Testimony */
/** A code with its parameters. @typedef {[string, Record<string, string | number>]} Why */
/** The answer before it is put into words. @typedef {{grade: string, initiating: Candidate | null, missing: string, missingRanks: number[]}} Verdict */
/** @typedef {{attempt: Attempt, exits: Exits, heard: Testimony, text: Text, members: number[], knowledge: Knowledge}} Told */

const OWN = ["cause", "local"];
const KILLS = [-9];
const SAME_MOMENT = 60_000;
/** @type {Map<string, number>} */
const WEAK = new Map([
  ["ambiguous", 0],
  ["wrapper", 1],
  ["weak", 2],
  ["numeric", 2],
  ["plain", 3],
  ["cut", 4],
]);
const ROLES_OF_OTHERS = ["witness", "peer", "supervisor", "teardown", "confirmation", "death"];
const PASTED_LINES = 12;
const MOST_WORDS = 60;
const ENDINGS = ["terminate", "what", "c-assert", "fatal-python", "aborted-shell"];
const LONGEST_CHAIN = 50;

/** All that is known of the last attempt. */
export class Scene {
  /** @param {Told} told */
  constructor({ attempt, exits, heard, text, members, knowledge }) {
    this.attempt = attempt;
    this.exits = exits;
    this.heard = heard;
    this.text = text;
    this.members = members;
    /** Whether the number of members is stated. */
    this.closed = exits.world > 0;
    this.knowledge = knowledge;
    /** By rank the first of its words that it waited, or that another was gone. */
    this.wordsOfRank = wordsOfRank(attempt.events);
  }
}

/** @param {Event[]} events */
function wordsOfRank(events) {
  /** @type {Map<number, Event[]>} */
  const words = new Map();
  for (const event of events) {
    if (event.rank === null || !["witness", "peer"].includes(event.role)) continue;
    const first = words.get(event.rank) ?? [];
    if (first.length < MOST_WORDS) first.push(event);
    words.set(event.rank, first);
  }
  return words;
}

/** Something that may have started it; `line` is null where only the rank is inferred. */
export class Candidate {
  /** @param {Line | null} line @param {Event | null} event @param {number[]} ranks @param {string} role @param {Why} why */
  constructor(line, event, ranks, role, why) {
    this.line = line;
    this.event = event;
    this.ranks = ranks;
    this.symmetric = false;
    this.role = role;
    /** @type {Why[]} */
    this.why = [why];
    /** @type {Event[]} */
    this.chain = [];
    /** @type {Event[]} */
    this.alike = [];
    this.inferred = false;
  }
}

/**
 * The strongest claim that the evidence carries, and what is missing for a stronger one.
 * @param {Scene} scene
 * @returns {Verdict}
 */
export function judge(scene) {
  const told = own(scene) ?? external(scene) ?? death(scene);
  if (told !== null) return told;
  const faint = weak(scene);
  const inferred = infer(scene.heard, scene.members, scene.closed);
  if (faint !== null && !waitedBefore(scene, faint)) return faint;
  if (inferred !== null) return fromInference(inferred);
  return exitOnly(scene) ?? nothing(scene);
}

/** @param {string} grade @param {Candidate | null} [initiating] @param {string} [missing] @param {number[]} [missingRanks] @returns {Verdict} */
function verdict(grade, initiating = null, missing = "", missingRanks = []) {
  return { grade, initiating, missing, missingRanks };
}

// --- a line of the failing rank's own ---------------------------------------------------------------

/** @param {Scene} scene */
function own(scene) {
  const incidents = scene.attempt.events.filter((event) => !event.carried).map(representative);
  const all = incidents.filter((each) => OWN.includes(each.role) && !isConsequence(each, scene));
  const errors = withoutEchoes(all.sort((a, b) => a.line.order - b.line.order));
  if (errors.length === 0) return null;
  const [first] = errors;
  const candidate = new Candidate(first.line, first, [], "cause", ["own-error", {}]);
  candidate.chain = chainOf(first);
  explain(candidate, scene);
  const alike = likeOf(errors, first);
  giveRanks(candidate, first, alike, scene);
  const { grade, missing } = gradeOf(candidate, first, errors, alike, scene);
  return verdict(grade, candidate, missing, candidate.ranks);
}

/** Those that tell the same fault. @param {Event[]} events @param {Event} first */
function likeOf(events, first) {
  const family = familyOf(first.whole);
  return events.filter((each) => familyOf(each.whole) === family);
}

/**
 * Of exceptions that hang together, the one that tells the fault. The last, unless it only carries or follows
 * another; an entry's own message goes before all.
 * @param {Event} event
 */
function representative(event) {
  const chain = chainOf(event).reverse();
  const matched = chain.find((each) => each.hits.some(namesEntry));
  if (matched !== undefined && OWN.includes(matched.role)) return matched;
  return (
    chain.find((each) => OWN.includes(each.role)) ??
    chain.find((each) => !["wrapper", "supervisor"].includes(each.role)) ??
    event
  );
}

/** The exceptions that led to this one, first to last. @param {Event} event */
function chainOf(event) {
  const chain = [event];
  for (let { before } = event; before !== null && chain.length < LONGEST_CHAIN; { before } = before) chain.push(before);
  return chain.reverse();
}

/** @param {Hit} hit */
function namesEntry({ item, fits }) {
  return item.entry !== null && item.role === "cause" && fits;
}

/**
 * Whether the same rank had already told that it waited, or that another was gone. So has a process that is ended
 * from inside after a timeout, whoever it is, and a launcher that fails after it was told how a worker ended.
 * @param {Event} event @param {Scene} scene
 */
function isConsequence(event, scene) {
  if (ofLauncher(event, scene) && scene.exits.faults().some((each) => each.event.line.order < event.line.order)) {
    return true;
  }
  if (event.rank === null) {
    const ends = ENDINGS.includes(event.name);
    return ends && scene.heard.waiting.some(({ line }) => line.order < event.line.order);
  }
  const chain = chainOf(event);
  const words = scene.wordsOfRank.get(event.rank) ?? [];
  return words.some((each) => !chain.includes(each) && each.line.order < event.line.order);
}

/** @param {Event} event @param {Scene} scene */
function ofLauncher({ frames }, scene) {
  const files = frames.map(([path, name]) => `${path} ${name}`).join(" ");
  return scene.knowledge.single.launcher_frames.test(files);
}

/** Without errors of helper threads, where something better is there. @param {Event[]} errors */
function withoutEchoes(errors) {
  const better = errors.filter((each) => !each.thread);
  return better.length > 0 ? better : errors;
}

/**
 * Puts an earlier line that explains this one in its place: the compiler's error before the build's.
 * @param {Candidate} candidate @param {Scene} scene
 */
function explain(candidate, scene) {
  const { event } = candidate;
  if (event === null) return;
  const path = event.frames.at(-1)?.[0] ?? "";
  const text = `${candidate.chain.map((each) => each.whole).join(" ")} ${path}`;
  for (const rule of scene.knowledge.explains) {
    const line = rule.then.test(text) ? lineThatExplains(rule, event, scene) : null;
    if (line === null) continue;
    candidate.line = line;
    candidate.event = scene.attempt.events.find((each) => each.line === line) ?? event;
    candidate.why.push(["explains-later-error", { line: event.line.number, rule: rule.id }]);
    return;
  }
}

/**
 * The first such line before the event in its file: an error's, or else one that is no line of code.
 * What tells of another's death explains nothing.
 * @param {Explains} rule @param {Event} event @param {Scene} scene
 */
function lineThatExplains(rule, event, scene) {
  for (const { line, role } of scene.attempt.events) {
    const earlier = line.order < event.line.order && !ROLES_OF_OTHERS.includes(role);
    if (earlier && mayExplain(line, event) && rule.first.test(line.text)) return line;
  }
  const told = scene.attempt.events.filter(({ role }) => ROLES_OF_OTHERS.includes(role));
  const ofOthers = new Set(told.map(({ line }) => line.order));
  const start = scene.attempt.starts.get(event.line.file) ?? 0;
  for (const line of scene.text.lines.slice(start, event.line.order)) {
    if (ofOthers.has(line.order) || line.body.startsWith("  ")) continue;
    if (mayExplain(line, event) && rule.first.test(line.text)) return line;
  }
  return null;
}

/** @param {Line} line @param {Event} event */
function mayExplain(line, event) {
  const sameRank = line.rank === null || event.rank === null || line.rank === event.rank;
  return line.file === event.line.file && sameRank;
}

/** @param {Candidate} candidate @param {Event} first @param {Event[]} alike @param {Scene} scene */
function giveRanks(candidate, first, alike, scene) {
  const near = alike.filter((each) => nearInTime(first, each));
  candidate.alike = near;
  const ranks = sorted(near.map((each) => each.rank));
  if (ranks.length > 1) {
    candidate.ranks = ranks;
    candidate.symmetric = true;
    candidate.why.push(["same-error-on-ranks", { count: ranks.length }]);
    return;
  }
  if (ranks.length === 1) {
    candidate.ranks = ranks;
    candidate.why.push(["rank-in-line", {}]);
    return;
  }
  const rank = rankByExit(first, scene);
  if (rank !== null) {
    candidate.ranks = [rank];
    candidate.why.push(["rank-by-exit-code", {}]);
  }
}

/** @param {Event} first @param {Event} other */
function nearInTime(first, other) {
  if (first.line.time === null || other.line.time === null) return true;
  return Math.abs(first.line.time - other.line.time) <= SAME_MOMENT;
}

/** The only rank whose exit code such an error leaves. @param {Event} event @param {Scene} scene */
function rankByExit(event, scene) {
  const names = ["terminate", "what", "c-assert", "heap", "fatal-python"];
  const wanted = event.kind === "error" && names.includes(event.name) ? [-6, -11, -7] : [1, 2];
  const all = scene.exits.faults();
  const faults = all.filter((each) => wanted.includes(each.code) && each.rank !== null);
  const ranks = new Set(faults.map((each) => each.rank));
  return ranks.size === 1 && all.every((each) => ranks.has(each.rank)) ? faults[0].rank : null;
}

/**
 * How sure the line is: its own error, and nothing earlier or elsewhere that contradicts.
 * @param {Candidate} candidate @param {Event} first @param {Event[]} errors @param {Event[]} alike @param {Scene} scene
 */
function gradeOf(candidate, first, errors, alike, scene) {
  if (first.role === "local" && candidate.event === first) return { grade: "suspected", missing: "exit-code" };
  if (first.thread) return { grade: "suspected", missing: "log-of-rank" };
  if (hasRival(first, errors, alike)) {
    candidate.why.push(["other-error-elsewhere", {}]);
    return { grade: "suspected", missing: "timestamps" };
  }
  if (timedOutBefore(first, scene)) {
    candidate.why.push(["after-a-timeout", {}]);
    return { grade: "suspected", missing: "timestamps" };
  }
  candidate.why.push(["nothing-earlier", {}]);
  return { grade: "established", missing: "" };
}

/** Another rank's different error of its own that nothing shows to be later. @param {Event} first @param {Event[]} errors @param {Event[]} alike */
function hasRival(first, errors, alike) {
  const same = new Set(alike);
  for (const other of errors) {
    if (same.has(other) || other.rank === null || first.rank === null || other.rank === first.rank) continue;
    if (first.line.time !== null && other.line.time !== null) {
      if (other.line.time - first.line.time > 1000) continue;
      return true;
    }
    if (other.line.file !== first.line.file || other.header < first.line.order) return true;
  }
  return false;
}

/**
 * A timeout told earlier than an error of which nobody knows whose it is, or an error after the hang began.
 * @param {Event} first @param {Scene} scene
 */
function timedOutBefore(first, scene) {
  return scene.heard.waiting.some(({ line, waited, rank }) => {
    if (first.line.time !== null && line.time !== null) {
      const late = first.line.time > line.time - waited + SAME_MOMENT;
      return late && (first.rank === null || first.rank === rank);
    }
    return line.order < first.line.order && line.file === first.line.file && first.rank === null;
  });
}

// --- what others say ---------------------------------------------------------------------------------

/** A scheduler's or the kernel's own word. @param {Scene} scene */
function external(scene) {
  const words = scene.attempt.events.filter((each) => each.role === "confirmation");
  if (words.length === 0) return null;
  const killed = scene.exits.faults().find((each) => KILLS.includes(each.code));
  const rank = words.map((each) => rankOfWord(each, scene)).find((each) => each !== null) ?? killed?.rank ?? null;
  const ranks = rank === null ? [] : [rank];
  const candidate = new Candidate(words[0].line, words[0], ranks, "confirmation", ["said-by-system", {}]);
  candidate.alike = words;
  return verdict("supported", candidate, ranks.length > 0 ? "" : "pid-rank-map", ranks);
}

/** The rank that the word is about: by its prefix, by the pid in it, by the task. @param {Event} event @param {Scene} scene */
function rankOfWord(event, scene) {
  if (event.rank !== null) return event.rank;
  for (const { captures } of event.hits) {
    const pid = whole(captures.pid);
    const rank = pid === null ? undefined : scene.exits.rankOfPid.get(pid);
    if (rank !== undefined) return rank;
    const task = whole(captures.tasks);
    if (task !== null) return task;
  }
  return null;
}

/** A death by a signal that no launcher sent, known from a supervisor. @param {Scene} scene */
function death(scene) {
  const witnessed = scene.heard.witnesses > 0;
  const deaths = scene.exits.faults().filter((each) => each.code < 0 && !(witnessed && each.code === -6));
  if (deaths.length === 0) return null;
  const ranks = sorted(deaths.map((each) => each.rank));
  const [first] = deaths;
  const why = /** @type {Why} */ (["death-by-signal", { signal: -first.code }]);
  const candidate = new Candidate(first.event.line, first.event, ranks, "supervisor", why);
  if (ranks.length > 1) {
    candidate.symmetric = deaths.every((each) => each.code === first.code);
    return verdict("suspected", candidate, missingOf(first), ranks);
  }
  const supported = ranks.length > 0 && !waitedForOthers(first, scene);
  const { last_local } = scene.knowledge.single;
  if (!first.named && ranks.length === 0 && last_local.test(first.event.line.text)) {
    candidate.why.push(["launcher-names-last-rank", {}]);
  }
  return verdict(supported ? "supported" : "suspected", candidate, missingOf(first), ranks);
}

/** @param {Exit} ended */
function missingOf(ended) {
  return [-9, -7].includes(ended.code) ? "kernel-log" : "python-stack";
}

/** @param {Exit} ended @param {Scene} scene */
function waitedForOthers(ended, scene) {
  return ended.rank !== null && scene.heard.waiters.includes(ended.rank);
}

/** A line that names a fault but often only follows from one. @param {Scene} scene */
function weak(scene) {
  const failed = hasFailed(scene);
  const found = scene.attempt.events.filter(
    (each) => WEAK.has(each.role) && !each.carried && (failed || each.role !== "plain"),
  );
  if (found.length === 0) return question(scene);
  const best = found.reduce((a, b) => (weight(b) - weight(a) || b.line.order - a.line.order) < 0 ? b : a);
  const candidate = new Candidate(best.line, best, [], "cause", [`${best.role}-line`, {}]);
  candidate.chain = chainOf(best);
  explain(candidate, scene);
  giveRanks(candidate, best, likeOf(found, best), scene);
  const missing = best.role === "ambiguous" ? "first-nccl-warn" : "log-of-rank";
  return verdict("suspected", candidate, missing, candidate.ranks);
}

/** @param {Event} event */
function weight(event) {
  return WEAK.get(event.role) ?? 0;
}

/** Whether anything shows that the run did end, so that a plain complaint may be why. @param {Scene} scene */
function hasFailed(scene) {
  const told = scene.attempt.events.some((each) => ["cut", "wrapper"].includes(each.role));
  return told || scene.exits.faults().length > 0;
}

/** A few lines that somebody pasted and that look like an error: they are asking about these. @param {Scene} scene */
function question(scene) {
  const shown = scene.text.lines.filter((line) => stripped(line.body) !== "");
  if (shown.length > PASTED_LINES || shown.some((line) => line.bar || ["D", "I", "W"].includes(line.level))) return null;
  if (scene.attempt.events.some((each) => ROLES_OF_OTHERS.includes(each.role))) return null;
  const asked = shown.find((line) => scene.knowledge.single.question.test(line.body));
  if (asked === undefined) return null;
  const ranks = asked.rank === null ? [] : [asked.rank];
  return verdict("suspected", new Candidate(asked, null, ranks, "cause", ["pasted-line", {}]), "launcher-output");
}

/**
 * Whether a rank had told before the weak line that it waited, or that another was gone. A traceback that is cut
 * in a barrier tells no such thing: what ended it may have come from there.
 * @param {Scene} scene @param {Verdict} faint
 */
function waitedBefore(scene, faint) {
  const line = faint.initiating?.line ?? null;
  if (line === null) return true;
  const words = scene.attempt.events.filter(({ role }) => ["witness", "peer"].includes(role));
  return words.some((each) => each.kind !== "cut" && each.line.order < line.order);
}

/** @param {Inference} inferred */
function fromInference({ ranks, code, missing, firm, line }) {
  const candidate = new Candidate(line, null, ranks, "cause", [code, {}]);
  candidate.inferred = true;
  if (["named-by-witness", "silent", "store-host"].includes(code)) candidate.why.push(["others-waited", {}]);
  return verdict(firm ? "supported" : "suspected", candidate, missing, ranks);
}

/** A code without an error: the rank's own log is what is missing. @param {Scene} scene */
function exitOnly(scene) {
  const faults = scene.exits.faults().filter((each) => each.code > 0);
  if (faults.length === 0) return null;
  const [first] = faults;
  const ranks = sorted(faults.map((each) => each.rank));
  if (scene.heard.witnesses > 0 || scene.heard.reports > 0 || !first.named) {
    return verdict("undecided", null, "log-of-rank", ranks);
  }
  const why = /** @type {Why} */ (["exit-code-only", { code: first.code }]);
  const candidate = new Candidate(first.event.line, first.event, ranks.slice(0, 1), "supervisor", why);
  return verdict("suspected", candidate, "log-of-rank", ranks.slice(0, 1));
}

/** @param {Scene} scene */
function nothing(scene) {
  const { heard, exits, attempt } = scene;
  const failed = heard.witnesses > 0 || heard.reports > 0 || exits.exits.length > 0;
  if (failed || attempt.events.some((each) => ["supervisor", "cut"].includes(each.role) || endedByHand(each))) {
    return verdict("undecided", null, heard.waiting.length > 0 ? "flight-recorder" : "launcher-output");
  }
  return verdict("clean");
}

/** A teardown that somebody asked for: a signal from outside, a cancel, an interrupt. @param {Event} event */
function endedByHand(event) {
  return event.role === "teardown" && !event.ignored;
}

/** Each once, in order, without those that nobody knows. @param {(number | null)[]} ranks */
function sorted(ranks) {
  return [...new Set(ranks)].filter((rank) => rank !== null).sort((a, b) => a - b);
}
