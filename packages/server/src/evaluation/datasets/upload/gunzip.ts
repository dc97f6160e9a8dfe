import { Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { UploadError } from "./upload-error.ts";

/** A short input may become a thousand times longer; this much of the output is made at once. */
const chunkSize = 256 * 1024;

/** Decompresses gzip as fast as it is read. */
export async function* gunzip(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  const gunzip = createGunzip({ chunkSize });
  const source = Readable.from(chunks, { objectMode: true, highWaterMark: 1 });
  source.on("error", (error) => gunzip.destroy(error));
  source.pipe(gunzip);
  try {
    yield* gunzip as AsyncIterable<Uint8Array>;
  } catch (error) {
    throw isOfZlib(error)
      ? new UploadError({ line: undefined, path: [], reason: "The body is not valid gzip, or it is cut off" })
      : error;
  } finally {
    source.destroy();
    gunzip.destroy();
  }
}

function isOfZlib(error: unknown): boolean {
  return error instanceof Error && "code" in error && String(error.code).startsWith("Z_");
}
