/**
 * Events → roles: a cause of its own, a witness, a report of another's death, a launcher's summary, advice.
 * Twin of generator/diagnose/roles.py.
 */

import { conditionsHold } from "./match.js";

/** @typedef {import("./events.js").Event} Event */
/** @typedef {import("./knowledge.js").Knowledge} Knowledge */
/** @typedef {import("./match.js").Hit} Hit */
/** @typedef {import("./match.js").Text} Text */

const NOT_CAUSES = ["confirmation", "peer", "witness", "supervisor", "teardown", "advice"];

/**
 * Sets each event's role, and on its hits whether their conditions hold.
 * @param {Event[]} events @param {Text} text @param {Knowledge} knowledge
 */
export function giveRoles(events, text, knowledge) {
  for (const event of events) {
    for (const hit of event.hits) hit.fits = conditionsHold(hit.item, hit.order, text);
    event.role = roleOf(event, knowledge);
  }
}

/** @param {Event} event @param {Knowledge} knowledge */
function roleOf(event, knowledge) {
  if (event.ignored) return "teardown";
  const fitting = event.hits.filter((hit) => hit.fits);
  if (fitting.some(({ item }) => item.entry !== null && item.role === "cause")) {
    return event.quiet ? "quiet" : "cause";
  }
  const known = knownOf(fitting);
  switch (event.kind) {
    case "exception":
      return ofException(event, known, knowledge);
    case "error":
      return ofError(event, known, knowledge);
    case "report":
      return known || "advice";
    case "cut":
      return ofCut(event, knowledge);
    default:
      return known || (isConsequence(event, knowledge) ? "advice" : "weak");
  }
}

/** The role that known lines give; what the failing rank prints is nobody's word on another. @param {Hit[]} hits */
function knownOf(hits) {
  return NOT_CAUSES.find((role) => hits.some(({ item }) => item.role === role && !item.own)) ?? "";
}

/** @param {Event} event @param {string} known @param {Knowledge} knowledge */
function ofException(event, known, knowledge) {
  if (known !== "") return known;
  const base = event.name.slice(event.name.lastIndexOf(".") + 1).split("(", 1)[0];
  const role = knowledge.types.get(base) ?? "";
  if (event.quiet) return "quiet";
  if (knowledge.single.echo.test(event.whole)) return "peer";
  if (role === "wrapper" || knowledge.wrapperMessages.some((each) => each.test(event.message))) return "wrapper";
  if (role !== "") return role;
  if (base.endsWith("Warning")) return "advice";
  return knowledge.single.ambiguous.test(event.whole) ? "ambiguous" : "cause";
}

/** @param {Event} event @param {string} known @param {Knowledge} knowledge */
function ofError(event, known, knowledge) {
  if (known !== "" && !(known === "teardown" && event.name === "cuda-error")) return known;
  if (isConsequence(event, knowledge)) return "advice";
  if (event.grade === "strong") return "cause";
  return event.grade === "overflow" ? "advice" : event.grade;
}

/** @param {Event} event @param {Knowledge} knowledge */
function ofCut(event, knowledge) {
  if (event.quiet) return "quiet";
  const files = event.frames.map(([path, name]) => `${path} ${name}`).join(" ");
  if (knowledge.single.launcher_frames.test(files)) return "supervisor";
  return knowledge.single.waiting_frames.test(`${files} ${event.code} `) ? "witness" : "cut";
}

/** @param {Event} event @param {Knowledge} knowledge */
function isConsequence(event, knowledge) {
  return knowledge.consequences.some((tagged) => tagged.exec(event.message) !== null);
}
