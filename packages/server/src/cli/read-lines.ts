import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import type { ValidationError } from "@presage/contract";
import type { z } from "zod";
import { InvalidRequestError, validate } from "../http/validate.ts";

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

/** Checks a line, with the same wording as the API's. */
export function checkLine<Schema extends z.ZodType>(schema: Schema, value: unknown): z.input<Schema> {
  try {
    return validate(schema, value, "body");
  } catch (error) {
    throw error instanceof InvalidRequestError ? new InvalidLineError(describeIssues(error.issues)) : error;
  }
}

/** Describes issues in one line, each with its field, or with what `nameField` makes of it. */
export function describeIssues(
  issues: readonly ValidationError[],
  nameField: (field: string) => string = (field) => field,
): string {
  return issues
    .map(({ loc, msg }) => {
      const [, ...path] = loc;
      return `${nameField(path.join("."))}: ${msg}`;
    })
    .join("; ");
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new InvalidLineError("the line is not JSON");
  }
}
