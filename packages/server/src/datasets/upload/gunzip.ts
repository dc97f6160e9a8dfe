import { Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { ServiceError } from "../../platform/errors.ts";
import { UploadError } from "../../platform/upload-error.ts";

/** A short input may become a thousand times longer; this much of the output is made at once. */
const chunkSize = 256 * 1024;

/** Far more than recorded texts compress by. What is above it fills a disk with a few megabytes. */
const maxRatio = 200;
/** So much may come of any body: a short one of a few lines that repeat compresses a thousandfold. */
const bytesOfAnyRatio = 32 * 1024 * 1024;

/** Decompresses gzip as fast as it is read, to no more than 200 times its length. */
export async function* gunzip(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  const gunzip = createGunzip({ chunkSize });
  const source = Readable.from(chunks, { objectMode: true, highWaterMark: 1 });
  source.on("error", (error) => gunzip.destroy(error));
  source.pipe(gunzip);
  let bytes = 0;
  try {
    for await (const chunk of gunzip as AsyncIterable<Uint8Array>) {
      bytes += chunk.length;
      // What it has read of the body so far.
      if (bytes > Math.max(bytesOfAnyRatio, maxRatio * gunzip.bytesWritten)) throw tooDense();
      yield chunk;
    }
  } catch (error) {
    throw isOfZlib(error)
      ? new UploadError({ line: undefined, path: [], reason: "The body is not valid gzip, or it is cut off" })
      : error;
  } finally {
    source.destroy();
    gunzip.destroy();
  }
}

function tooDense(): ServiceError {
  const message = `The body becomes more than ${maxRatio} times as long when it is decompressed. Send it without gzip.`;
  return new ServiceError("body_too_large", message);
}

function isOfZlib(error: unknown): boolean {
  return error instanceof Error && "code" in error && String(error.code).startsWith("Z_");
}
