import { createZstdDecompress } from "node:zlib";
import { decompress, malformed } from "../../upload/lines.ts";

/** Decompresses zstd, to no more than gzip is. */
export async function* unzstd(packed: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
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

/** Goes through the frames of zstd (RFC 8878, section 3.1), as the decompressor of Bun 1.4 takes one that is cut off for complete. */
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

/** How many bytes are read for a frame's first field. No other field has as many and is read. */
const startOfFrame = 4;

/** Yields how many bytes to read, as a number in little endian, or, below 0, to pass over. */
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

/** A number that is not a frame's first field. */
function* readNumber(bytes: number): Generator<number, number, number> {
  let value = 0;
  for (let at = 0; at < bytes; at += 1) value += (yield 1) * 2 ** (8 * at);
  return value;
}

function littleEndian(bytes: readonly number[]): number {
  return bytes.reduce((value, byte, at) => value + byte * 2 ** (8 * at), 0);
}
