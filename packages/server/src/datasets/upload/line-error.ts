import type { z } from "zod";

/** A line that its reader cannot use. */
export class LineError extends Error {
  /** The field in the line's JSON. */
  readonly path: (string | number)[];

  constructor(reason: string, path: (string | number)[] = []) {
    super(reason);
    this.name = "LineError";
    this.path = path;
  }
}

/** Checks a line's value and returns the very same value. Throws a `LineError` for the first issue. */
export function checkLine<Schema extends z.ZodType>(schema: Schema, value: unknown): z.input<Schema> {
  const issue = schema.safeParse(value).error?.issues[0];
  if (issue === undefined) return value as z.input<Schema>;
  const path = issue.path.map((part) => (typeof part === "symbol" ? String(part) : part));
  const isMissing = issue.code === "invalid_type" && path.length > 0 && !has(value, path);
  throw new LineError(isMissing ? "Field required" : issue.message, path);
}

function has(value: unknown, path: readonly (string | number)[]): boolean {
  const found = path.reduce<unknown>(
    (inner, name) => (typeof inner === "object" && inner !== null ? Reflect.get(inner, name) : undefined),
    value,
  );
  return found !== undefined;
}
