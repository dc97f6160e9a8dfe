import { setImmediate as nextTurn } from "node:timers/promises";
import { isLongerThan } from "../request/is-longer-than.ts";

const shortCharacters = 64 * 1024;
/** What has fewer characters is written in one go. A longer text is written once, however often it is there. */
const partCharacters = 16 * 1024;
const pieceBytes = 256 * 1024;
const utf8 = new TextEncoder();

/** Whether `jsonResponse` writes this value piece by piece. */
export function isLongResponse(value: unknown): boolean {
  return isLongerThan(value, shortCharacters);
}

/**
 * A value as the JSON of an answer. Results name their texts twice, an evaluation its results twice again, and a text may have
 * 16 MB: what is long goes out piece by piece as its reader takes it, so that it holds up no other request, and is never in
 * memory as a whole. `onBroken` hears what made it break off.
 */
export function jsonResponse(
  value: unknown,
  init: ResponseInit | undefined,
  onBroken: (error: unknown) => void,
): Response {
  if (!isLongResponse(value)) return Response.json(value, init);
  const pieces = writeInPieces(value);
  const stream = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          await nextTurn();
          const { done, value: piece } = pieces.next();
          if (done) controller.close();
          else controller.enqueue(piece);
        } catch (error) {
          onBroken(error);
          // Breaks the connection. An error given here would be printed by Bun, with its source.
          controller.error();
        }
      },
      cancel() {
        pieces.return();
      },
    },
    { highWaterMark: 0 },
  );
  return new Response(stream, {
    ...init,
    headers: { ...init?.headers, "content-type": "application/json;charset=utf-8" },
  });
}

/** The JSON of a value in pieces of about the same length, however its texts are spread over it. */
function* writeInPieces(value: unknown): Generator<Uint8Array, void> {
  let gathered = "";
  for (const part of partsOf(value, new Map())) {
    if (typeof part === "string") gathered += part;
    if (typeof part !== "string" || gathered.length >= pieceBytes) {
      yield* cut(utf8.encode(gathered));
      gathered = "";
    }
    if (typeof part !== "string") yield* cut(part);
  }
  yield* cut(utf8.encode(gathered));
}

/** The parts of a value's JSON: long texts as bytes, which are kept for the next time that they come up. */
function* partsOf(value: unknown, written: Map<string, Uint8Array>): Generator<string | Uint8Array, void> {
  if (!isLong(value)) return yield JSON.stringify(value);
  if (typeof value === "string") {
    const bytes = written.get(value) ?? utf8.encode(JSON.stringify(value));
    written.set(value, bytes);
    yield bytes;
    return;
  }
  const isList = Array.isArray(value);
  // Each part passes through every level above it, so small ones are gathered first.
  let gathered = isList ? "[" : "{";
  let comma = "";
  for (const [key, item] of Object.entries(value)) {
    if (item === undefined && !isList) continue;
    gathered += isList ? comma : `${comma}${JSON.stringify(key)}:`;
    comma = ",";
    const isItemLong = isLong(item);
    if (!isItemLong) gathered += JSON.stringify(item ?? null);
    if (isItemLong || gathered.length > partCharacters) {
      yield gathered;
      gathered = "";
    }
    if (isItemLong) yield* partsOf(item, written);
  }
  yield gathered + (isList ? "]" : "}");
}

/** Whether it is worth taking apart. */
function isLong(value: unknown): value is object | string {
  return isLongerThan(value, partCharacters);
}

function* cut(bytes: Uint8Array): Generator<Uint8Array, void> {
  for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes);
}
