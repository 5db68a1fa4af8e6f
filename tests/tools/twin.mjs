// Answers calls of the browser's engine: a JSON array [module, function, ...arguments] a line, an answer a line.
import { readFile } from "node:fs/promises";
import { createInterface } from "node:readline";

const ENGINE = new URL("../../static/engine/", import.meta.url);
const load = (name) => import(new URL(name, ENGINE));
const signature = await load("signature.js");
const normalize = await load("normalize.js");
const { Finder } = await load("find.js");
const { clean } = await load("diagnose/clean.js");
const { Engine, Logs } = await load("diagnose/engine.js");
const { ReadError, Source } = await load("diagnose/read.js");
const { toJson } = await load("diagnose/report.js");

const { markdown } = await load("diagnose/text.js");
const { linesOf } = await load("lines.js");
const { countsOf, redactedJson, redactionsOf, redactor } = await load("redact.js");
const { draftOf, templateOf } = await load("draft.js");
const { ofChooser } = await import(new URL("../../static/js/inputs.js", import.meta.url));
const { arrange, bandsOf, orderOf } = await import(new URL("../../static/js/lanes.js", import.meta.url));

const KNOWLEDGE = new URL("../../generator/diagnose/knowledge.json", import.meta.url);
const finders = new Map();
const engines = new Map();
const calls = {
  parse: (template) => attempt(() => signature.parse(template)),
  compile: (template, minimum) => attempt(() => plain(signature.compileTemplate(template, minimum))),
  search: (template, lines) => new signature.Compiled(template).search(lines),
  clean: normalize.clean,
  linesOf: normalize.linesOf,
  wordsOf: normalize.wordsOf,
  withoutPrefix: normalize.withoutPrefix,
  index: (name, index) => Boolean(finders.set(name, new Finder(index))),
  find: (name, text, n) => finders.get(name).find(text, n),
  engine: async (name, bundle) =>
    Boolean(engines.set(name, new Engine(bundle, JSON.parse(await readFile(KNOWLEDGE, "utf-8"))))),
  cleanBytes: (text) => clean(new Uint8Array(Buffer.from(text, "base64"))),
  diagnose: (name, inputs, size) => diagnose(engines.get(name), inputs, size),
  markdown,
  lines: (text, places, first, last) => linesOf({ name: "log", blob: new Blob([Buffer.from(text, "base64")]) }, places, first, last),
  redact: (texts, hosts) => redact(texts, hosts),
  redactJson: (value) => redactedJson(value, redactor(redactionsOf([JSON.stringify(value)]))),
  draft: draftOf,
  templateOf,
  lanes: (lanes) => lanesOf(lanes),
  chosen: async (paths, skipped) => (await ofChooser(paths.map(fileAt), skipped)).items.map(({ name }) => name),
};

/** A file as a browser's chooser of folders hands it over. */
function fileAt(path) {
  return Object.defineProperty(new File(["x"], path.split("/").at(-1)), "webkitRelativePath", { value: path });
}

function redact(texts, hosts) {
  const redactions = redactionsOf(texts, hosts);
  return { redactions, counts: countsOf(texts, redactions), texts: texts.map(redactor(redactions)) };
}

/** Of each band its ranks and, in order, the column and the role of each mark. */
function lanesOf(lanes) {
  const bands = bandsOf(lanes);
  const columns = arrange(bands, orderOf(lanes));
  const told = bands.map(({ lanes, marks }) => [lanes.map(({ rank }) => rank), marks.map(({ column, role }) => [column, role])]);
  return { columns, order: orderOf(lanes), bands: told };
}

/** Names and bytes in base64, handed on in chunks of `size` bytes. */
async function diagnose(engine, inputs, size) {
  const logs = new Logs();
  const problems = [];
  for (const [name, text] of inputs) {
    const source = new Source({ name, blob: new Blob([Buffer.from(text, "base64")]) });
    try {
      await engine.read(logs, name, chunks(source.open(), size));
    } catch (error) {
      if (!(error instanceof ReadError)) throw error;
      problems.push(name);
    }
  }
  const { answer, context } = engine.conclude(logs);
  return { json: toJson(answer), context, problems };
}

async function* chunks(stream, size) {
  for await (const bytes of stream) {
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
  }
}

function plain({ literal, keyLine, expressions, captures }) {
  return { literal, key_line: keyLine, expressions, captures };
}

function attempt(call) {
  try {
    return call();
  } catch (error) {
    if (!(error instanceof signature.TemplateError)) throw error;
    return { message: error.message, offset: error.offset };
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const [name, ...rest] = JSON.parse(line);
  console.log(JSON.stringify(await calls[name](...rest)));
}
