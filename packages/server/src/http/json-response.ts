import { setImmediate as nextTurn } from "node:timers/promises";
import { isLongerThan } from "./is-longer-than.ts";
import { pullStream } from "./pull-stream.ts";

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
 * A value as a JSON response. A long one, as a text may have 16 MB and is in a response several times, is written in pieces as
 * its reader takes them, so that it delays no other request. `onBroken` is given the error if the response breaks off.
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

/** The JSON of a value in pieces of about the same length, wherever its texts are. */
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
