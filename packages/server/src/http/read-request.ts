import type { z } from "zod";
import { readJsonBody } from "./read-json-body.ts";
import type { Call } from "./route.ts";
import { usesOldNames } from "./uses-old-names.ts";
import { validate } from "./validation.ts";

/** A request's body, checked. Without a body it is undefined, where the schema takes that. */
export async function readBody<Schema extends z.ZodType>(
  call: Call,
  schema: Schema,
  maxBodyBytes: number,
): Promise<z.input<Schema>> {
  return (await readBodyTwice(call, schema, maxBodyBytes)).plain;
}

/**
 * Like `readBody`, for what is sent on or kept as it came: numbers that a double does not hold keep their digits, in
 * objects that only `JSON.stringify` knows. So nothing may be calculated with such a body's numbers, unless their schema bounds them.
 */
export async function readExactBody<Schema extends z.ZodType>(
  call: Call,
  schema: Schema,
  maxBodyBytes: number,
): Promise<z.input<Schema>> {
  return (await readBodyTwice(call, schema, maxBodyBytes)).exact;
}

async function readBodyTwice<Schema extends z.ZodType>(
  { request, exchange }: Call,
  schema: Schema,
  maxBodyBytes: number,
): Promise<Record<"plain" | "exact", z.input<Schema>>> {
  const { plain, exact } = await readJsonBody(request, maxBodyBytes);
  exchange.usesOldNames = usesOldNames(schema, plain);
  // To the schema a long integer is a number like any other, and never the object that keeps its digits.
  return { plain: validate(schema, plain, "body"), exact: exact as z.input<Schema> };
}

/** A request's query, checked. Of a name that is there twice the last one counts. */
export function readQuery<Schema extends z.ZodType>(
  { request, exchange }: Call,
  schema: Schema,
): z.input<Schema> {
  const query = Object.fromEntries(new URL(request.url).searchParams);
  exchange.usesOldNames = usesOldNames(schema, query);
  return validate(schema, query, "query");
}

/** The parameters in a request's path, checked. */
export function readPath<Schema extends z.ZodType>({ request }: Call, schema: Schema): z.input<Schema> {
  return validate(schema, request.params, "path");
}
