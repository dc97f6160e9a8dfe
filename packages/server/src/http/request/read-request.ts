import type { z } from "zod";
import { keepOpen } from "../pipeline/keep-open.ts";
import { holdBody } from "../pipeline/reserve-memory.ts";
import type { Call } from "../pipeline/route.ts";
import type { JsonReading } from "./parse-json.ts";
import { readJsonBody } from "./read-json-body.ts";
import { requestAddress } from "./request-address.ts";
import { usesOldNames } from "./uses-old-names.ts";
import { validate } from "./validate.ts";

/** A request's body, checked. Without a body it is undefined, where the schema takes that. */
export function readBody<Schema extends z.ZodType>(
  call: Call,
  schema: Schema,
  maxBodyBytes: number,
): Promise<z.input<Schema>> {
  return readBodyAs("plain", call, schema, maxBodyBytes);
}

/**
 * Like `readBody`, for what is sent on or kept as it came: numbers that a double does not hold keep their digits, in
 * objects that only `JSON.stringify` knows. So do not calculate with its numbers, unless their schema bounds them.
 */
export function readExactBody<Schema extends z.ZodType>(
  call: Call,
  schema: Schema,
  maxBodyBytes: number,
): Promise<z.input<Schema>> {
  return readBodyAs("exact", call, schema, maxBodyBytes);
}

async function readBodyAs<Schema extends z.ZodType>(
  wanted: keyof JsonReading,
  call: Call,
  schema: Schema,
  maxBodyBytes: number,
): Promise<z.input<Schema>> {
  const { request, exchange } = call;
  const reading = await readJsonBody(request, maxBodyBytes, (bytes) => holdBody(exchange, bytes));
  keepOpen(call);
  exchange.usesOldNames = usesOldNames(schema, reading.plain);
  // To the schema a long integer is a number like any other, and never the object that keeps its digits.
  const checked = validate(schema, reading.plain, "body");
  return wanted === "plain" ? checked : (reading.exact as z.input<Schema>);
}

/** A request's query, checked. Of a name that is there twice the last one counts. */
export function readQuery<Schema extends z.ZodType>(
  { request, exchange }: Call,
  schema: Schema,
): z.input<Schema> {
  const query = Object.fromEntries(requestAddress(request).searchParams);
  exchange.usesOldNames = usesOldNames(schema, query);
  return validate(schema, query, "query");
}

/** The parameters in a request's path, checked. */
export function readPath<Schema extends z.ZodType>({ request }: Call, schema: Schema): z.input<Schema> {
  return validate(schema, request.params, "path");
}
