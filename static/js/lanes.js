// One swim-lane per rank: what its lines are, in their order; equal lanes are folded into a band.

import { ranksText, safe } from "../engine/diagnose/text.js";
import { counted, element, shape } from "./dom.js";

/** @typedef {import("../engine/diagnose/text.js").Names} Names */
/** @typedef {import("../engine/diagnose/text.js").Initiating} Initiating */
/** @typedef {{file: string, line: number, role: string, text: string, time: number | null}} LaneEvent */
/** @typedef {{rank: number | null, seen: {file: string, first: number, last: number}[], events: LaneEvent[]}} Lane */
/** Lines of one role that follow one another in a lane. @typedef {{role: string, count: number, first: LaneEvent, at: number, column: number}} Mark */
/** Lanes that look alike, drawn as one. @typedef {{lanes: Lane[], marks: Mark[]}} Band */
/** What the order of lines rests on. @typedef {"time" | "line" | "none"} Order */
/** @typedef {(file: string, line: number) => void} OpenLine */

/** So many lanes are drawn one by one. */
const MOST_UNFOLDED = 12;
/** With more than these, lanes are drawn close to each other. */
const MOST_AIRY = 32;
const MOST_RUNS = 5;
const START = "initiating";
/** A rank that is only inferred to have begun it, from its silence: a mark where no line is. */
const ABSENT = "absent";

const ORDERS = {
  time: "Left to right by time; a line without a time stamp counts as of the last one before it.",
  line: "Left to right as the lines stand in the log.",
  none: "These files bear no common time, so the order holds within a lane only; where the beginning is known, it stands left.",
};

/** The shapes of the roles, in a square of 16. @type {Record<string, [string, Record<string, string>][]>} */
const SHAPES = {
  initiating: [["path", { d: "M8 0.5 15.5 8 8 15.5 0.5 8z", class: "full" }]],
  absent: [["path", { d: "M8 1.5 14.5 8 8 14.5 1.5 8z", "stroke-dasharray": "2.6 2" }]],
  consequence: [["path", { d: "M8 3 13 8 8 13 3 8z" }]],
  witness: [
    ["circle", { cx: "8", cy: "8", r: "5.5" }],
    ["path", { d: "M8 4.8V8l2.4 1.6" }],
  ],
  peer: [["path", { d: "M12 3v10L3 8z" }]],
  supervisor: [
    ["rect", { x: "3", y: "3", width: "10", height: "10" }],
    ["path", { d: "M5.5 6.5h5M5.5 9.5h5" }],
  ],
  teardown: [["path", { d: "M4 4l8 8M12 4l-8 8" }]],
  confirmation: [["rect", { x: "3", y: "3", width: "10", height: "10", class: "full" }]],
  death: [["path", { d: "M2.5 3.5h11L8 13.5z", class: "full" }]],
  recovered: [
    ["circle", { cx: "8", cy: "8", r: "5.5" }],
    ["path", { d: "M5.4 8.2 7.3 10l3.3-3.8" }],
  ],
};

/** A role's sign. @param {string} role */
export function sign(role) {
  const drawn = (SHAPES[role] ?? SHAPES.consequence).map(([name, attributes]) => shape(name, attributes));
  return shape("svg", { class: `sign sign-${role}`, viewBox: "0 0 16 16", width: "16", height: "16", "aria-hidden": "true" }, ...drawn);
}

/**
 * The lanes as a table of their own, with a legend.
 * @param {Lane[]} told @param {Initiating | null} found @param {Names} names @param {OpenLine} openLine
 */
export function lanesOf(told, found, names, openLine) {
  const lanes = told.map((lane) => prepared(lane, found));
  const box = element("div", { class: "lanes-box" });
  const draw = (/** @type {boolean} */ fold) => {
    const bands = fold ? bandsOf(lanes) : lanes.map((lane) => ({ lanes: [lane], marks: marksOf(lane) }));
    const order = orderOf(lanes);
    const columns = arrange(bands, order);
    box.replaceChildren(
      legend(bands, names),
      drawing(bands, columns, names, openLine),
      element("p", { class: "note" }, ORDERS[order], fold ? " Ranks whose lines are alike share a lane." : null),
      ...(lanes.length > MOST_UNFOLDED ? [foldButton(fold, lanes.length, () => draw(!fold))] : []),
    );
  };
  draw(lanes.length > MOST_UNFOLDED);
  return box;
}

/**
 * A lane of whose beginning the line that is named stands for all; a rank of which only its silence speaks gets a mark.
 * @param {Lane} lane @param {Initiating | null} found @returns {Lane}
 */
function prepared(lane, found) {
  if (found === null) return lane;
  if (found.line === null) {
    if (lane.rank === null || !found.ranks.includes(lane.rank)) return lane;
    const { file, last } = lane.seen.at(-1) ?? { file: "", last: 0 };
    return { ...lane, events: [{ file, line: last, role: ABSENT, text: "", time: null }, ...lane.events] };
  }
  const named = lane.events.some(({ role, file, line }) => role === START && file === found.file && line === found.line);
  if (!named) return lane;
  return { ...lane, events: lane.events.filter(({ role, file, line }) => role !== START || (file === found.file && line === found.line)) };
}

/** @param {boolean} folded @param {number} count @param {() => void} turn */
function foldButton(folded, count, turn) {
  const button = element("button", { class: "button", type: "button" }, folded ? `Show all ${count} lanes` : "Fold lanes that are alike");
  button.addEventListener("click", () => {
    const parent = button.parentElement;
    turn();
    const next = parent?.querySelector(":scope > button.button");
    if (next instanceof HTMLElement) next.focus();
  });
  return button;
}

/** @param {Lane} lane @returns {Mark[]} */
export function marksOf(lane) {
  /** @type {Mark[]} */
  const marks = [];
  for (const event of lane.events) {
    const last = marks.at(-1);
    if (last?.role === event.role) last.count += 1;
    else marks.push({ role: event.role, count: 1, first: event, at: 0, column: 0 });
  }
  return marks;
}

/** Lanes whose marks are of the same roles, as one; those that began it first. @param {Lane[]} lanes @returns {Band[]} */
export function bandsOf(lanes) {
  /** @type {Map<string, Band>} */
  const bands = new Map();
  for (const lane of lanes) {
    const marks = marksOf(lane);
    const key = `${lane.rank === null} ${lane.seen.length > 0} ${marks.map(({ role }) => role).join(" ")}`;
    const band = bands.get(key);
    if (band === undefined) {
      bands.set(key, { lanes: [lane], marks });
      continue;
    }
    band.lanes.push(lane);
    for (const [i, mark] of marks.entries()) {
      band.marks[i].count += mark.count;
      if (before(mark.first, band.marks[i].first)) band.marks[i].first = mark.first;
    }
  }
  return [...bands.values()].sort((a, b) => Number(began(b)) - Number(began(a)));
}

/** Whether the failure began in one of these lanes. @param {Band} band */
function began({ marks }) {
  return marks.some(({ role }) => role === START || role === ABSENT);
}

/** @param {LaneEvent} one @param {LaneEvent} other */
function before(one, other) {
  if (one.time !== null && other.time !== null) return one.time < other.time;
  return one.file === other.file && one.line < other.line;
}

/** @param {Lane[]} lanes @returns {Order} */
export function orderOf(lanes) {
  const events = lanes.flatMap((lane) => lane.events).filter(({ role }) => role !== ABSENT);
  if (new Set(events.map(({ file }) => file)).size < 2) return "line";
  return events.every(({ time }) => time !== null) ? "time" : "none";
}

/**
 * Gives each mark a column, and tells how many there are. A mark stands right of what precedes it in its lane, and right
 * of the beginning where it came later; lines of one role line up.
 * @param {Band[]} bands @param {Order} order
 */
export function arrange(bands, order) {
  if (order === "none") return arrangeApart(bands);
  const all = bands.flatMap((band) => band.marks.map((mark) => ({ band, mark })));
  for (const { mark } of all) mark.at = placeOf(mark, order);
  all.sort((a, b) => a.mark.at - b.mark.at);
  /** @type {string[]} */
  const columns = [];
  /** @type {Map<Band, number>} */
  const free = new Map();
  for (const { band, mark } of all) {
    const barrier = mark.role === START || mark.role === ABSENT ? 0 : Math.max(columns.lastIndexOf(START), columns.lastIndexOf(ABSENT)) + 1;
    const from = Math.max(free.get(band) ?? 0, barrier);
    const found = columns.findIndex((role, i) => i >= from && role === mark.role);
    mark.column = found === -1 ? columns.push(mark.role) - 1 : found;
    free.set(band, mark.column + 1);
  }
  return Math.max(1, columns.length);
}

/** Without a common order: each lane in its own, those in which nothing began right of the beginning. @param {Band[]} bands */
function arrangeApart(bands) {
  const starts = bands.map(({ marks }) => marks.findIndex(({ role }) => role === START || role === ABSENT));
  const beginning = Math.max(...starts);
  for (const [number, { marks }] of bands.entries()) {
    const shift = starts[number] === -1 ? beginning + 1 : beginning - starts[number];
    for (const [i, mark] of marks.entries()) mark.column = i + shift;
  }
  return Math.max(1, ...bands.flatMap(({ marks }) => marks.map(({ column }) => column + 1)));
}

/** @param {Mark} mark @param {Order} order */
function placeOf({ role, first }, order) {
  if (role === ABSENT) return -Infinity;
  return order === "time" ? (first.time ?? 0) : first.line;
}

/** @param {Band[]} bands @param {Names} names */
function legend(bands, names) {
  const used = new Set(bands.flatMap(({ marks }) => marks.map(({ role }) => role)));
  const items = Object.keys(SHAPES).filter((role) => used.has(role));
  return element("ul", { class: "legend lanes-legend" }, ...items.map((role) => element("li", {}, sign(role), names.roles[role])));
}

/** @param {Band[]} bands @param {number} columns @param {Names} names @param {OpenLine} openLine */
function drawing(bands, columns, names, openLine) {
  const rows = bands.map((band) => row(band, columns, names, openLine));
  const head = ["Rank", "Its lines, in order", "In words"].map((text) => element("th", { scope: "col" }, text));
  const table = element("table", { class: bands.length > MOST_AIRY ? "lanes dense" : "lanes" }, element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...rows));
  return element("div", { class: "scroll", role: "region", "aria-label": "Lanes of the ranks", tabindex: "0" }, table);
}

/** @param {Band} band @param {number} columns @param {Names} names @param {OpenLine} openLine */
function row(band, columns, names, openLine) {
  const who = whoseText(band);
  const track = element("td", { class: "track" }, line(band, columns), ...band.marks.map((mark) => button(mark, columns, who, names, openLine)));
  const several = band.lanes.length > 1 && element("span", { class: "note" }, counted(band.lanes.length, "rank"));
  return element("tr", { class: began(band) ? "began" : null }, element("th", { scope: "row" }, who, several), track, element("td", {}, inWords(band, names)));
}

/** @param {Band} band */
function whoseText({ lanes }) {
  const ranks = lanes.flatMap(({ rank }) => (rank === null ? [] : [rank]));
  return ranks.length === 0 ? "no rank told" : ranksBrief(ranks);
}

/** Ranks as a row of a table can hold them: `ranks 0, 3, 6, …, 510`. @param {number[]} ranks */
export function ranksBrief(ranks) {
  const runs = ranksText(ranks).split(", ");
  const shown = runs.length <= MOST_RUNS ? runs : [...runs.slice(0, MOST_RUNS - 2), "…", runs[runs.length - 1]];
  return `rank${ranks.length > 1 ? "s" : ""} ${shown.join(", ")}`;
}

/** The lane itself, as far as it has lines. @param {Band} band @param {number} columns */
function line({ lanes, marks }, columns) {
  const silent = lanes.every(({ seen }) => seen.length === 0) && marks.length === 0;
  const made = element("span", { class: `lane${lanes.length > 1 ? " lane-band" : ""}${silent ? " lane-silent" : ""}` });
  const last = marks.at(-1);
  if (last !== undefined) made.style.inlineSize = place(last.column, columns);
  return made;
}

/** @param {number} column @param {number} columns */
function place(column, columns) {
  return `${(((column + 0.5) / columns) * 100).toFixed(2)}%`;
}

/** @param {Mark} mark @param {number} columns @param {string} who @param {Names} names @param {OpenLine} openLine */
function button({ role, count, first, column }, columns, who, names, openLine) {
  const line = first.line > 0 ? `, ${role === ABSENT ? "its last line is" : "line"} ${first.line}` : "";
  const label = `${who}: ${names.roles[role]}${line}${count > 1 ? `, ${count} lines` : ""}`;
  const made = element("button", { class: "lane-mark", type: "button", "aria-label": label, title: `${label}\n${safe(first.text).slice(0, 200)}` }, sign(role), first.line > 0 && element("span", { class: "lane-line" }, String(first.line)));
  made.style.insetInlineStart = place(column, columns);
  if (first.line > 0) made.addEventListener("click", () => openLine(first.file, first.line));
  else made.disabled = true;
  return made;
}

/** @param {Band} band @param {Names} names */
function inWords({ lanes, marks }, names) {
  if (marks.length === 0) {
    const seen = lanes.flatMap((lane) => lane.seen);
    if (seen.length === 0) return "no line of it is here";
    return lanes.length === 1 ? `no error; its last line is ${seen[seen.length - 1].last}` : "no error";
  }
  return marks.map(({ role, count }) => `${names.roles[role]}${count > 1 ? ` (${count})` : ""}`).join(", then ");
}
