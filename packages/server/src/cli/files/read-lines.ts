import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";

export interface NumberedLine {
  /** From 1, as editors count. */
  number: number;
  text: string;
}

/** A file's lines that are not empty, one at a time. */
export async function* readLines(path: string): AsyncGenerator<NumberedLine> {
  let number = 0;
  for await (const text of createInterface({
    input: createReadStream(path),
    crlfDelay: Number.POSITIVE_INFINITY,
  })) {
    number += 1;
    if (text.trim() !== "") yield { number, text };
  }
}
