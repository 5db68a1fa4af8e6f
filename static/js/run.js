// One run of the engine in a worker of its own, which ends with it.

/** @typedef {import("../engine/diagnose/read.js").Item} Item */
/** @typedef {import("../engine/lines.js").Places} Places */
/** @typedef {import("../engine/diagnose/text.js").Answer} Answer */
/** @typedef {import("../engine/diagnose/text.js").Shown} Shown */
/** @typedef {import("../engine/diagnose/text.js").Names} Names */
/** @typedef {import("../engine/diagnose/text.js").Words} Words */
/** @typedef {import("./lanes.js").Lane} Lane */
/**
 * @typedef {{answer: Answer, json: string, context: Shown[], why: Record<string, string>, lanes: Lane[],
 *   places?: {file: string, every: Places}[], seconds: number}} Told
 */
/** An input that could not be read. @typedef {{name: string, code: string, reason: string}} Problem */
/** What a verdict says of an entry. @typedef {{title: string, url: string, family: string, summary: string,
 *   do_now: {steps: string[], restart: string, restart_why: string},
 *   first_check: {step: string, command: string | null, yes: string, no: string}}} Entry */

export const ROOT = new URL(document.documentElement.dataset.root ?? "./", document.baseURI);

/** Why a run gave no answer. */
export class RunError extends Error {}

export class Run {
  /**
   * @param {Item[]} items
   * @param {(bytes: number, total: number) => void} [onProgress] @param {(problem: Problem) => void} [onProblem]
   */
  constructor(items, onProgress = () => {}, onProblem = () => {}) {
    this.worker = new Worker(new URL("engine/worker.js", ROOT), { type: "module" });
    /** Resolves with the answer; rejects with a RunError. A run that was stopped does neither. @type {Promise<Told>} */
    this.told = new Promise((resolve, reject) => {
      this.worker.onmessage = ({ data }) => {
        if (data.type === "progress") onProgress(data.bytes, data.total);
        else if (data.type === "problem") onProblem(data);
        else {
          this.stop();
          if (data.type === "answer") resolve(data);
          else reject(new RunError(data.message));
        }
      };
      this.worker.onerror = (event) => {
        event.preventDefault();
        this.stop();
        reject(new RunError(event.message || "The engine could not be loaded."));
      };
    });
    this.worker.postMessage({ type: "start", root: ROOT.href, items });
  }

  stop() {
    this.worker.terminate();
  }
}

/** A JSON file of the site. @param {string} path @returns {Promise<any>} */
export async function fetchJson(path) {
  const response = await fetch(new URL(path, ROOT));
  if (!response.ok) throw new Error(`${path}: ${response.status}`);
  return await response.json();
}

/** @typedef {{names: Names, entries: Record<string, Entry>}} Vocabulary */

/** @type {Promise<Vocabulary> | null} */
let loading = null;

/** The words of an answer, and what there is to say of the entries in it: loaded once, and again after a failure. */
export function fetchWords() {
  loading ??= Promise.all([fetchJson("engine/diagnose/words.json"), fetchJson("api/v1/signatures.json")]).then(
    ([names, bundle]) => ({ names, entries: bundle.entries }),
  );
  loading.catch(() => {
    loading = null;
  });
  return loading;
}

const HANDED_OVER = "log";

/** Leaves a text for the diagnosis page in this tab; false where the browser takes no text or none so long. @param {string} text */
export function handOver(text) {
  try {
    sessionStorage.setItem(HANDED_OVER, text);
    return true;
  } catch {
    return false;
  }
}

/** The text that was left, once: it is removed by this. */
export function takeOver() {
  try {
    const text = sessionStorage.getItem(HANDED_OVER);
    sessionStorage.removeItem(HANDED_OVER);
    return text;
  } catch {
    return null;
  }
}
