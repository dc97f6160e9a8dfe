import { open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { type Entry, fromFd, type ZipFile } from "yauzl";
import { UploadError } from "../../../platform/errors.ts";
import { bytesOfAnyRatio, gunzip, malformed, maxRatio, tooDense, withinBytes } from "../../upload/lines.ts";
import { byCodePoints } from "../content.ts";
import { unzstd } from "./zstd.ts";

/** A file as it is packed in another one, or as it came. */
export interface UnpackedFile {
  /** In a zip. */
  entry: string | undefined;
  chunks: AsyncIterable<Uint8Array>;
}

const maxEntries = 100_000;
const starts = {
  gzip: [0x1f, 0x8b],
  zstd: [0x28, 0xb5, 0x2f, 0xfd],
  zip: [0x50, 0x4b, 0x03, 0x04],
} as const;

/** The files in an upload, which may be compressed with gzip or zstd, or be a zip: its first bytes tell. No more than `maxBytes` in all. */
export async function* unpack(
  packed: AsyncIterable<Uint8Array>,
  maxBytes: number,
): AsyncGenerator<UnpackedFile, void> {
  const { first, chunks } = await peek(packed);
  const startsLike = (bytes: readonly number[]) => bytes.every((byte, at) => first[at] === byte);
  if (startsLike(starts.zip)) yield* unzip(chunks, maxBytes);
  else if (startsLike(starts.gzip)) yield { entry: undefined, chunks: withinBytes(gunzip(chunks), maxBytes) };
  else if (startsLike(starts.zstd)) yield { entry: undefined, chunks: withinBytes(unzstd(chunks), maxBytes) };
  else yield { entry: undefined, chunks: withinBytes(chunks, maxBytes) };
}

const peekedBytes = 4;

/** The first bytes, and all of them. */
async function peek(packed: AsyncIterable<Uint8Array>) {
  const iterator = packed[Symbol.asyncIterator]();
  const begun: Uint8Array[] = [];
  let first = Buffer.alloc(0);
  while (first.length < peekedBytes) {
    const { done, value } = await iterator.next();
    if (done) break;
    begun.push(value.slice());
    first = Buffer.concat(begun);
  }
  async function* chunks() {
    try {
      yield* begun;
      for (;;) {
        const { done, value } = await iterator.next();
        if (done) return;
        yield value;
      }
    } finally {
      await iterator.return?.();
    }
  }
  return { first, chunks: chunks() };
}

/** The JSON files in a zip, by name. A zip is read from its end, so it is kept in a temporary file meanwhile. */
async function* unzip(
  chunks: AsyncIterable<Uint8Array>,
  maxBytes: number,
): AsyncGenerator<UnpackedFile, void> {
  const path = join(tmpdir(), `presage-import-${Bun.randomUUIDv7()}.zip`);
  const file = await open(path, "wx+", 0o600);
  // Nobody else needs its name. It goes with its last user.
  await rm(path);
  try {
    let packedBytes = 0;
    for await (const chunk of withinBytes(chunks, maxBytes)) {
      await file.write(chunk);
      packedBytes += chunk.length;
    }
    const zip = await openZip(file.fd);
    const entries = await entriesOf(zip);
    let leftBytes = Math.min(maxBytes, Math.max(bytesOfAnyRatio, maxRatio * packedBytes));
    for (const entry of entries) {
      const counted = async function* () {
        for await (const chunk of contentsOf(zip, entry)) {
          leftBytes -= chunk.length;
          if (leftBytes < 0) throw tooDense();
          yield chunk;
        }
      };
      yield { entry: entry.fileName, chunks: counted() };
    }
  } finally {
    await file.close();
  }
}

async function openZip(fd: number): Promise<ZipFile> {
  const { promise, resolve, reject } = Promise.withResolvers<ZipFile>();
  const options = { lazyEntries: true, autoClose: false, validateEntrySizes: true };
  fromFd(fd, options, (error, zip) => (error === null ? resolve(zip) : reject(malformed("zip"))));
  return await promise;
}

const jsonName = /\.(json|jsonl|ndjson)$/i;

/** The entries with JSON, in the order of their names. Their paths are checked by the library. */
async function entriesOf(zip: ZipFile): Promise<Entry[]> {
  const entries: Entry[] = [];
  let count = 0;
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  zip.on("error", (error: Error) => reject(refusedZip(`The zip is refused: ${error.message}`)));
  zip.on("end", resolve);
  zip.on("entry", (entry: Entry) => {
    count += 1;
    if (count > maxEntries) return reject(refusedZip(`The zip has more than ${maxEntries} entries`));
    if (jsonName.test(entry.fileName)) entries.push(entry);
    zip.readEntry();
  });
  zip.readEntry();
  await promise;
  if (entries.length === 0)
    throw refusedZip("The zip has no file that ends in .json, .jsonl or .ndjson", "unrecognised_layout");
  return entries.sort((one, other) => byCodePoints(one.fileName, other.fileName));
}

function refusedZip(reason: string, type?: string): UploadError {
  return new UploadError({ line: undefined, path: [], reason, ...(type && { type }) });
}

const zstdMethod = 93;

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
