import { Readable } from "node:stream";
import Busboy from "@fastify/busboy";
import { UploadError } from "../../../platform/errors.ts";
import { parseAsWritten } from "../../../platform/written-json.ts";
import {
  createJsonLineReader,
  LineError,
  maxLineBytes,
  notJson,
  type RawLine,
  splitLines,
} from "../../upload/lines.ts";
import { isTooDeep } from "../content.ts";
import type { TraceDocument } from "../layout.ts";
import { endOfObject, innerElements, JsonSplitter, tooDeep } from "./json-values.ts";
import { type UnpackedFile, unpack } from "./unpack.ts";

/** Why a document or a line cannot be read. */
export interface DocumentFault {
  place: TraceDocument["place"];
  path: (string | number)[];
  reason: string;
}

export type Found = { document: TraceDocument } | { fault: DocumentFault };

/** One file of an upload. Its bytes must be read before the next file's. */
export interface UploadedFile {
  name: string | undefined;
  chunks: AsyncIterable<Uint8Array>;
}

/** How much is read of all files together. */
export interface Reading {
  /** Limit on decompressed bytes; exceeding it is an error. */
  maxBytes: number;
  /** Bytes of the files so far. */
  readBytes?: number;
  /** Reading ends after this many more bytes. Then `isComplete` becomes false. */
  stopAtBytes?: number;
  isComplete?: boolean;
}

/** The limit for a line, which may be a whole file without line breaks. */
const maxLineValues = 1_000_000;

/** The files of an upload's body: the parts of `multipart/form-data`, or the body as it is. */
export async function* filesOf(
  body: AsyncIterable<Uint8Array>,
  { contentType, source }: { contentType: string | undefined; source: string | undefined },
): AsyncGenerator<UploadedFile, void> {
  if (contentType === undefined || !/^multipart\/form-data\s*;/i.test(contentType)) {
    yield { name: source, chunks: body };
    return;
  }
  yield* partsOf(body, contentType);
}

/** What is read of a file, or of a file in a zip. */
export interface FilePart {
  entry: string | undefined;
  /** Whether it does not begin like JSON. Then it has no documents. */
  isForeign: boolean;
  documents: AsyncIterable<Found[]>;
}

/**
 * The JSON documents of an uploaded file, several at a time: its lines, the elements of an array, or of a known array in an object,
 * or the file as a whole. It may be compressed with gzip or zstd, or be a zip of such files, which are its parts. `entry` is the
 * name of a file that is itself a part.
 */
export async function* readParts(
  packed: AsyncIterable<Uint8Array>,
  reading: Reading,
  entry?: string,
): AsyncGenerator<FilePart, void> {
  for await (const file of unpack(packed, reading)) {
    const part = { ...file, entry: file.entry ?? entry };
    yield { entry: part.entry, isForeign: file.isForeign === true, documents: documentsOf(part, reading) };
  }
}

async function* documentsOf(
  { entry, chunks }: UnpackedFile,
  reading: Reading,
): AsyncGenerator<Found[], void> {
  const { start, all } = await readStart(untilStop(chunks, reading));
  const found = areLines(start) ? lineDocuments(all, reading) : splitDocuments(all, reading);
  for await (const some of found)
    yield entry === undefined
      ? some
      : some.map((one) => ("document" in one ? { document: { ...one.document, entry } } : one));
}

async function* untilStop(
  chunks: AsyncIterable<Uint8Array>,
  reading: Reading,
): AsyncGenerator<Uint8Array, void> {
  for await (const chunk of chunks) {
    reading.readBytes = (reading.readBytes ?? 0) + chunk.length;
    const { stopAtBytes } = reading;
    if (stopAtBytes !== undefined && chunk.length > stopAtBytes) {
      reading.isComplete = false;
      reading.stopAtBytes = 0;
      if (stopAtBytes > 0) yield chunk.subarray(0, stopAtBytes);
      return;
    }
    if (stopAtBytes !== undefined) reading.stopAtBytes = stopAtBytes - chunk.length;
    yield chunk;
  }
}

const lineFeed = 0x0a;
const space = 0x20;

/** The first line that is not blank, up to the longest line allowed, and a stream of all bytes. */
async function readStart(chunks: AsyncGenerator<Uint8Array, void>) {
  const begun: Uint8Array[] = [];
  let bytes = 0;
  let text = "";
  let hasText = false;
  while (!text.includes("\n") && bytes <= maxLineBytes) {
    const { done, value } = await chunks.next();
    if (done) break;
    // Copied, because the chunk's sender may reuse its memory.
    begun.push(value.slice());
    bytes += value.length;
    hasText ||= value.some((byte) => byte > space);
    if (hasText && value.includes(lineFeed)) text = latin1Of(begun);
  }
  const isWhole = text.includes("\n");
  const [line = ""] = isWhole ? text.split("\n", 1) : [latin1Of(begun)];
  async function* all() {
    try {
      yield* begun;
      yield* chunks;
    } finally {
      await chunks.return();
    }
  }
  return { start: line.trimEnd(), all: all() };
}

const byteOrderMark = /^\u00ef\u00bb\u00bf/;

/** Good enough to find the ends and the structure of JSON. */
function latin1Of(chunks: readonly Uint8Array[]): string {
  return Buffer.concat(chunks).toString("latin1").replace(byteOrderMark, "").trimStart();
}

/**
 * Whether a file that begins with this line has one document per line. The first line of a longer document would end inside it, and a
 * line of several documents after the first of them.
 */
function areLines(line: string): boolean {
  if (line.startsWith("[")) return false;
  if (!line.startsWith("{")) return true;
  try {
    JSON.parse(line);
    return true;
  } catch {
    if (line.length > maxLineBytes || /[{[,:]$/.test(line)) return false;
    const end = endOfObject(Buffer.from(line, "latin1"), 0);
    return end === undefined || !/^\s*,?\s*\{/.test(line.slice(end));
  }
}

/** Parses a line. If it was cut out of an array, the comma before or after it is no fault. */
function parseLine(text: string): unknown {
  try {
    return parseAsWritten(text);
  } catch (error) {
    const bare = text.replace(/^\s*,|,\s*$/, "");
    if (bare === text) throw error;
    return parseAsWritten(bare);
  }
}

async function* lineDocuments(
  chunks: AsyncIterable<Uint8Array>,
  reading: Reading,
): AsyncGenerator<Found[], void> {
  const readJson = createJsonLineReader({ maxValues: maxLineValues, parse: parseLine });
  for await (const lines of splitLines(chunks)) {
    // The last line may be truncated where reading stopped.
    const whole = reading.isComplete === false && !isJson(lines.at(-1)) ? lines.slice(0, -1) : lines;
    for (const some of inParts(whole, ({ bytes }) => bytes.length))
      yield some.flatMap((line) => foundIn(line, readJson));
  }
}

/** How much is parsed at a time. Values parsed later are needed for a shorter time, and are collected sooner. */
const partBytes = 32 * 1024;

function* inParts<Item>(items: readonly Item[], bytesOf: (item: Item) => number): Generator<Item[], void> {
  let part: Item[] = [];
  let bytes = 0;
  for (const item of items) {
    part.push(item);
    bytes += bytesOf(item);
    if (bytes < partBytes) continue;
    yield part;
    part = [];
    bytes = 0;
  }
  if (part.length > 0) yield part;
}

function isJson(line: RawLine | undefined): boolean {
  const last = line?.bytes.findLast((byte) => byte > 0x20);
  return last === 0x7d || last === 0x5d;
}

function foundIn(line: RawLine, readJson: (line: RawLine) => unknown): Found[] {
  const place: TraceDocument["place"] = ["line", line.number];
  try {
    const value = readJson(line);
    if (isTooDeep(value)) throw new LineError(tooDeep);
    return value === undefined ? [] : toDocuments(value, { place, bytes: line.bytes.length });
  } catch (error) {
    if (!(error instanceof LineError)) throw error;
    return [{ fault: { place, path: error.path, reason: error.message } }];
  }
}

/** A document, or the elements of its inner array. */
function toDocuments(value: unknown, about: Pick<TraceDocument, "place" | "bytes">): Found[] {
  const inner = innerElements(value);
  if (inner === undefined) return [{ document: { ...about, value } }];
  if ("refusal" in inner) return [{ fault: { place: about.place, path: [], reason: inner.refusal } }];
  const bytes = about.bytes / inner.elements.length;
  return inner.elements.map((element, index) => ({
    document: { ...about, ...inner.around, value: element, bytes, path: [inner.around.within, index] },
  }));
}

async function* splitDocuments(
  chunks: AsyncIterable<Uint8Array>,
  reading: Reading,
): AsyncGenerator<Found[], void> {
  const splitter = new JsonSplitter();
  const parse = createDocumentParser();
  let isFirst = true;
  for await (const chunk of chunks) {
    const pieces = splitter.split(isFirst ? withoutMark(chunk) : chunk);
    isFirst = false;
    for (const some of inParts(pieces, (piece) => ("bytes" in piece ? piece.bytes.length : 0)))
      yield some.map(parse);
  }
  // A document truncated where reading stopped is not a fault.
  if (reading.isComplete !== false) yield splitter.finish().map(parse);
}

function withoutMark(chunk: Uint8Array): Uint8Array {
  return chunk[0] === 0xef && chunk[1] === 0xbb && chunk[2] === 0xbf ? chunk.subarray(3) : chunk;
}

type Piece = ReturnType<JsonSplitter["split"]>[number];

function createDocumentParser(): (piece: Piece) => Found {
  const utf8 = new TextDecoder("utf-8", { fatal: true });
  let number = 0;
  return (piece) => {
    number += 1;
    const place: TraceDocument["place"] = ["document", number];
    const fault = (reason: string): Found => ({ fault: { place, path: [], reason } });
    if ("refusal" in piece) return fault(piece.refusal);
    const { bytes, around } = piece;
    let text: string;
    try {
      text = utf8.decode(bytes);
    } catch {
      return fault("The document is not UTF-8");
    }
    try {
      return { document: { value: parseAsWritten(text), place, bytes: bytes.length, ...around } };
    } catch {
      return fault(notJson("document", text));
    }
  };
}

async function* partsOf(
  body: AsyncIterable<Uint8Array>,
  contentType: string,
): AsyncGenerator<UploadedFile, void> {
  const parser = openParser(contentType);
  const found: UploadedFile[] = [];
  let wake = Promise.withResolvers<void>();
  let isEnd = false;
  let broken: unknown;
  parser.on("file", (_field, chunks, name) => {
    found.push({ name, chunks: untilCut(chunks) });
    wake.resolve();
  });
  const end = (error?: unknown) => {
    isEnd = true;
    broken ??= error;
    wake.resolve();
  };
  parser.on("field", (name) =>
    end(refused(`The part ${JSON.stringify(name.slice(0, 100))} has no filename, as each file needs`)),
  );
  parser.on("finish", () => end());
  parser.on("error", () => end(malformed()));
  const source = Readable.from(body, { objectMode: true, highWaterMark: 1 });
  source.on("error", (error) => {
    parser.destroy(error);
    end(error);
  });
  source.pipe(parser);
  try {
    for (;;) {
      const file = found.shift();
      if (file !== undefined) yield file;
      else if (isEnd) break;
      else {
        await wake.promise;
        wake = Promise.withResolvers();
      }
    }
    if (broken !== undefined) throw broken;
  } finally {
    source.destroy();
    parser.destroy();
  }
}

/** A part's bytes. If the body ends within them, the error says that it is malformed. */
async function* untilCut(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  try {
    yield* chunks;
  } catch (error) {
    throw error instanceof Error && error.message.startsWith("Part terminated early") ? malformed() : error;
  }
}

function openParser(contentType: string) {
  try {
    return new Busboy({ headers: { "content-type": contentType }, preservePath: true });
  } catch {
    throw malformed();
  }
}

const malformed = () => refused("The body is not valid multipart/form-data, or it is cut off");

function refused(reason: string): UploadError {
  return new UploadError({ line: undefined, path: [], reason });
}
