import { z } from "zod";

/**
 * A result's id as clients send it: an integer or its digits. Ids too large for any result are valid too; the largest
 * numbers are parsed as infinite.
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

/** Converts a valid id to a number. Ids beyond all results become the largest safe integer. */
export function readResultId(id: unknown): number {
  return Math.min(Number(id), Number.MAX_SAFE_INTEGER);
}

function isWhole(value: unknown): value is number {
  return (
    typeof value === "number" && (Number.isInteger(value) || Math.abs(value) === Number.POSITIVE_INFINITY)
  );
}
