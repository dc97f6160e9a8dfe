import { ServiceError } from "../../../errors.ts";
import { gunzip } from "./gunzip.ts";
import { type RawLine, splitLines } from "./split-lines.ts";

const maxLineBytes = 16 * 1024 * 1024;

/** The lines of an uploaded body as they arrive, several at a time. */
export function uploadedLines(
  body: AsyncIterable<Uint8Array>,
  { isGzip, maxBytes }: { isGzip: boolean; maxBytes: number },
): AsyncGenerator<RawLine[], void> {
  return splitLines(within(isGzip ? gunzip(body) : body, maxBytes), maxLineBytes);
}

async function* within(
  chunks: AsyncIterable<Uint8Array>,
  maxBytes: number,
): AsyncGenerator<Uint8Array, void> {
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw tooLarge(maxBytes);
    yield chunk;
  }
}

function tooLarge(maxBytes: number): ServiceError {
  const message = `The upload is larger than ${maxBytes} bytes (PRESAGE_MAX_DATASET_BYTES), decompressed.`;
  return new ServiceError("body_too_large", message);
}
