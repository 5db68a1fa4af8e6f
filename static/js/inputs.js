// What is dropped, chosen or pasted → the logs to read, in the order in which the command line reads a folder.

/** @typedef {import("../engine/diagnose/read.js").Item} Item */
/** The logs, and what was left out. @typedef {{items: Item[], problems: {name: string, reason: string}[]}} Inputs */
/** @typedef {{path: string, file: File}} Found */

/** More files than this are hardly the logs of one run. */
const MOST_FILES = 5000;
const SAMPLE_BYTES = 4096;
const ZSTD = [0x28, 0xb5, 0x2f, 0xfd];
/** How files begin that are no text: archives, programs, images, pickles, arrays. */
const NO_TEXT = ["PK\u0003\u0004", "\u007fELF", "\u0089PNG", "\u0089HDF", "\u0080\u0002", "\u0080\u0004", "\u0093NUMPY", "BZh", "\u00fd7zXZ", "%PDF", "\u00ff\u00d8\u00ff", "SQLite"];

/** @param {DataTransfer} transfer */
export function isOfFiles(transfer) {
  return [...transfer.types].includes("Files");
}

/** Files and folders of a drop. Must be called before the event is over. @param {DataTransfer} transfer @param {string[]} skipped @returns {Promise<Inputs>} */
export async function ofDrop(transfer, skipped) {
  const roots = [...transfer.items].map((item) => ({
    entry: item.kind === "file" && "webkitGetAsEntry" in item ? item.webkitGetAsEntry() : null,
    file: item.kind === "file" ? item.getAsFile() : null,
  }));
  /** @type {Found[]} */
  const named = [];
  /** @type {Found[]} */
  const inFolders = [];
  for (const { entry, file } of roots) {
    if (entry !== null && entry.isDirectory) await walk(entry, inFolders);
    else if (file !== null) named.push({ path: file.name, file });
  }
  return await logsOf(named, inFolders, skipped);
}

/** Files of a file chooser; those of a folder bear their paths. @param {Iterable<File>} files @param {string[]} skipped */
export async function ofChooser(files, skipped) {
  const found = [...files].map((file) => ({ path: file.webkitRelativePath || file.name, file }));
  const inFolders = found.filter(({ path }) => path.includes("/"));
  return await logsOf(found.filter(({ path }) => !path.includes("/")), inFolders, skipped);
}

/** @param {FileSystemEntry} entry @param {Found[]} found */
async function walk(entry, found) {
  if (found.length > MOST_FILES) return;
  if (entry.isFile) {
    const of = /** @type {FileSystemFileEntry} */ (entry);
    /** @type {File} */
    const file = await new Promise((resolve, reject) => of.file(resolve, reject));
    found.push({ path: entry.fullPath.replace(/^\//, ""), file });
    return;
  }
  const reader = /** @type {FileSystemDirectoryEntry} */ (entry).createReader();
  for (;;) {
    /** @type {FileSystemEntry[]} */
    const some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (some.length === 0) return;
    for (const child of some) if (!child.name.startsWith(".")) await walk(child, found);
  }
}

/** @param {Found[]} named @param {Found[]} inFolders @param {string[]} skipped @returns {Promise<Inputs>} */
async function logsOf(named, inFolders, skipped) {
  /** @type {Inputs} */
  const inputs = { items: [], problems: [] };
  const wanted = inFolders.filter(({ path }) => isLog(path, skipped)).sort((a, b) => inOrder(a.path, b.path));
  if (inFolders.length > 0 && wanted.length === 0) {
    inputs.problems.push({ name: inFolders[0].path.split("/")[0], reason: "holds no log" });
  }
  const all = [...named, ...wanted];
  if (all.length > MOST_FILES) {
    inputs.problems.push({
      name: `${all.length.toLocaleString("en")} files`,
      reason: `only the first ${MOST_FILES.toLocaleString("en")} are read; choose the logs of one run, or use the command line`,
    });
  }
  /** @type {Set<string>} */
  const names = new Set();
  for (const { path, file } of all.slice(0, MOST_FILES)) {
    const reason = await whyNot(file);
    const name = names.has(path) ? `${path} (${names.size + 1})` : path;
    names.add(name);
    if (reason === "") inputs.items.push({ name, blob: file });
    else inputs.problems.push({ name, reason });
  }
  return inputs;
}

/** @param {string} path @param {string[]} skipped endings of files that are no logs */
function isLog(path, skipped) {
  const parts = path.split("/");
  const name = parts[parts.length - 1];
  const ending = /[^.](\.[^.]*)$/.exec(name.toLowerCase())?.[1] ?? "";
  return !parts.some((part) => part.startsWith(".")) && !skipped.includes(ending);
}

/** A folder's files before those of its folders, each by name. @param {string} a @param {string} b */
function inOrder(a, b) {
  const [one, other] = [a.split("/"), b.split("/")];
  for (let i = 0; ; i++) {
    const isFile = [i === one.length - 1, i === other.length - 1];
    if (isFile[0] !== isFile[1]) return isFile[0] ? -1 : 1;
    if (one[i] !== other[i]) return one[i] < other[i] ? -1 : 1;
    if (isFile[0]) return 0;
  }
}

/** Why a file can't be read as a log, or nothing. @param {File} file */
async function whyNot(file) {
  let start;
  try {
    start = new Uint8Array(await file.slice(0, SAMPLE_BYTES).arrayBuffer());
  } catch {
    return "could not be read; is it a folder, or was it moved?";
  }
  if (ZSTD.every((byte, i) => start[i] === byte)) return "";
  const text = String.fromCharCode(...start.subarray(0, 8));
  if (NO_TEXT.some((mark) => text.startsWith(mark))) return "is no text";
  return "";
}
