import { z } from "zod";

/**
 * The id of a result as clients send it: an integer or its digits. Ids that are too long for any result are well formed
 * too. JSON writes those that a double cannot hold, and were kept as text, as it writes numbers.
 */
export function resultId() {
  return z
    .unknown()
    .check(({ value, issues }) => {
      if (/^\d+$/.test(digitsOf(value))) return;
      if (typeof value === "string") issues.push({ code: "invalid_format", format: "int", input: value });
      else if (typeof value === "number" && value < 0) {
        issues.push({ code: "too_small", origin: "number", minimum: 0, inclusive: true, input: value });
      } else issues.push({ code: "invalid_type", expected: "int", input: value });
    })
    .meta({
      anyOf: [
        { type: "integer", minimum: 0 },
        { type: "string", pattern: "^\\d+$" },
      ],
    });
}

/** The number of an id that was found well formed. What is beyond all ids becomes the last number that is exact. */
export function readResultId(id: unknown): number {
  return Math.min(Number(digitsOf(id)), Number.MAX_SAFE_INTEGER);
}

function digitsOf(id: unknown): string {
  return typeof id === "string" ? id : String(JSON.stringify(id));
}
