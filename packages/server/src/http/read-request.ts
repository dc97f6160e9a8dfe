import { createHash } from "node:crypto";
import { z } from "zod";
import type { Once } from "../platform/storage/once.ts";
import { keepOpen } from "./keep-open.ts";
import type { JsonReading } from "./read-json.ts";
import { readBytes, readJsonInTurn } from "./read-json.ts";
import { reserveBody } from "./reserve-memory.ts";
import { type Call, type CallWithCaller, requestAddress } from "./route.ts";
import { InvalidRequestError, refuseUnknownFields, validate } from "./validate.ts";

/** A request's validated body; undefined if there is none and the schema allows that. */
export function readBody<Schema extends z.ZodType>(
  call: Call,
  schema: Schema,
  maxBodyBytes: number,
): Promise<z.input<Schema>> {
  return readBodyAs("plain", call, schema, maxBodyBytes);
}

/**
 * Like `readBody`, for what is forwarded or stored as it was sent: numbers that a double cannot represent keep their digits,
 * in objects that only `JSON.stringify` understands. So do not calculate with its numbers, unless their schema bounds them.
 */
export function readExactBody<Schema extends z.ZodType>(
  call: Call,
  schema: Schema,
  maxBodyBytes: number,
): Promise<z.input<Schema>> {
  return readBodyAs("exact", call, schema, maxBodyBytes);
}

/** A request's body as it is, for which memory is reserved. */
export async function readBodyBytes({ request, exchange }: Call, maxBodyBytes: number): Promise<Uint8Array> {
  return await readBytes(request, maxBodyBytes, (bytes) => reserveBody(exchange, bytes));
}

/** `readExactBody` of a body that `readBodyBytes` has read. */
export function readExactBytes<Schema extends z.ZodType>(
  call: Call,
  schema: Schema,
  bytes: Uint8Array,
): Promise<z.input<Schema>> {
  return readBytesAs("exact", call, schema, bytes);
}

async function readBodyAs<Schema extends z.ZodType>(
  wanted: keyof JsonReading,
  call: Call,
  schema: Schema,
  maxBodyBytes: number,
): Promise<z.input<Schema>> {
  return await readBytesAs(wanted, call, schema, await readBodyBytes(call, maxBodyBytes));
}

async function readBytesAs<Schema extends z.ZodType>(
  wanted: keyof JsonReading,
  call: Call,
  schema: Schema,
  bytes: Uint8Array,
): Promise<z.input<Schema>> {
  const { request, exchange } = call;
  const reading = await readJsonInTurn(bytes, () => {
    // The server waits now, not the client.
    keepOpen(call);
    return exchange.longWork.take(accountOf(call), request.signal, bytes.length);
  });
  keepOpen(call);
  exchange.usesOldNames = usesOldNames(schema, reading.plain);
  // The schema sees a long integer as a number, not as the object that keeps its digits.
  const checked = validate(schema, reading.plain, "body");
  return wanted === "plain" ? checked : (reading.exact as z.input<Schema>);
}

/** Requests without a caller, such as those that sign in, take turns as one account. */
function accountOf(call: Call | CallWithCaller): string {
  return "caller" in call ? call.caller.accountId : "";
}

/** A request's query, checked. If a name is repeated, the last value counts. */
export function readQuery<Schema extends z.ZodType>(
  { request, exchange }: Call,
  schema: Schema,
): z.input<Schema> {
  const query = Object.fromEntries(requestAddress(request).searchParams);
  exchange.usesOldNames = usesOldNames(schema, query);
  return validate(schema, query, "query");
}

/** Like `readQuery`, for queries whose unknown parameters are refused. */
export function readKnownQuery<Schema extends z.ZodObject>(call: Call, schema: Schema): z.input<Schema> {
  const query = readQuery(call, schema);
  refuseUnknownFields(schema, query, "query");
  return query;
}

/** The parameters in a request's path, checked. */
export function readPath<Schema extends z.ZodType>({ request }: Call, schema: Schema): z.input<Schema> {
  return validate(schema, request.params, "path");
}

/** The client's name for a request, by which a retry is recognised. */
export function readIdempotencyKey(headers: Headers): string | undefined {
  const key = headers.get("idempotency-key");
  if (key === null || /^[!-~]{1,200}$/.test(key)) return key ?? undefined;
  const msg = "Value error, Input should be 1 to 200 visible ASCII characters";
  throw new InvalidRequestError([
    { type: "value_error", loc: ["header", "idempotency-key"], msg, input: key },
  ]);
}

/** Identifies a request that is to be done once by its user, operation and key, and its content by its path and body. */
export function readOnce(
  { request, caller: { accountId, userId } }: CallWithCaller,
  operation: string,
  body: unknown,
  key = readIdempotencyKey(request.headers),
): Once | undefined {
  if (key === undefined) return undefined;
  return {
    id: digestOf([accountId, userId, operation, key]),
    requestDigest: digestOf([requestAddress(request).pathname, body]),
  };
}

export function digestOf(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("base64url");
}

type FindsOldName = (value: unknown) => boolean;

/** Made once for each schema; most schemas have no deprecated fields. */
const finders = new WeakMap<z.core.$ZodType, FindsOldName>();

/** Whether a value has anything but null under a name that its schema marks as deprecated, whatever else is wrong with it. */
export function usesOldNames(schema: z.core.$ZodType, value: unknown): boolean {
  let finds = finders.get(schema);
  if (finds === undefined) {
    finds = finderOf(schema) ?? (() => false);
    finders.set(schema, finds);
  }
  return finds(value);
}

function finderOf(schema: z.core.$ZodType): FindsOldName | undefined {
  if (z.globalRegistry.get(schema)?.deprecated) return isGiven;
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) return finderOf(schema.unwrap());
  if (schema instanceof z.ZodArray) return inItems(finderOf(schema.element));
  if (schema instanceof z.ZodUnion) return inAny(schema.options.map(finderOf));
  if (schema instanceof z.ZodObject) {
    const fields = Object.entries<z.core.$ZodType>(schema.shape);
    return inAny(fields.map(([name, field]) => inField(name, finderOf(field))));
  }
  return undefined;
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function inItems(finds: FindsOldName | undefined): FindsOldName | undefined {
  return finds && ((value) => Array.isArray(value) && value.some(finds));
}

function inField(name: string, finds: FindsOldName | undefined): FindsOldName | undefined {
  return finds && ((value) => typeof value === "object" && value !== null && finds(Reflect.get(value, name)));
}

function inAny(all: readonly (FindsOldName | undefined)[]): FindsOldName | undefined {
  const some = all.filter((finds) => finds !== undefined);
  return some.length === 0 ? undefined : (value) => some.some((finds) => finds(value));
}
