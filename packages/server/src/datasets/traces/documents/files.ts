import { Readable } from "node:stream";
import Busboy from "@fastify/busboy";
import { UploadError } from "../../../platform/errors.ts";

/** One file of an upload, whose bytes are to be read before the next one's. */
export interface UploadedFile {
  name: string | undefined;
  chunks: AsyncIterable<Uint8Array>;
}

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

/** Its bytes. That the body ends within them is its fault. */
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

function malformed(): UploadError {
  const reason = "The body is not valid multipart/form-data, or it is cut off";
  return new UploadError({ line: undefined, path: [], reason });
}
