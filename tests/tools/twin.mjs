// Answers calls of the browser's engine: a JSON array [module, function, ...arguments] a line, an answer a line.
import { createInterface } from "node:readline";

const ENGINE = new URL("../../static/engine/", import.meta.url);
const load = (name) => import(new URL(name, ENGINE));
const signature = await load("signature.js");
const normalize = await load("normalize.js");
const { Finder } = await load("find.js");

const finders = new Map();
const calls = {
  parse: (template) => attempt(() => signature.parse(template)),
  compile: (template, minimum) => attempt(() => plain(signature.compileTemplate(template, minimum))),
  search: (template, lines) => new signature.Compiled(template).search(lines),
  clean: normalize.clean,
  linesOf: normalize.linesOf,
  wordsOf: normalize.wordsOf,
  withoutPrefix: normalize.withoutPrefix,
  bundle: (name, bundle) => Boolean(finders.set(name, new Finder(bundle))),
  find: (name, text, n) => finders.get(name).find(text, n),
};

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
  console.log(JSON.stringify(calls[name](...rest)));
}
