import { z } from "zod";

/**
 * The id of a result as clients send it: an integer or its digits. Ids that are too long for any result are well formed
 * too; the longest numbers are read as infinite.
 */
export function resultId() {
  return z
    .unknown()
    .check(({ value, issues }) => {
      if (typeof value === "string") {
        if (!/^\d+$/.test(value)) issues.push({ code: "invalid_format", format: "int", input: value });
      } else if (!isWhole(value)) {
        issues.push({ code: "invalid_type", expected: "int", input: value });
      } else if (value < 0) {
        issues.push({ code: "too_small", origin: "number", minimum: 0, inclusive: true, input: value });
      }
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
  return Math.min(Number(id), Number.MAX_SAFE_INTEGER);
}

function isWhole(value: unknown): value is number {
  return (
    typeof value === "number" && (Number.isInteger(value) || Math.abs(value) === Number.POSITIVE_INFINITY)
  );
}
