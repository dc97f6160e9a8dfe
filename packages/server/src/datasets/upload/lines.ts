import { openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable, type Transform } from "node:stream";
import { createGunzip } from "node:zlib";
import type { z } from "zod";
import { InvalidRequestError, said, validate, valueAt } from "../../http/validate.ts";
import { ServiceError, UploadError } from "../../platform/errors.ts";
import { scanJson } from "../../platform/json.ts";
import type { Database } from "../../platform/storage/schema/tables.ts";
import { type DiskFloor, refuseShortage } from "../../platform/storage/sqlite/sqlite.ts";

export interface RawLine {
  /** From 1. */
  number: number;
  bytes: Uint8Array;
  /** If set, `bytes` is empty. */
  isTooLong?: boolean;
}

/** How much is stored before the disk is checked again. */
const bytesPerLook = 16 * 1024 * 1024;

export interface UploadLimits {
  /** Limit on decompressed bytes. */
  maxBytes: number;
  /** Absent: the data is not on this machine's disk. */
  floor: DiskFloor | undefined;
}

/** The bytes of an upload as they arrive, as long as the disk has room. */
export async function* withinDisk(
  database: Database,
  chunks: AsyncIterable<Uint8Array>,
  floor: DiskFloor | undefined,
): AsyncGenerator<Uint8Array, void> {
  let bytes = 0;
  let lookAtBytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > lookAtBytes) {
      await refuseShortage(database, floor);
      lookAtBytes = bytes + bytesPerLook;
    }
    yield chunk;
  }
}

/** The lines of an uploaded body as they arrive, several at a time. */
export function uploadedLines(
  database: Database,
  body: AsyncIterable<Uint8Array>,
  { isGzip, ...limits }: UploadLimits & { isGzip: boolean },
): AsyncGenerator<RawLine[], void> {
  const { maxBytes, floor } = limits;
  return splitLines(withinBytes(withinDisk(database, isGzip ? gunzip(body) : body, floor), maxBytes));
}

/** Refuses more than `maxBytes`, including the `readBytes` read before. */
export async function* withinBytes(
  chunks: AsyncIterable<Uint8Array>,
  maxBytes: number,
  readBytes = 0,
): AsyncGenerator<Uint8Array, void> {
  let bytes = readBytes;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw tooLarge(maxBytes);
    yield chunk;
  }
}

export function tooLarge(maxBytes: number): ServiceError {
  const message = `The upload is larger than ${maxBytes} bytes (PRESAGE_MAX_DATASET_BYTES), decompressed.`;
  return new ServiceError("body_too_large", message);
}

/** A temporary file that nobody else can open, deleted as soon as it is closed or its process ends, because traces contain secrets. */
export function openNameless(): number {
  const path = join(tmpdir(), `presage-import-${Bun.randomUUIDv7()}`);
  return orDiskFull(() => {
    const file = openSync(path, "wx+", 0o600);
    rmSync(path);
    return file;
  });
}

/** Appends the first `length` bytes to such a file. */
export function appendTo(file: number, bytes: Uint8Array, length = bytes.length): void {
  orDiskFull(() => {
    for (let from = 0; from < length; ) from += writeSync(file, bytes, from, length - from);
  });
}

/** The operator of the server has to make room, or to make the directory writable. */
function orDiskFull<Value>(work: () => Value): Value {
  try {
    return work();
  } catch (cause) {
    const reason = cause instanceof Error && "code" in cause ? ` (${cause.code})` : "";
    const message = `This upload needs a temporary file, and ${tmpdir()} cannot be written${reason}.`;
    throw new ServiceError("disk_full", message, { cause });
  }
}

const lineFeed = 0x0a;
export const maxLineBytes = 16 * 1024 * 1024;

/** The lines of a body as they arrive, several at a time. Empty lines are skipped but counted. Only an incomplete line is held. */
export async function* splitLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<RawLine[], void> {
  let number = 0;
  let begun: Uint8Array[] = [];
  let begunBytes = 0;
  let isTooLong = false;

  function take(end: Uint8Array): RawLine {
    number += 1;
    if (isTooLong) {
      isTooLong = false;
      return { number, bytes: new Uint8Array(), isTooLong: true };
    }
    const bytes = begun.length === 0 ? end : new Uint8Array(Bun.concatArrayBuffers([...begun, end]));
    begun = [];
    begunBytes = 0;
    return { number, bytes };
  }

  for await (const chunk of chunks) {
    const lines: RawLine[] = [];
    let from = 0;
    for (;;) {
      const end = chunk.indexOf(lineFeed, from);
      const length = (end < 0 ? chunk.length : end) - from;
      if (begunBytes + length > maxLineBytes) {
        isTooLong = true;
        begun = [];
        begunBytes = 0;
      }
      if (end < 0) break;
      if (isTooLong || begunBytes + length > 0) lines.push(take(chunk.subarray(from, end)));
      else number += 1;
      from = end + 1;
    }
    if (from < chunk.length && !isTooLong) {
      // Copied, because the chunk's sender may reuse its memory.
      const rest = chunk.slice(from);
      begun.push(rest);
      begunBytes += rest.length;
    }
    if (lines.length > 0) yield lines;
  }
  if (isTooLong || begunBytes > 0) yield [take(new Uint8Array())];
}

/** A short input may expand a thousandfold; this much of the output is produced at a time. */
const chunkSize = 256 * 1024;

/** Recorded texts compress far less. A few megabytes of something that compresses more could fill a disk. */
export const maxRatio = 200;
/** Allowed for any body: a short one with a few repeated lines compresses a thousandfold. */
export const bytesOfAnyRatio = 32 * 1024 * 1024;

export function gunzip(packed: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  return decompress(packed, createGunzip({ chunkSize }), "gzip");
}

/** Decompresses as fast as the output is read, up to 200 times the input's length or 32 MiB, whichever is more. */
export async function* decompress(
  packed: AsyncIterable<Uint8Array>,
  stream: Transform,
  format: string,
): AsyncGenerator<Uint8Array, void> {
  let packedBytes = 0;
  async function* counted() {
    for await (const chunk of packed) {
      packedBytes += chunk.length;
      yield chunk;
    }
  }
  const source = Readable.from(counted(), { objectMode: true, highWaterMark: 1 });
  let broken: Error | undefined;
  source.on("error", (error) => {
    broken = error;
    stream.destroy(error);
  });
  let bytes = 0;
  let isTooDense = false;
  try {
    for await (const chunk of source.pipe(stream) as AsyncIterable<Uint8Array>) {
      bytes += chunk.length;
      isTooDense = bytes > Math.max(bytesOfAnyRatio, maxRatio * packedBytes);
      if (isTooDense) break;
      yield chunk;
    }
  } catch {
    throw broken ?? malformed(format);
  } finally {
    source.destroy();
    stream.destroy();
  }
  if (isTooDense) throw tooDense();
}

export function malformed(what: string): UploadError {
  return new UploadError({
    line: undefined,
    path: [],
    reason: `The body is not valid ${what}, or it is cut off`,
  });
}

export function tooDense(): ServiceError {
  const message = `Decompressed, the body is more than ${maxRatio} times as long. Send it uncompressed.`;
  return new ServiceError("body_too_large", message);
}

/** A line that cannot be used. */
export class LineError extends Error {
  /** The field in the line's JSON. */
  readonly path: (string | number)[];

  constructor(reason: string, path: readonly (string | number)[] = []) {
    super(reason);
    this.name = "LineError";
    this.path = [...path];
  }
}

/** Checks a line's value and returns the very same value. Throws a `LineError` for the first issue, worded like other refusals. */
export function checkLine<Schema extends z.ZodType>(schema: Schema, value: unknown): z.input<Schema> {
  try {
    return validate(schema, value, "body");
  } catch (error) {
    const [issue] = error instanceof InvalidRequestError ? error.issues : [];
    if (issue === undefined) throw error;
    const path = issue.loc.slice(1);
    const isOfKind = issue.type.endsWith("_type");
    const found = valueAt(value, path);
    // If another kind of number is expected, showing the number says more than its type.
    const isOtherNumber = typeof found === "number" && /^(int|float)_type$/.test(issue.type);
    const shown = isOtherNumber ? String(found) : kindOf(found);
    throw new LineError(isOfKind ? `${said(issue)}, not ${shown}` : said(issue), path);
  }
}

/** A value's kind, as JSON names it. */
function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

/** Runs `work` for a line. A `LineError` becomes an `UploadError` that names the line. */
function atLine<Result>(line: number, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof LineError)) throw error;
    throw new UploadError({ line, path: error.path, reason: error.message });
  }
}

interface ParseOptions {
  maxValues?: number;
  /** Used instead of `JSON.parse`. */
  parse?(text: string): unknown;
}

/** Returns a function that parses lines, or throws a `LineError`. A blank line is undefined. */
export function createJsonLineReader(options: ParseOptions = {}): (line: RawLine) => unknown {
  // The decoder skips a byte order mark.
  const utf8 = new TextDecoder("utf-8", { fatal: true });
  return ({ bytes, isTooLong }) => {
    if (isTooLong) throw new LineError(`The line is longer than ${maxLineBytes} bytes`);
    const text = decode(utf8, bytes);
    return text.trim() === "" ? undefined : parse(text, bytes, options);
  };
}

/** Returns a function that parses and checks lines, or throws an `UploadError` that names the line. A blank line is undefined. */
export function createLineReader<Line>(check: (value: unknown) => Line): (line: RawLine) => Line | undefined {
  const readJson = createJsonLineReader();
  return (line) =>
    atLine(line.number, () => {
      const value = readJson(line);
      return value === undefined ? undefined : check(value);
    });
}

function decode(utf8: TextDecoder, bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw new LineError("The line is not UTF-8");
  }
}

/** A shorter line cannot have too many values, so it is not scanned before it is parsed. */
const shortLineBytes = 64 * 1024;

function parse(text: string, bytes: Uint8Array, { maxValues, parse = JSON.parse }: ParseOptions): unknown {
  if (bytes.length > shortLineBytes) {
    const { refusal } = scanJson(bytes, maxValues);
    if (refusal !== undefined) throw new LineError(`The line's JSON is refused: ${refusal.reason}`);
  }
  try {
    return parse(text);
  } catch {
    throw new LineError(notJson("line", text));
  }
}

const noNumber = /("(?:[^"\\]|\\.)*")|-?\b(?:NaN|Infinity)\b/g;

/** Why a text is not JSON. Python writes numbers that JSON does not allow, and people cut lines out of arrays. */
export function notJson(what: "line" | "document", text: string): string {
  if (isJson(text.replace(noNumber, (_, string?: string) => string ?? "null")))
    return `The ${what} is not JSON: it has NaN or Infinity. Write null for them`;
  if (/^\s*,?\s*\{/.test(text) && isJson(`[${text.replace(/^\s*,|,\s*$/g, "")}]`))
    return `The ${what} is not JSON: it has several values. Write one a line, or put brackets around all`;
  return `The ${what} is not JSON`;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
