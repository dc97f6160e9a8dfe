import { closeSync } from "node:fs";
import { Readable } from "node:stream";
import { createZstdDecompress } from "node:zlib";
import { type Entry, fromFd, type ZipFile } from "yauzl";
import { UploadError } from "../../../platform/errors.ts";
import {
  appendTo,
  bytesOfAnyRatio,
  decompress,
  gunzip,
  malformed,
  maxRatio,
  openNameless,
  tooDense,
  tooLarge,
  withinBytes,
} from "../../upload/lines.ts";
import { byCodePoints } from "../content.ts";

/** A file packed in another one, or the file as it came. */
export interface UnpackedFile {
  /** Its name in a zip. */
  entry: string | undefined;
  chunks: AsyncIterable<Uint8Array>;
  /** Whether it does not begin like JSON. Then it is not read. */
  isForeign?: boolean;
}

const maxEntries = 100_000;
const starts = {
  gzip: [0x1f, 0x8b],
  zstd: [0x28, 0xb5, 0x2f, 0xfd],
  zip: [0x50, 0x4b, 0x03, 0x04],
} as const;

interface Limits {
  maxBytes: number;
  /** Bytes of the files before this one. */
  readBytes?: number;
}

/** The files in an upload, which may be gzip, zstd or a zip, as its first bytes show. At most `maxBytes` in total. */
export async function* unpack(
  packed: AsyncIterable<Uint8Array>,
  { maxBytes, readBytes = 0 }: Limits,
): AsyncGenerator<UnpackedFile, void> {
  const within = (bytes: AsyncIterable<Uint8Array>) => withinBytes(bytes, maxBytes, readBytes);
  const { first, chunks } = await peek(packed);
  const startsLike = (bytes: readonly number[]) => bytes.every((byte, at) => first[at] === byte);
  if (startsLike(starts.zip)) yield* unzip(within(chunks), { maxBytes, readBytes });
  else if (startsLike(starts.gzip)) yield { entry: undefined, chunks: within(gunzip(chunks)) };
  else if (startsLike(starts.zstd)) yield { entry: undefined, chunks: within(unzstd(chunks)) };
  else yield { entry: undefined, chunks: within(chunks) };
}

/** How many bytes are needed to recognise a packed format, and JSON. */
const packedBytes = 4;
const startBytes = 4_096;
const jsonStart = /^\ufeff?\s*[[{]/;

/** The first bytes, and a stream of all of them. */
async function peek(packed: AsyncIterable<Uint8Array>, peekedBytes = packedBytes) {
  const iterator = packed[Symbol.asyncIterator]();
  const begun: Uint8Array[] = [];
  let first = Buffer.alloc(0);
  while (first.length < peekedBytes) {
    const { done, value } = await iterator.next();
    if (done) break;
    begun.push(value.slice());
    first = Buffer.concat(begun);
  }
  // Needed because returning a generator that has not started does not end its source.
  const close = async () => void (await iterator.return?.());
  async function* chunks() {
    try {
      yield* begun;
      for (;;) {
        const { done, value } = await iterator.next();
        if (done) return;
        yield value;
      }
    } finally {
      await close();
    }
  }
  return { first, chunks: chunks(), close };
}

type Counted = (bytes: AsyncIterable<Uint8Array>) => AsyncGenerator<Uint8Array, void>;

/** The file in a zip entry: JSON, which may be compressed. A zip within a zip is not read. What comes out of both is counted. */
async function unpackedEntry(
  packed: AsyncIterable<Uint8Array>,
  counted: Counted,
): Promise<Omit<UnpackedFile, "entry">> {
  const { first, chunks, close } = await peek(packed, startBytes);
  const startsLike = (bytes: readonly number[]) => bytes.every((byte, at) => first[at] === byte);
  if (startsLike(starts.gzip)) return { chunks: counted(gunzip(chunks)) };
  if (startsLike(starts.zstd)) return { chunks: counted(unzstd(chunks)) };
  const isForeign = !jsonStart.test(first.toString());
  if (isForeign) await close();
  return { chunks: counted(chunks), isForeign };
}

/** The files in a zip, by name. A zip is read from its end, so it is kept in a temporary file. */
async function* unzip(
  chunks: AsyncIterable<Uint8Array>,
  { maxBytes, readBytes }: Required<Limits>,
): AsyncGenerator<UnpackedFile, void> {
  const file = openNameless();
  try {
    let zipBytes = 0;
    for await (const chunk of chunks) {
      appendTo(file, chunk);
      zipBytes += chunk.length;
    }
    const zip = await openZip(file);
    const entries = await entriesOf(zip);
    const mostBytes = Math.max(bytesOfAnyRatio, maxRatio * zipBytes);
    let bytes = 0;
    const counted: Counted = async function* (unpacked) {
      for await (const chunk of unpacked) {
        bytes += chunk.length;
        if (readBytes + bytes > maxBytes) throw tooLarge(maxBytes);
        if (bytes > mostBytes) throw tooDense();
        yield chunk;
      }
    };
    for (const entry of entries) {
      const unpacked = mayBeOpened(entry)
        ? await unpackedEntry(contentsOf(zip, entry), counted)
        : { chunks: counted(Readable.from([])), isForeign: true };
      yield { entry: entry.fileName, ...unpacked };
    }
  } finally {
    closeSync(file);
  }
}

async function openZip(fd: number): Promise<ZipFile> {
  const { promise, resolve, reject } = Promise.withResolvers<ZipFile>();
  const options = { lazyEntries: true, autoClose: false, validateEntrySizes: true };
  fromFd(fd, options, (error, zip) => (error === null ? resolve(zip) : reject(malformed("zip"))));
  return await promise;
}

/** What macOS adds to a zip. */
const besideFiles = /(^|\/)(__MACOSX\/|\._|\.DS_Store$)/;

/** The entries that are files, sorted by name. The library checks their paths. */
async function entriesOf(zip: ZipFile): Promise<Entry[]> {
  const entries: Entry[] = [];
  let count = 0;
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  zip.on("error", (error: Error) => reject(refusedZip(`The zip is refused: ${error.message}`)));
  zip.on("end", resolve);
  zip.on("entry", (entry: Entry) => {
    count += 1;
    if (count > maxEntries) return reject(refusedZip(`The zip has more than ${maxEntries} entries`));
    if (!entry.fileName.endsWith("/") && !besideFiles.test(entry.fileName)) entries.push(entry);
    zip.readEntry();
  });
  zip.readEntry();
  await promise;
  if (entries.length === 0) throw refusedZip("The zip has no file", "unrecognised_layout");
  return entries.sort((one, other) => byCodePoints(one.fileName, other.fileName));
}

function refusedZip(reason: string, type?: string): UploadError {
  return new UploadError({ line: undefined, path: [], reason, ...(type && { type }) });
}

const zstdMethod = 93;
const readMethods: readonly number[] = [0, 8, zstdMethod];

/** Whether an entry can be read, or its name says that it is JSON: such an entry is refused if it cannot be read. */
function mayBeOpened(entry: Entry): boolean {
  const isReadable = !entry.isEncrypted() && readMethods.includes(entry.compressionMethod);
  return isReadable || /\.(jsonl?|ndjson)(\.gz|\.zst)?$/i.test(entry.fileName);
}

async function* contentsOf(zip: ZipFile, entry: Entry): AsyncGenerator<Uint8Array, void> {
  const isZstd = entry.compressionMethod === zstdMethod;
  const { promise, resolve, reject } = Promise.withResolvers<Readable>();
  const opened = (error: Error | null, stream: Readable) =>
    error === null ? resolve(stream) : reject(refusedZip(`${entry.fileName} is refused: ${error.message}`));
  if (isZstd) zip.openReadStream(entry, { decodeFileData: false }, opened);
  else zip.openReadStream(entry, opened);
  const stream = await promise;
  if (isZstd) return yield* unzstd(stream);
  try {
    yield* stream;
  } catch {
    throw malformed("zip");
  }
}

/** Decompresses zstd, within the same limits as gzip. */
async function* unzstd(packed: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  const frames = new FrameWalker();
  async function* walked() {
    for await (const chunk of packed) {
      frames.walk(chunk);
      yield chunk;
    }
  }
  yield* decompress(walked(), createZstdDecompress(), "zstd");
  if (!frames.isAtEnd()) throw malformed("zstd");
}

const checksumBytes = 4;
const dictionaryBytes = [0, 1, 2, 4];
const contentSizeBytes = [0, 2, 4, 8];
const skippableMagic = 0x184d2a5;

/** Follows the frames of zstd (RFC 8878, section 3.1), because the decompressor of Bun 1.4 accepts a truncated one as complete. */
class FrameWalker {
  readonly #steps = frames();
  #wanted = this.#steps.next().value ?? 0;
  #read: number[] = [];
  #isBetween = true;

  walk(chunk: Uint8Array): void {
    for (let at = 0; at < chunk.length; ) {
      const isSkipped = this.#wanted < 0;
      const count = Math.min(Math.abs(this.#wanted), chunk.length - at);
      if (!isSkipped) this.#read.push(...chunk.subarray(at, at + count));
      this.#wanted += isSkipped ? count : -count;
      this.#isBetween = false;
      at += count;
      while (this.#wanted === 0) {
        const value = littleEndian(this.#read);
        this.#read = [];
        const step = this.#steps.next(value).value ?? 0;
        this.#isBetween = step === startOfFrame;
        this.#wanted = step;
        if (step === 0) continue;
        break;
      }
    }
  }

  isAtEnd(): boolean {
    return this.#isBetween;
  }
}

/** The size of a frame's first field. No other field that is read has this size. */
const startOfFrame = 4;

/** Yields how many bytes to read as a little-endian number or, if negative, to skip. */
function* frames(): Generator<number, never, number> {
  for (;;) {
    const magic = yield startOfFrame;
    if (magic >>> 4 === skippableMagic) {
      yield -(yield* readNumber(4));
      continue;
    }
    const descriptor = yield 1;
    const isOneSegment = (descriptor & 0x20) !== 0;
    const sizeFlag = descriptor >>> 6;
    const contentSize = sizeFlag === 0 && isOneSegment ? 1 : (contentSizeBytes[sizeFlag] ?? 0);
    yield -((isOneSegment ? 0 : 1) + (dictionaryBytes[descriptor & 3] ?? 0) + contentSize);
    for (let isLast = false; !isLast; ) {
      const header = yield 3;
      isLast = (header & 1) === 1;
      const isRepeatedByte = ((header >>> 1) & 3) === 1;
      yield -(isRepeatedByte ? 1 : header >>> 3);
    }
    if ((descriptor & 4) !== 0) yield -checksumBytes;
  }
}

/** Reads a number byte by byte, so that it is not mistaken for a frame's first field. */
function* readNumber(bytes: number): Generator<number, number, number> {
  let value = 0;
  for (let at = 0; at < bytes; at += 1) value += (yield 1) * 2 ** (8 * at);
  return value;
}

function littleEndian(bytes: readonly number[]): number {
  return bytes.reduce((value, byte, at) => value + byte * 2 ** (8 * at), 0);
}
