import { maxIssues, type ValidationError } from "@presage/contract";
import { z } from "zod";
import { isObject, shortened } from "../platform/words.ts";

/** Whether a value's JSON has more characters than this, approximately. Stops counting there. */
export function isLongerThan(value: unknown, characters: number): boolean {
  return charactersLeft(value, characters) < 0;
}

function charactersLeft(value: unknown, available: number): number {
  if (typeof value === "string") return available - value.length - 2;
  if (typeof value !== "object" || value === null) return available - 5;
  let left = available - 2;
  if (Array.isArray(value)) {
    for (const item of value) {
      left = charactersLeft(item, left - 1);
      if (left < 0) break;
    }
    return left;
  }
  // Every response passes through here: listing an object's keys takes a third of the time of `for in`.
  for (const key of Object.keys(value)) {
    left = charactersLeft(Reflect.get(value, key), left - key.length - 4);
    if (left < 0) break;
  }
  return left;
}

type ZodIssue = z.core.$ZodIssue;
type Path = readonly PropertyKey[];

/**
 * An error map for zod, which reports an integer or a date-time of the wrong type as "number" or "string" expected: this puts
 * the expected format in the message, where `toIssues` reads it.
 */
export function nameNarrowType({ code, inst }: z.core.$ZodRawIssue): string | undefined {
  // zod's own message would list every key.
  if (code === "unrecognized_keys") return "Extra inputs";
  if (code !== "invalid_type") return undefined;
  const format: unknown = inst !== undefined && "format" in inst._zod.def ? inst._zod.def.format : undefined;
  return typeof format === "string" ? format : undefined;
}

/** Zod's issues in pydantic's types and wording, because clients of the API match on those. */
export function toIssues(zodIssues: readonly ZodIssue[], root: unknown, where: string): ValidationError[] {
  const bounded = zodIssues.slice(0, maxIssues);
  const isRange = (issue: ZodIssue) => isIntegerRange(issue) && !isBeyondIntegers(valueAt(root, issue.path));
  // A field's own bounds say more than the range of integers.
  const ordered = [...bounded.filter((issue) => !isRange(issue)), ...bounded.filter(isRange)];
  const issues = ordered.flatMap((issue) => toIssue(issue, root, where));
  // Pydantic reports only the first issue of each value: a value of the wrong type is not also too small.
  const seen = new Set<string>();
  return issues.filter(({ loc }) => {
    const place = JSON.stringify(loc);
    return !seen.has(place) && seen.add(place);
  });
}

function toIssue(issue: ZodIssue, root: unknown, where: string): ValidationError[] {
  const input = valueAt(root, issue.path);
  if (issue.code === "unrecognized_keys") {
    return issue.keys.slice(0, maxIssues).map((key) => ({
      type: "extra_forbidden",
      loc: location(where, [...issue.path, key]),
      msg: "Extra inputs are not permitted",
      input: valueAt(root, [...issue.path, key]),
    }));
  }
  // A rule over several fields refuses a null because all of them are missing.
  const isMissing = input === null && issue.code === "custom";
  if (isMissing || (input === undefined && !isPresent(root, issue.path))) {
    const holder = valueAt(root, issue.path.slice(0, -1));
    return [missing(location(where, issue.path), holder ?? null)];
  }
  if (issue.code === "invalid_union") {
    const ofBranch = mostSimilarBranch(issue.errors, input).map((one) => ({
      ...one,
      path: [...issue.path, ...one.path],
    }));
    if (ofBranch.length > 0) return ofBranch.flatMap((one) => toIssue(one, root, where));
  }
  return [{ ...wording(issue, input), loc: location(where, issue.path), input: input ?? null }];
}

/** zod limits every integer to the range that a double represents exactly. */
function isIntegerRange(issue: ZodIssue): boolean {
  return (issue.code === "too_big" || issue.code === "too_small") && issue.origin === "int";
}

/** JSON writes such numbers with an exponent, so for pydantic they are no integers. */
function isBeyondIntegers(value: unknown): boolean {
  return typeof value === "number" && Math.abs(value) >= 1e21;
}

/** The issues of the first branch of a union with the fewest unknown keys, including the constants of branches that are just as similar. */
function mostSimilarBranch(branches: readonly ZodIssue[][], input: unknown): ZodIssue[] {
  const unknownIn = (issues: readonly ZodIssue[]) =>
    issues.flatMap((one) => (one.code === "unrecognized_keys" && one.path.length === 0 ? one.keys : []))
      .length;
  const fitting = branches.filter((issues) => issues.every((one) => fitsType(one, input)));
  const fewest = Math.min(...fitting.map(unknownIn));
  const [branch = [], ...others] = fitting.filter((issues) => unknownIn(issues) === fewest);
  const alternatives = others.flat().filter((one) => one.code === "invalid_value");
  return branch.map((one) => {
    if (one.code !== "invalid_value") return one;
    const same = alternatives.filter(({ path }) => String(path) === String(one.path));
    return { ...one, values: [...new Set([...one.values, ...same.flatMap(({ values }) => values)])] };
  });
}

/** Whether a branch of a union accepts values of this type, though not this value. */
function fitsType(issue: ZodIssue, input: unknown): boolean {
  if (issue.path.length > 0) return true;
  if (issue.code === "invalid_value") return issue.values.some((value) => typeof value === typeof input);
  return issue.code !== "invalid_type" || (issue.expected === "int" && typeof input === "number");
}

/** A missing required field. `input` is the object that should have it. */
export function missing(loc: ValidationError["loc"], input: unknown): ValidationError {
  return { type: "missing", loc, msg: "Field required", input };
}

/** An issue's message, without pydantic's prefix. */
export function said({ msg }: ValidationError): string {
  return msg.replace(/^Value error, /, "");
}

/** A value that breaks a rule which the schema cannot express. */
export function valueError(loc: ValidationError["loc"], error: string, input?: unknown): ValidationError {
  return { type: "value_error", loc, msg: `Value error, ${error}`, input, ctx: { error } };
}

type Wording = Pick<ValidationError, "type" | "msg" | "ctx">;

const notAnInteger: Wording = { type: "int_type", msg: "Input should be a valid integer" };

const typeWordings: Record<string, Wording> = {
  object: {
    type: "model_attributes_type",
    msg: "Input should be a valid dictionary or object to extract fields from",
  },
  record: { type: "dict_type", msg: "Input should be a valid dictionary" },
  array: { type: "list_type", msg: "Input should be a valid list" },
  string: { type: "string_type", msg: "Input should be a valid string" },
  int: notAnInteger,
  safeint: notAnInteger,
  datetime: { type: "datetime_type", msg: "Input should be a valid datetime" },
  guid: { type: "uuid_type", msg: "UUID input should be a string, bytes or UUID object" },
  number: { type: "float_type", msg: "Input should be a valid number" },
  boolean: { type: "bool_type", msg: "Input should be a valid boolean" },
};

function wording(issue: ZodIssue, input: unknown): Wording {
  if (isIntegerRange(issue) && isBeyondIntegers(input)) return notAnInteger;
  switch (issue.code) {
    case "invalid_type":
      return typeWordings[issue.message] ?? typeWordings[issue.expected] ?? other(issue);
    case "too_small":
      return tooSmall(issue, lengthOf(input));
    case "too_big":
      return tooBig(issue, lengthOf(input));
    case "invalid_value":
      return literal(issue.values);
    case "invalid_format":
      return formatWordings[issue.format] ?? other(issue);
    case "invalid_union":
      return (
        anyOf(issue.errors.flatMap((issues) => issues.slice(0, 1).map((one) => wording(one, input)))) ??
        other(issue)
      );
    default:
      return other(issue);
  }
}

/** Everything that the branches of a union accept, under the type of the first. */
function anyOf(branches: readonly Wording[]): Wording | undefined {
  const [first] = branches;
  if (first === undefined) return undefined;
  const accepted = new Set(branches.map(({ msg }) => msg.replace(/^Input should be /, "")));
  return { type: first.type, msg: `Input should be ${[...accepted].join(" or ")}` };
}

function lengthOf(input: unknown): number {
  return Array.isArray(input) ? input.length : 0;
}

function tooSmall({ origin, minimum, inclusive }: z.core.$ZodIssueTooSmall, length: number): Wording {
  const bound = Number(minimum);
  if (origin === "string") {
    const msg = `String should have at least ${bound} character${bound === 1 ? "" : "s"}`;
    return { type: "string_too_short", msg, ctx: { min_length: bound } };
  }
  if (origin === "array") {
    const msg = `List should have at least ${bound} item${bound === 1 ? "" : "s"} after validation, not ${length}`;
    return { type: "too_short", msg, ctx: { field_type: "List", min_length: bound, actual_length: length } };
  }
  return inclusive
    ? {
        type: "greater_than_equal",
        msg: `Input should be greater than or equal to ${bound}`,
        ctx: { ge: bound },
      }
    : { type: "greater_than", msg: `Input should be greater than ${bound}`, ctx: { gt: bound } };
}

function tooBig({ origin, maximum, inclusive }: z.core.$ZodIssueTooBig, length: number): Wording {
  const bound = Number(maximum);
  if (origin === "string") {
    const msg = `String should have at most ${bound} character${bound === 1 ? "" : "s"}`;
    return { type: "string_too_long", msg, ctx: { max_length: bound } };
  }
  if (origin === "array") {
    const msg = `List should have at most ${bound} item${bound === 1 ? "" : "s"} after validation, not ${length}`;
    return { type: "too_long", msg, ctx: { field_type: "List", max_length: bound, actual_length: length } };
  }
  return inclusive
    ? { type: "less_than_equal", msg: `Input should be less than or equal to ${bound}`, ctx: { le: bound } }
    : { type: "less_than", msg: `Input should be less than ${bound}`, ctx: { lt: bound } };
}

function literal(values: readonly unknown[]): Wording {
  const quoted = values.map((value) => (typeof value === "string" ? `'${value}'` : String(value)));
  const last = quoted.pop() ?? "";
  const expected = quoted.length === 0 ? last : `${quoted.join(", ")} or ${last}`;
  return { type: "literal_error", msg: `Input should be ${expected}`, ctx: { expected } };
}

const formatWordings: Record<string, Wording> = {
  int: {
    type: "int_parsing",
    msg: "Input should be a valid integer, unable to parse string as an integer",
  },
  float: {
    type: "float_parsing",
    msg: "Input should be a valid number, unable to parse string as a number",
  },
  bool: {
    type: "bool_parsing",
    msg: "Input should be a valid boolean, unable to interpret input",
  },
  guid: {
    type: "uuid_parsing",
    msg: "Input should be a valid UUID",
    ctx: { error: "a UUID is 32 hexadecimal digits in five groups" },
  },
  datetime: {
    type: "datetime_from_date_parsing",
    msg: "Input should be a valid datetime or date, like 2026-01-31T12:00:00Z or 2026-01-31",
    ctx: { error: "like 2026-01-31T12:00:00Z or 2026-01-31" },
  },
};

function other({ message }: ZodIssue): Wording {
  return { type: "value_error", msg: `Value error, ${message}`, ctx: { error: message } };
}

function location(where: string, path: Path): (string | number)[] {
  return [where, ...path.map((part) => (typeof part === "number" ? part : String(part)))];
}

/** The value at a path; undefined if there is none. */
export function valueAt(root: unknown, path: Path): unknown {
  return path.reduce<unknown>(
    (holder, key) => (hasOwn(holder, key) ? Reflect.get(Object(holder), key) : undefined),
    root,
  );
}

function isPresent(root: unknown, path: Path): boolean {
  const key = path.at(-1);
  return key === undefined ? root !== undefined : hasOwn(valueAt(root, path.slice(0, -1)), key);
}

function hasOwn(holder: unknown, key: PropertyKey): boolean {
  return typeof holder === "object" && holder !== null && Object.hasOwn(holder, key);
}

/** A hundred issues may each quote their input, which may be the whole of a long body. */
const maxInputCharacters = 2_000;
const maxKeyCharacters = 200;

/** A request that is refused, with the first hundred of its issues. */
export class InvalidRequestError extends Error {
  readonly issues: ValidationError[];
  /** The whole value that its schema refused, for more issues of the same request. */
  readonly refused: unknown;

  /** `cause` is what the issues are made from, for commands that word them differently. */
  constructor(issues: ValidationError[], cause?: Error, refused?: unknown) {
    super("The request is not valid.", { cause });
    this.name = "InvalidRequestError";
    this.issues = issues.slice(0, maxIssues).map(withoutLongParts);
    this.refused = refused;
  }
}

/**
 * Checks a value against its schema and returns the very same value, so that unknown fields, key order and long numbers
 * reach the upstream unchanged. Schemas therefore only check; they neither convert nor fill in. With `refusesUnknown`, unknown fields
 * of an object that are not null are issues too.
 */
export function validate<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  where: "body" | "path" | "query" | "header",
  refusesUnknown = false,
): z.input<Schema> {
  const unknown =
    refusesUnknown && schema instanceof z.ZodObject && isObject(value)
      ? unknownFields(schema, value, where)
      : [];
  if (unknown.length === 0 && z.validate(compiled(schema), value)) return value as z.input<Schema>;
  const { error } = schema.safeParse(value, { error: nameNarrowType });
  const issues = [...toIssues(error?.issues ?? [], value, where), ...unknown];
  if (issues.length > 0) throw new InvalidRequestError(issues, undefined, value);
  return value as z.input<Schema>;
}

/** Compiled when a schema is first used, as that takes milliseconds. */
const compiledSchemas = new WeakMap<z.ZodType, z.ZodType>();

/** The same schema as one generated function, which tells in a tenth of the time whether a value is valid, but not why it is not. */
function compiled(schema: z.ZodType): z.ZodType {
  const known = compiledSchemas.get(schema);
  if (known !== undefined) return known;
  const made = z.compile(schema);
  compiledSchemas.set(schema, made);
  return made;
}

/** Fields that the schema does not name: a misspelt filter would silently match everything. */
function unknownFields(schema: z.ZodObject, given: object, where: string): ValidationError[] {
  const unknown = Object.entries(given).filter(
    ([name, value]) => value !== null && !Object.hasOwn(schema.shape, name),
  );
  return unknown.slice(0, maxIssues).map(([name, input]) => ({
    type: "extra_forbidden",
    loc: [where, name],
    msg: "Extra inputs are not permitted",
    input,
  }));
}

/** An issue without its input if that is long, and with long keys cut. */
function withoutLongParts({ input, ...issue }: ValidationError): ValidationError {
  const loc = issue.loc.map((part) => (typeof part === "string" ? shortened(part, maxKeyCharacters) : part));
  const isQuoted = input !== undefined && !isLongerThan(input, maxInputCharacters);
  return { ...issue, loc, ...(isQuoted ? { input } : {}) };
}
