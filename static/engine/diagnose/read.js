/**
 * Files and texts → streams of bytes in UTF-8: what is packed is unpacked, what is in UTF-16 is decoded.
 * Twin of generator/diagnose/read.py; which files of a folder are logs is the page's matter.
 */

/** @typedef {Uint8Array<ArrayBuffer>} Bytes */
/** @typedef {{name: string, blob?: Blob, text?: string}} Item */

const GZIP = [0x1f, 0x8b];
const ZSTD = [0x28, 0xb5, 0x2f, 0xfd];
const MARK_BYTES = 3;
/** @type {[number[], string][]} */
const MARKS = [
  [[0xef, 0xbb, 0xbf], "utf-8"],
  [[0xff, 0xfe], "utf-16le"],
  [[0xfe, 0xff], "utf-16be"],
];

/** Why an input can't be read; `code` is zstd, unreadable or corrupt. */
export class ReadError extends Error {
  /** @param {string} code @param {string} message */
  constructor(code, message) {
    super(message);
    this.name = "ReadError";
    this.code = code;
  }
}

/** A log: its name as it is told, and how to open it. */
export class Source {
  /** @param {Item} item */
  constructor({ name, blob, text }) {
    this.name = name;
    this.blob = blob ?? new Blob([text ?? ""]);
    /** Whether places in the stream are places in the blob. */
    this.seekable = false;
  }

  /**
   * The bytes in UTF-8. Throws a ReadError.
   * @param {(count: number) => void} [onBytes] told of the bytes of the blob as they are read
   * @returns {AsyncGenerator<Bytes>}
   */
  async *open(onBytes = () => {}) {
    const start = await startOf(this.blob);
    if (begins(start, ZSTD)) throw new ReadError("zstd", "is compressed with zstd, which a browser can't unpack");
    const packed = begins(start, GZIP);
    this.seekable = !packed && !MARKS.some(([mark]) => begins(start, mark));
    const raw = chunksOf(this.blob.stream(), onBytes);
    try {
      yield* this.seekable ? raw : decoded(packed ? unpacked(raw) : raw);
    } catch (error) {
      if (error instanceof ReadError || !(error instanceof Error)) throw error;
      throw new ReadError(packed ? "corrupt" : "unreadable", error.message);
    }
  }
}

/** @param {Blob} blob */
async function startOf(blob) {
  try {
    return new Uint8Array(await blob.slice(0, 8).arrayBuffer());
  } catch (error) {
    throw new ReadError("unreadable", error instanceof Error ? error.message : String(error));
  }
}

/** @param {Uint8Array} bytes @param {number[]} mark */
function begins(bytes, mark) {
  return mark.every((byte, i) => bytes[i] === byte);
}

/**
 * The stream's chunks. No BYOB reader: Chromium 156 stalls in files of 4 GB with one.
 * @param {ReadableStream<Bytes>} stream @param {(count: number) => void} [onBytes]
 * @returns {AsyncGenerator<Bytes>}
 */
async function* chunksOf(stream, onBytes = () => {}) {
  const reader = stream.getReader();
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      onBytes(value.length);
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

/** @param {AsyncGenerator<Bytes>} chunks */
function unpacked(chunks) {
  /** @type {ReadableStream<Bytes>} */
  const packed = new ReadableStream({
    async pull(controller) {
      const { value, done } = await chunks.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    async cancel() {
      await chunks.return(undefined);
    },
  });
  return chunksOf(packed.pipeThrough(new DecompressionStream("gzip")));
}

/** The chunks in UTF-8, as the mark at their start says. @param {AsyncGenerator<Bytes>} chunks */
async function* decoded(chunks) {
  const start = await startWith(chunks);
  const [mark, encoding] = MARKS.find(([bytes]) => begins(start, bytes)) ?? [[], "utf-8"];
  const rest = start.subarray(mark.length);
  if (encoding === "utf-8") {
    yield rest;
    yield* chunks;
    return;
  }
  const [decoder, encoder] = [new TextDecoder(encoding, { ignoreBOM: true }), new TextEncoder()];
  yield encoder.encode(decoder.decode(rest, { stream: true }));
  for await (const chunk of chunks) yield encoder.encode(decoder.decode(chunk, { stream: true }));
  yield encoder.encode(decoder.decode());
}

/** The first chunks, so many that a mark would be whole. @param {AsyncGenerator<Bytes>} chunks */
async function startWith(chunks) {
  let start = new Uint8Array();
  while (start.length < MARK_BYTES) {
    const { value, done } = await chunks.next();
    if (done) break;
    const longer = new Uint8Array(start.length + value.length);
    longer.set(start);
    longer.set(value, start.length);
    start = longer;
  }
  return start;
}
