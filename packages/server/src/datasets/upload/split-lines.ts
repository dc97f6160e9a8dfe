import { UploadError } from "../../platform/upload-error.ts";

const lineFeed = 0x0a;

export interface RawLine {
  /** From 1. */
  number: number;
  bytes: Uint8Array;
}

/** The lines of a body, several at a time, as they arrive, without empty ones, which count. Only a line that is not complete is kept. */
export async function* splitLines(
  chunks: AsyncIterable<Uint8Array>,
  maxLineBytes: number,
): AsyncGenerator<RawLine[], void> {
  let number = 0;
  let begun: Uint8Array[] = [];
  let begunBytes = 0;

  function take(end: Uint8Array): RawLine {
    number += 1;
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
        if (lines.length > 0) yield lines;
        const reason = `The line is longer than ${maxLineBytes} bytes`;
        throw new UploadError({ line: number + 1, path: [], reason });
      }
      if (end < 0) break;
      if (begunBytes + length > 0) lines.push(take(chunk.subarray(from, end)));
      else number += 1;
      from = end + 1;
    }
    if (from < chunk.length) {
      // A copy: the sender of a chunk may use its memory again.
      const rest = chunk.slice(from);
      begun.push(rest);
      begunBytes += rest.length;
    }
    if (lines.length > 0) yield lines;
  }
  if (begunBytes > 0) yield [take(new Uint8Array())];
}
