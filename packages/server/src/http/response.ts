import { setImmediate as nextTurn } from "node:timers/promises";
import type { Pieces } from "../platform/storage/lists.ts";
import { isStoreUnavailable } from "../platform/storage/store-error.ts";
import { type Call, keepOpenForEach } from "./call.ts";
import type { HttpServices } from "./exchange.ts";
import { pullStream, reserveStored } from "./memory.ts";
import { isLongerThan } from "./validate.ts";

const shortCharacters = 64 * 1024;
/** Shorter values are written at once. A longer text is written once, however often it occurs. */
const partCharacters = 16 * 1024;
const pieceBytes = 256 * 1024;
const utf8 = new TextEncoder();

/** Whether `jsonResponse` writes this value in pieces. */
export function isLongResponse(value: unknown): boolean {
  return isLongerThan(value, shortCharacters);
}

/**
 * A value as a JSON response. A text may have 16 MB and occur several times, so a long response is written in pieces as its reader
 * takes them, and delays no other request. `onBroken` is given the error if the response breaks off.
 */
export function jsonResponse(
  value: unknown,
  init: ResponseInit | undefined,
  onBroken: (error: unknown) => void,
): Response {
  if (!isLongResponse(value)) return Response.json(value, init);
  const pieces = writeInPieces(value);
  const read = async () => {
    await nextTurn();
    return pieces.next().value ?? undefined;
  };
  const stream = pullStream(read, onBroken, () => pieces.return());
  return new Response(stream, {
    ...init,
    headers: { ...init?.headers, "content-type": "application/json;charset=utf-8" },
  });
}

/** The JSON of a value in pieces of about the same length, regardless of where its texts are. */
function* writeInPieces(value: unknown): Generator<Uint8Array, void> {
  let joined = "";
  for (const part of partsOf(value, new Map())) {
    if (typeof part === "string") joined += part;
    if (typeof part !== "string" || joined.length >= pieceBytes) {
      yield* cut(utf8.encode(joined));
      joined = "";
    }
    if (typeof part !== "string") yield* cut(part);
  }
  yield* cut(utf8.encode(joined));
}

/** The parts of a value's JSON: long texts as bytes, which are reused when they occur again. */
function* partsOf(value: unknown, written: Map<string, Uint8Array>): Generator<string | Uint8Array, void> {
  if (!isLong(value)) return yield JSON.stringify(value);
  if (typeof value === "string") {
    const bytes = written.get(value) ?? utf8.encode(JSON.stringify(value));
    written.set(value, bytes);
    yield bytes;
    return;
  }
  const isList = Array.isArray(value);
  // Each part passes through every level above it, so small ones are joined first.
  let joined = isList ? "[" : "{";
  let comma = "";
  for (const [key, item] of Object.entries(value)) {
    if (item === undefined && !isList) continue;
    joined += isList ? comma : `${comma}${JSON.stringify(key)}:`;
    comma = ",";
    const isItemLong = isLong(item);
    if (!isItemLong) joined += JSON.stringify(item ?? null);
    if (isItemLong || joined.length > partCharacters) {
      yield joined;
      joined = "";
    }
    if (isItemLong) yield* partsOf(item, written);
  }
  yield joined + (isList ? "]" : "}");
}

/** Whether a value is worth writing in parts. */
function isLong(value: unknown): value is object | string {
  return isLongerThan(value, partCharacters);
}

function* cut(bytes: Uint8Array): Generator<Uint8Array, void> {
  for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes);
}

/** Logs that the response to a call broke off before its end. */
export function logBrokenResponse(
  { log }: Pick<HttpServices, "log">,
  { request, exchange: { requestId } }: Pick<Call, "request" | "exchange">,
): (error: unknown) => void {
  return (error) => {
    // The client disconnected and does not wait for the rest.
    if (request.signal.aborted) return;
    const isOutage = isStoreUnavailable(error);
    if (isOutage) log.storeFailed(error);
    log.logger.error({ requestId, ...(isOutage ? {} : { err: error }) }, "response broke off");
  };
}

/**
 * A response body of texts or bytes, each made when the reader is ready for it. The first one is made before this returns, so that an
 * early failure still has a status; a later one breaks the connection.
 */
export async function streamTexts(
  texts: AsyncIterator<string | Uint8Array, void>,
  onBroken: (error: unknown) => void,
): Promise<ReadableStream<Uint8Array>> {
  const encoder = new TextEncoder();
  let first: IteratorResult<string | Uint8Array, void> | undefined = await texts.next();
  const read = async () => {
    const next = first ?? (await texts.next());
    first = undefined;
    if (next.done) return undefined;
    return typeof next.value === "string" ? encoder.encode(next.value) : next.value;
  };
  return pullStream(read, onBroken, () => texts.return?.());
}

const headers = { "content-type": "application/json;charset=utf-8" };

/**
 * A response that is a JSON list in an object, with the fields of `rest` after it. One piece of items is sent whole; several are read and written one at a time, as
 * the client reads them.
 */
export async function streamList<Item>(
  services: Pick<HttpServices, "log">,
  call: Call,
  name: string,
  { count, maxBytes, read }: Pieces<Item>,
  toJson: (item: Item) => string,
  rest: Readonly<Record<string, unknown>> = {},
): Promise<Response> {
  reserveStored(call.exchange, maxBytes);
  const texts = keepOpenForEach(call, listTexts(name, read(), toJson, rest));
  if (count <= 1) return new Response((await Array.fromAsync(texts)).join(""), { headers });
  return new Response(await streamTexts(texts, logBrokenResponse(services, call)), { headers });
}

/** A JSON list in an object, as one text for each piece of items. */
async function* listTexts<Item>(
  name: string,
  pieces: AsyncIterable<readonly Item[]>,
  toJson: (item: Item) => string,
  rest: Readonly<Record<string, unknown>>,
): AsyncGenerator<string, void> {
  let before = `{${JSON.stringify(name)}:[`;
  for await (const piece of pieces) {
    if (piece.length === 0) continue;
    yield before + piece.map(toJson).join(",");
    before = ",";
  }
  const fields = JSON.stringify(rest).slice(1);
  yield `${before === "," ? "" : before}]${fields === "}" ? "" : ","}${fields}`;
}

const msPerDay = 86_400_000;

/** A day, counted from 1970-01-01 UTC, as an ISO 8601 date. */
export function toIsoDay(day: number): string {
  return new Date(day * msPerDay).toISOString().slice(0, 10);
}

export const eventStreamHeaders = {
  "content-type": "text/event-stream",
  "cache-control": "no-store",
  // nginx would collect events until its buffer is full.
  "x-accel-buffering": "no",
};
