import { maxIssues, type ValidationError } from "@presage/contract";
import type { z } from "zod";
import { nameNarrowType, toFaults } from "./pydantic-faults.ts";
import { withoutLongParts } from "./without-long-parts.ts";

/** A request that is refused, with its faults, the first hundred of them. */
export class ValidationFailure extends Error {
  readonly faults: ValidationError[];

  constructor(faults: ValidationError[]) {
    super("The request is not valid.");
    this.name = "ValidationFailure";
    this.faults = faults.slice(0, maxIssues).map(withoutLongParts);
  }
}

/**
 * Checks a value against its schema and returns the very same value: what the caller sent goes on unchanged, unknown
 * fields, key order and all. Schemas therefore only check; they neither convert nor fill in.
 */
export function validate<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  where: "body" | "path" | "query",
): z.input<Schema> {
  const parsed = schema.safeParse(value, { error: nameNarrowType });
  if (!parsed.success) throw new ValidationFailure(toFaults(parsed.error.issues, value, where));
  return value as z.input<Schema>;
}
