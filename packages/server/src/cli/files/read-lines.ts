import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";

export interface NumberedLine {
  /** From 1, as editors count. */
  number: number;
  text: string;
}

/** Yields the lines of a file, without empty ones. */
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

/** An input line that cannot be used; the message says why. */
export class InvalidLineError extends Error {}

/** Parses an input line, which must be a JSON object. */
export function parseLine(text: string): Record<string, unknown> {
  const value = parseJson(text);
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return { ...value };
  throw new InvalidLineError("the line is not a JSON object");
}

/** Describes zod's issues in one line. */
export function describeIssues(issues: readonly { path: PropertyKey[]; message: string }[]): string {
  return issues.map(({ path, message }) => `${path.join(".")}: ${message}`).join("; ");
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new InvalidLineError("the line is not JSON");
  }
}
