/**
 * The last attempt of a run that was started several times, and faults that the run got over.
 * Twin of generator/diagnose/attempts.py.
 */

/** @typedef {import("./events.js").Event} Event */
/** @typedef {import("./events.js").Told} Told */
/** @typedef {import("./knowledge.js").Knowledge} Knowledge */
/** What belongs to the last attempt; `starts` are the orders of the lines that begin it, by file. @typedef {{number: number, starts: Map<number, number>, events: Event[], recovered: Event[]}} Attempt */

const FAULTS = ["cause", "ambiguous", "wrapper", "cut", "local", "death", "peer", "witness", "supervisor"];
const ENDS = ["supervisor", "death", "peer", "witness"];
const MAY_RECOVER = ["cause", "ambiguous", "wrapper", "cut", "weak", "local", "peer", "witness"];
const STEPS_AFTER = 3;

/**
 * The events after the last start that follows a fault, without those that the run got over. A start that follows
 * no fault (one a node, one a rank) begins no other attempt. Each file has its own.
 * @param {Told} told @param {string[]} names @param {Knowledge} knowledge
 * @returns {Attempt}
 */
export function lastAttempt(told, names, knowledge) {
  const { starts, most } = startsOf(told.events);
  const folders = names.map((name) => attemptOf(name, knowledge));
  const newest = folders.length > 0 ? folders.reduce((a, b) => Math.max(a, b)) : 0;
  const last = told.events.filter(
    ({ line }) => line.order >= (starts.get(line.file) ?? 0) && [-1, newest].includes(folders[line.file]),
  );
  const ended = last.some((event) => ENDS.includes(event.role));
  /** @type {Attempt} */
  const attempt = { number: Math.max(most, newest + 1), starts, events: [], recovered: [] };
  for (const event of last) {
    const recovered =
      event.role === "quiet" || (MAY_RECOVER.includes(event.role) && wentOn(event, told, ended));
    (recovered ? attempt.recovered : attempt.events).push(event);
  }
  return attempt;
}

/** Where the last attempt begins, by file, and how many there were in the file that has most. @param {Event[]} events */
function startsOf(events) {
  /** @type {Map<number, number>} */
  const starts = new Map();
  /** @type {Map<number, number>} */
  const numbers = new Map();
  const failed = new Set();
  for (const event of events) {
    const { file, order } = event.line;
    if (event.hits.some((hit) => hit.item.role === "attempt")) {
      if (failed.delete(file)) numbers.set(file, (numbers.get(file) ?? 1) + 1);
      if ((numbers.get(file) ?? 1) > 1) starts.set(file, order);
    }
    if (FAULTS.includes(event.role)) failed.add(file);
  }
  return { starts, most: [...numbers.values()].reduce((a, b) => Math.max(a, b), 1) };
}

/** The attempt that a file's folder names, as torchrun's log folders do; -1 where none does. @param {string} name @param {Knowledge} knowledge */
function attemptOf(name, knowledge) {
  const match = knowledge.single.attempt_folder.exec(name);
  return match === null ? -1 : Number(match[1]);
}

/**
 * Whether the same rank went on after a fault. Where nothing tells who speaks, another rank's steps could be taken
 * for the failed one's: then no launcher may tell of a failure.
 * @param {Event} event @param {Told} told @param {boolean} ended
 */
function wentOn(event, told, ended) {
  const { file, order, pid, stream } = event.line;
  if ((told.finished.get(file) ?? -1) > order) return true;
  if (ended && event.rank === null && pid === null) return false;
  const steps = told.progress.get(stream) ?? [];
  return (steps.at(-STEPS_AFTER) ?? -1) > order;
}
