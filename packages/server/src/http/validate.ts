import { maxIssues, type ValidationError } from "@presage/contract";
import { z } from "zod";
import { isLongerThan } from "./is-longer-than.ts";
import { nameNarrowType, toIssues } from "./pydantic-issues.ts";

/** A hundred issues may each quote their input, which may be the whole of a long body. */
const maxInputCharacters = 2_000;
const maxKeyCharacters = 200;

/** A request that is refused, with the first hundred of its issues. */
export class InvalidRequestError extends Error {
  readonly issues: ValidationError[];

  constructor(issues: ValidationError[]) {
    super("The request is not valid.");
    this.name = "InvalidRequestError";
    this.issues = issues.slice(0, maxIssues).map(withoutLongParts);
  }
}

/**
 * Checks a value against its schema and returns the very same value, so that unknown fields, key order and long numbers
 * reach the upstream unchanged. Schemas therefore only check; they neither convert nor fill in.
 */
export function validate<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  where: "body" | "path" | "query",
): z.input<Schema> {
  if (z.validate(compiled(schema), value)) return value as z.input<Schema>;
  const parsed = schema.safeParse(value, { error: nameNarrowType });
  if (!parsed.success) throw new InvalidRequestError(toIssues(parsed.error.issues, value, where));
  return value as z.input<Schema>;
}

/** Made when a schema is first used, which takes milliseconds. */
const compiledSchemas = new WeakMap<z.ZodType, z.ZodType>();

/** The same schema as one generated function, which says in a tenth of the time whether a value is valid, but not why it is not. */
function compiled(schema: z.ZodType): z.ZodType {
  const known = compiledSchemas.get(schema);
  if (known !== undefined) return known;
  const made = z.compile(schema);
  compiledSchemas.set(schema, made);
  return made;
}

/** Refuses fields that the schema does not name: a misspelt filter would silently match everything. */
export function refuseUnknownFields(schema: z.ZodObject, given: object, where: "body" | "query"): void {
  const unknown = Object.entries(given).filter(
    ([name, value]) => value !== null && !Object.hasOwn(schema.shape, name),
  );
  if (unknown.length === 0) return;
  throw new InvalidRequestError(
    unknown.slice(0, maxIssues).map(([name, input]) => ({
      type: "extra_forbidden",
      loc: [where, name],
      msg: "Extra inputs are not permitted",
      input,
    })),
  );
}

/** An issue without its input if that is long, and with long keys cut. */
function withoutLongParts({ input, ...issue }: ValidationError): ValidationError {
  const loc = issue.loc.map((part) => (typeof part === "string" ? cutKey(part) : part));
  const isQuoted = input !== undefined && !isLongerThan(input, maxInputCharacters);
  return { ...issue, loc, ...(isQuoted ? { input } : {}) };
}

function cutKey(key: string): string {
  return key.length <= maxKeyCharacters ? key : `${key.slice(0, maxKeyCharacters).toWellFormed()}…`;
}
