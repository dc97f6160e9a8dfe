import { createHash } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import { defaultPageLimit } from "@presage/contract";
import { z } from "zod";
import { ClientDisconnectedError, ServiceError } from "../platform/errors.ts";
import { type JsonReading, parseExactly, readJson, scanJson } from "../platform/json.ts";
import { readBodyWithin } from "../platform/limits/memory.ts";
import type { Keyset, KeysetPage, NumberedPage } from "../platform/storage/lists.ts";
import type { Once } from "../platform/storage/once.ts";
import { type Call, type CallWithCaller, keepOpen, requestAddress } from "./call.ts";
import { reserveBody } from "./memory.ts";
import { InvalidRequestError, validate, valueError } from "./validate.ts";

/** The page that a query with `limit` and `after`, both checked by its schema, asks for. */
export function readKeysetPage({
  limit,
  after,
}: {
  limit?: string | undefined;
  after?: string | undefined;
}): KeysetPage {
  const [createdAt, id] = after?.split(".") ?? [];
  return {
    limit: Number(limit ?? defaultPageLimit),
    after: createdAt === undefined || id === undefined ? undefined : { createdAt: Number(createdAt), id },
  };
}

export function toCursor(next: Keyset | undefined): string | null {
  return next === undefined ? null : `${next.createdAt}.${next.id}`;
}

const utf8 = new TextDecoder("utf-8", { fatal: true });
/** A body up to this length is read within milliseconds, whatever it contains. */
const shortBodyBytes = 64 * 1024;
/** Each step of reading a longer body may take a tenth of a second, so other requests are served between them. */
const longBodyBytes = 512 * 1024;

/** Waits until a long body may be read, and resolves with the function that lets the next one be read. */
type TakeTurn = () => Promise<() => void>;

/**
 * Reads a request's body as JSON, whatever its content type. An empty body and null are undefined. If a key is repeated, its last
 * value counts.
 */
export async function readJsonBody(
  request: Request,
  maxBodyBytes: number,
  onLength?: (bytes: number) => void,
  takeTurn?: TakeTurn,
): Promise<JsonReading> {
  return await readJsonInTurn(await readBytes(request, maxBodyBytes, onLength), takeTurn);
}

/** A request's whole body. */
async function readBytes(request: Request, maxBodyBytes: number, onLength?: (bytes: number) => void) {
  const encoding = request.headers.get("content-encoding")?.toLowerCase() || "identity";
  if (encoding !== "identity") {
    const reason = "Input should be identity; only uploads may be compressed";
    throw new InvalidRequestError([valueError(["header", "content-encoding"], reason, encoding)]);
  }
  let bytes: Uint8Array | undefined;
  try {
    bytes = await readBodyWithin(request, maxBodyBytes, onLength);
  } catch (error) {
    // Reading a body fails only if the connection does.
    throw error instanceof ServiceError ? error : new ClientDisconnectedError();
  }
  if (bytes !== undefined) return bytes;
  throw new ServiceError("body_too_large", `The request body is larger than ${maxBodyBytes} bytes.`);
}

/** The JSON of a whole body; a long one waits until it may be read. */
async function readJsonInTurn(bytes: Uint8Array, takeTurn?: TakeTurn): Promise<JsonReading> {
  if (takeTurn === undefined || bytes.length <= longBodyBytes) return await readJsonBytes(bytes);
  const endTurn = await takeTurn();
  try {
    return await readJsonBytes(bytes);
  } finally {
    endTurn();
  }
}

/** The JSON of bytes that have already arrived. */
export async function readJsonBytes(bytes: Uint8Array): Promise<JsonReading> {
  return bytes.length > shortBodyBytes ? orNothing(await parseInTurns(bytes)) : readShortJson(bytes);
}

function readShortJson(bytes: Uint8Array): JsonReading {
  return bytes.length === 0 ? nothing : orNothing(parse(bytes, readJson));
}

const nothing: JsonReading = { plain: undefined, exact: undefined };

function orNothing(reading: JsonReading): JsonReading {
  return reading.plain === null ? nothing : reading;
}

/** Refuses a body that would take too much time or memory, before it is parsed. */
async function parseInTurns(bytes: Uint8Array): Promise<JsonReading> {
  const { refusal, mayHaveLongNumber } = scanJson(bytes);
  if (refusal !== undefined) {
    throw refusal.isTooDeep
      ? invalidJson(refusal.reason)
      : new InvalidRequestError([valueError(["body"], refusal.reason)]);
  }
  const isLong = bytes.length > longBodyBytes;
  if (isLong) await nextTurn();
  const plain = parse(bytes, JSON.parse);
  if (isLong) await nextTurn();
  if (!mayHaveLongNumber) return { plain, exact: plain };
  const exact = parse(bytes, parseExactly);
  if (isLong) await nextTurn();
  return { plain, exact };
}

function parse<Reading>(bytes: Uint8Array, read: (text: string) => Reading): Reading {
  const text = decode(bytes);
  try {
    return read(text);
  } catch (error) {
    throw invalidJson(error instanceof Error ? error.message : "not JSON");
  }
}

function decode(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw invalidJson("the body is not UTF-8");
  }
}

function invalidJson(reason: string): InvalidRequestError {
  return new InvalidRequestError([
    { type: "json_invalid", loc: ["body", 0], msg: "JSON decode error", input: {}, ctx: { error: reason } },
  ]);
}

/** The page that a query with `limit` and `offset`, both checked by its schema, asks for. */
export function readPage(
  { limit, offset }: { limit?: string | undefined; offset?: string | undefined },
  defaultLimit: number,
): { limit: number; offset: number } {
  return { limit: Number(limit ?? defaultLimit), offset: Number(offset ?? 0) };
}

/** The page below a number that a query with `limit` and `after`, both checked by its schema, asks for. */
export function readNumberedPage(
  { limit, after }: { limit?: string | undefined; after?: string | undefined },
  defaultLimit: number,
): NumberedPage {
  return { limit: Number(limit ?? defaultLimit), below: after === undefined ? undefined : Number(after) };
}

/** A request's validated body; undefined if there is none and the schema allows that. */
export async function readBody<Schema extends z.ZodType>(
  call: Call,
  schema: Schema,
  maxBodyBytes: number,
  refusesUnknown?: boolean,
): Promise<z.input<Schema>> {
  const bytes = await readBodyBytes(call, maxBodyBytes);
  return (await readBytesAs(call, schema, bytes, refusesUnknown)).checked;
}

/**
 * Like `readBody`, for what is forwarded or stored as it was sent: numbers that a double cannot represent keep their digits,
 * in objects that only `JSON.stringify` understands. So do not calculate with its numbers, unless their schema bounds them.
 */
export async function readExactBody<Schema extends z.ZodType>(
  call: Call,
  schema: Schema,
  maxBodyBytes: number,
): Promise<z.input<Schema>> {
  return await readExactBytes(call, schema, await readBodyBytes(call, maxBodyBytes));
}

/** A request's body as it is, with memory reserved for it. */
export function readBodyBytes({ request, exchange }: Call, maxBodyBytes: number): Promise<Uint8Array> {
  return readBytes(request, maxBodyBytes, (bytes) => reserveBody(exchange, bytes));
}

/** `readExactBody` of a body that `readBodyBytes` has read; a promise only if it is long. */
export function readExactBytes<Schema extends z.ZodType>(
  call: Call,
  schema: Schema,
  bytes: Uint8Array,
): z.input<Schema> | Promise<z.input<Schema>> {
  const read = readBytesAs(call, schema, bytes);
  return read instanceof Promise ? read.then(({ exact }) => exact) : read.exact;
}

/** A body that is read and checked: `exact` keeps the digits of long integers. */
interface CheckedBody<Schema extends z.ZodType> {
  checked: z.input<Schema>;
  exact: z.input<Schema>;
}

function readBytesAs<Schema extends z.ZodType>(
  call: Call,
  schema: Schema,
  bytes: Uint8Array,
  refusesUnknown?: boolean,
) {
  const { request, exchange } = call;
  if (bytes.length <= shortBodyBytes) {
    exchange.longWork.giveWay();
    return checkBody(call, schema, readShortJson(bytes), refusesUnknown);
  }
  const reading = readJsonInTurn(bytes, () => {
    // The client waits for the server now.
    keepOpen(call);
    return exchange.longWork.take(accountOf(call), request.signal, bytes.length);
  });
  return reading.then((json) => checkBody(call, schema, json, refusesUnknown));
}

function checkBody<Schema extends z.ZodType>(
  call: Call,
  schema: Schema,
  { plain, exact }: JsonReading,
  refusesUnknown?: boolean,
): CheckedBody<Schema> {
  keepOpen(call);
  call.exchange.usesOldNames = usesOldNames(schema, plain);
  // The schema sees a long integer as a number, not as the object that keeps its digits.
  return { checked: validate(schema, plain, "body", refusesUnknown), exact: exact as z.input<Schema> };
}

/** Requests without a caller, such as those that sign in, take turns as one account. */
function accountOf(call: Call | CallWithCaller): string {
  return "caller" in call ? call.caller.accountId : "";
}

/** A request's query, checked. If a name is repeated, the last value counts. */
export function readQuery<Schema extends z.ZodType>(
  { request, exchange }: Call,
  schema: Schema,
  refusesUnknown?: boolean,
): z.input<Schema> {
  const query = Object.fromEntries(requestAddress(request).searchParams);
  exchange.usesOldNames = usesOldNames(schema, query);
  return validate(schema, query, "query", refusesUnknown);
}

/** The parameters in a request's path, checked. */
export function readPath<Schema extends z.ZodType>({ request }: Call, schema: Schema): z.input<Schema> {
  return validate(schema, request.params, "path");
}

/** The client's key for a request, by which a retry is recognised. */
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
