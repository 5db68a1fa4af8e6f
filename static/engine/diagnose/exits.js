/**
 * What launchers and schedulers say of processes that ended: codes, signals, pids, and whose they were.
 * Twin of generator/diagnose/exits.py.
 */

/** @typedef {import("./events.js").Event} Event */
/** @typedef {import("./knowledge.js").Knowledge} Knowledge */
/** A process that ended: `code` is negative for a signal, whoever wrote it down. @typedef {{event: Event, code: number, rank: number | null, pid: number | null, victim: boolean, named: boolean}} Exit */
/** @typedef {Record<string, string>} Captures */

const SIGTERM = -15;
const ENDED_FROM_OUTSIDE = [-1, -2, -15];
/** Lines after which a task that srun tells killed was killed by Slurm. */
const SLURM_ENDS = [
  ...["slurm-cancelled", "slurm-signal", "slurm-task-failure"],
  ...["srun-aborting", "srun-ending", "srun-forcing"],
];
const SRUN_KILLED = ["srun-killed", "srun-killed-many"];
/** @type {Map<string, number>} */
const SRUN_CODES = new Map([
  ["srun-killed", -9],
  ["srun-killed-many", -9],
  ["srun-aborted", -6],
  ["srun-segfault", -11],
  ["srun-bus", -7],
]);

/** All exits that were told, and what ties pids to ranks. */
export class Exits {
  /** @param {number} world the number of ranks that is stated, or 0 */
  constructor(world) {
    this.world = world;
    /** @type {Exit[]} */
    this.exits = [];
    /** @type {Map<number, number>} */
    this.rankOfPid = new Map();
    /** @type {Map<number, number>} */
    this.rankOfLocal = new Map();
    /** @type {Set<number>} */
    this.victims = new Set();
  }

  /** The exits that are no launcher's doing. */
  faults() {
    return this.exits.filter((each) => !each.victim && !ENDED_FROM_OUTSIDE.includes(each.code));
  }
}

/**
 * The exits in the order told, each once, with their ranks where a summary or a spawn line tells.
 * @param {Event[]} events @param {number} world the number of ranks that is stated, or 0 @param {Knowledge} knowledge
 */
export function readExits(events, world, knowledge) {
  const found = new Exits(world);
  for (const event of events) {
    for (const hit of event.hits) tie(event, hit.captures, found, knowledge);
  }
  const ending = new Set();
  for (const event of events) {
    if (event.hits.some(({ item }) => SLURM_ENDS.includes(item.id))) ending.add(event.line.file);
    if (["supervisor", "confirmation", "teardown", "death"].includes(event.role)) {
      read(event, ending.has(event.line.file), found, knowledge);
    }
  }
  readSummary(events, found);
  for (const each of found.exits) {
    if (each.pid === null) continue;
    each.rank = found.rankOfPid.get(each.pid) ?? each.rank;
    each.victim ||= found.victims.has(each.pid) && [-9, SIGTERM].includes(each.code);
  }
  found.exits = once(found.exits);
  return found;
}

/**
 * Pids, local ranks and ranks that one line ties together.
 * @param {Event} event @param {Captures} captures @param {Exits} found @param {Knowledge} knowledge
 */
function tie(event, captures, found, knowledge) {
  const [victim, local, rank] = [whole(captures.victim), whole(captures.local), whole(captures.rank)];
  if (victim !== null) found.victims.add(victim);
  if (captures.spawned !== undefined) {
    const match = knowledge.single.spawn_local.exec(event.line.text);
    if (match !== null) setDefault(found.rankOfPid, Number(match[1]), Number(match[2]));
  }
  if (rank !== null && local !== null) setDefault(found.rankOfLocal, local, rank);
}

/** Ties the pid in a row of torchrun's summary to the rank in the row above. @param {Event[]} events @param {Exits} found */
function readSummary(events, found) {
  /** @type {number | null} */
  let rank = null;
  for (const event of events) {
    for (const { item, captures } of event.hits) {
      if (item.id === "elastic-summary-rank") rank = whole(captures.rank);
      else if (item.id === "elastic-summary-code" && rank !== null) {
        const pid = whole(captures.pid);
        if (pid !== null) found.rankOfPid.set(pid, rank);
        rank = null;
      }
    }
  }
}

/**
 * Notes the exit that a line tells.
 * @param {Event} event @param {boolean} ending Slurm had told before that it ends the step
 * @param {Exits} found @param {Knowledge} knowledge
 */
function read(event, ending, found, knowledge) {
  if (event.role === "death") {
    const code = -(knowledge.signalsOfErrors.get(event.name) ?? 0);
    found.exits.push({ event, code, rank: event.rank, pid: event.line.pid, victim: false, named: true });
    return;
  }
  for (const { item, captures } of event.hits) {
    if (item.id === "elastic-summary-rank") continue;
    const code = codeOf(item.id, captures, knowledge);
    if (code === null) continue;
    /** @type {Exit} */
    const ended = { event, code, rank: whole(captures.rank), pid: whole(captures.pid), victim: false, named: true };
    ended.victim = ending && SRUN_KILLED.includes(item.id);
    place(ended, captures, found, knowledge);
    found.exits.push(ended);
    return;
  }
}

/**
 * Whose exit it is, as far as the line tells.
 * @param {Exit} ended @param {Captures} captures @param {Exits} found @param {Knowledge} knowledge
 */
function place(ended, captures, found, knowledge) {
  const local = whole(captures.local);
  if (local !== null) ended.rank ??= found.rankOfLocal.get(local) ?? local;
  if (ended.pid !== null && ended.rank !== null) setDefault(found.rankOfPid, ended.pid, ended.rank);
  const tasks = captures.tasks ?? "";
  ended.rank = whole(tasks) ?? ended.rank;
  const last = knowledge.single.last_local.exec(ended.event.line.text);
  if (ended.rank === null && ended.pid === null && tasks === "") {
    ended.named = false;
    // The process started last is the first: there is no other.
    if (last !== null && Number(last[1]) === 0 && found.world < 2) ended.rank = 0;
  }
}

/** @param {string} id @param {Captures} captures @param {Knowledge} knowledge */
function codeOf(id, captures, knowledge) {
  if (captures.code !== undefined) return signed(captures.code);
  if (captures.number !== undefined && id !== "elastic-got-signal") return negative(whole(captures.number));
  if (captures.signal !== undefined && captures.victim === undefined && id !== "deepspeed-received") {
    return negative(knowledge.signals.get(captures.signal) ?? null);
  }
  return SRUN_CODES.get(id) ?? null;
}

/** @param {number | null} code */
function negative(code) {
  return code === null ? null : -code;
}

/** A shell's 128+n and the launcher's 256-n as -n. @param {string} text */
function signed(text) {
  const digits = whole(text.replace(/^-/, ""));
  if (digits === null) return null;
  const code = text.startsWith("-") ? -digits : digits;
  if (code >= 129 && code <= 159) return 128 - code;
  return code >= 225 && code <= 255 ? code - 256 : code;
}

/** A number of digits alone, or none. @param {string | undefined} text */
export function whole(text) {
  return text !== undefined && /^[0-9]{1,15}$/.test(text) ? Number(text) : null;
}

/** @template K, V @param {Map<K, V>} map @param {K} key @param {V} value */
function setDefault(map, key, value) {
  if (!map.has(key)) map.set(key, value);
}

/** Of several words for one exit the first. @param {Exit[]} exits */
function once(exits) {
  const seen = new Set();
  return exits.filter(({ pid, rank, code }) => {
    const key = pid !== null ? `pid ${pid} ${code}` : `rank ${rank} ${code}`;
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}
