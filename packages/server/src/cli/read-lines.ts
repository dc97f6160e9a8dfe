import { createReadStream, statSync } from "node:fs";
import { pipeline } from "node:stream";
import { createGunzip } from "node:zlib";
import { CommandError } from "./command.ts";

export interface NumberedLine {
  /** From 1, as in editors. */
  number: number;
  text: string;
}

export async function startsLikeGzip(path: string): Promise<boolean> {
  const [first, second] = await Bun.file(path).slice(0, 2).bytes();
  return first === 0x1f && second === 0x8b;
}

/** Yields the lines of a file, which may be compressed with gzip, skipping empty ones. */
export async function* readLines(path: string): AsyncGenerator<NumberedLine> {
  let number = 0;
  // What is read from a pipe to look at it would be gone.
  const isGzip = statSync(path).isFile() && (await startsLikeGzip(path));
  const chunks = isGzip ? unpack(path) : createReadStream(path);
  for await (const text of splitLines(chunks)) {
    number += 1;
    if (text.trim() !== "") yield { number, text };
  }
}

async function* unpack(path: string): AsyncGenerator<Uint8Array> {
  try {
    // An error also ends the loop, so the callback has nothing to do.
    yield* pipeline(createReadStream(path), createGunzip(), () => {});
  } catch (error) {
    const isDamaged = error instanceof Error && "code" in error && String(error.code).startsWith("Z_");
    throw isDamaged ? new CommandError(`${path} is damaged: ${error.message}`) : error;
  }
}

/** The lines of a UTF-8 text. Unlike `node:readline`, only a line feed ends one: JSON may contain U+2028, U+2029 and carriage returns. */
async function* splitLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  // A long line comes in many chunks, which are joined once.
  let begun: string[] = [];
  const take = () => begun.join("").replace(/\r$/, "");
  for await (const chunk of chunks) {
    const [end = "", ...others] = decoder.decode(chunk, { stream: true }).split("\n");
    begun.push(end);
    for (const next of others) {
      yield take();
      begun = [next];
    }
  }
  begun.push(decoder.decode());
  yield take();
}
