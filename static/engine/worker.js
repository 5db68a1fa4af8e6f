/**
 * The engine's door: a module Worker that reads logs as streams and answers with a diagnosis. One worker, one run;
 * to stop it, end the worker. Nothing is sent anywhere but to the page that started it.
 *
 * In: {type: "start", root, items: [{name, blob} or {name, text}]}, where `root` is the site's root as an absolute URL.
 * Out: {type: "progress", bytes, total} of the bytes on disk; {type: "problem", name, code, reason} for an input that
 * can't be read; at last {type: "answer", ...} or, where nothing could be concluded, {type: "error", message}.
 */

import { Engine, Logs } from "./diagnose/engine.js";
import { lanesOf } from "./diagnose/lanes.js";
import { ReadError, Source } from "./diagnose/read.js";
import { toJson } from "./diagnose/report.js";

/** @typedef {import("./diagnose/read.js").Item} Item */
/** @typedef {{type: "start", root: string, items: Item[]}} Start */

const KNOWLEDGE = "engine/diagnose/knowledge.json";
const BUNDLE = "api/v1/signatures.json";
const PROGRESS_EVERY = 100;

addEventListener("message", ({ data }) => {
  run(data).catch((error) => postMessage({ type: "error", message: error.message }));
});

/** @param {Start} start */
async function run({ root, items }) {
  const [bundle, tables] = await Promise.all([fetched(new URL(BUNDLE, root)), fetched(new URL(KNOWLEDGE, root))]);
  const engine = new Engine(bundle, tables);
  const started = performance.now();
  const sources = items.map((item) => new Source(item));
  const logs = new Logs();
  const seekable = await readAll(engine, logs, sources);
  if (logs.inputs.length === 0) {
    postMessage({ type: "error", message: "none" });
    return;
  }
  const { answer, context, why, scene, verdict } = engine.conclude(logs);
  postMessage({
    type: "answer",
    answer,
    json: toJson(answer).trimEnd(),
    context,
    why,
    lanes: lanesOf(scene, verdict, logs.inputs),
    places: logs.inputs.filter(({ name }) => seekable.has(name)).map(({ name, places }) => ({ file: name, every: places })),
    seconds: Math.round(performance.now() - started) / 1000,
  });
}

/** @param {URL} url */
async function fetched(url) {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url.pathname}: ${response.status}`);
  return await response.json();
}

/**
 * Reads the sources one after the other, and tells how far it is. Returns the names of those in which places are
 * places in the file.
 * @param {Engine} engine @param {Logs} logs @param {Source[]} sources
 */
async function readAll(engine, logs, sources) {
  const total = sources.reduce((sum, { blob }) => sum + blob.size, 0);
  const seekable = new Set();
  let [before, bytes, told] = [0, 0, 0];
  for (const source of sources) {
    bytes = before;
    const count = (/** @type {number} */ size) => {
      bytes += size;
      const now = performance.now();
      if (now - told < PROGRESS_EVERY) return;
      told = now;
      postMessage({ type: "progress", bytes, total });
    };
    try {
      await engine.read(logs, source.name, source.open(count));
      if (source.seekable) seekable.add(source.name);
    } catch (error) {
      if (!(error instanceof ReadError)) throw error;
      postMessage({ type: "problem", name: source.name, code: error.code, reason: error.message });
    }
    before += source.blob.size;
  }
  postMessage({ type: "progress", bytes: total, total });
  return seekable;
}
