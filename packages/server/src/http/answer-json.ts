import { setImmediate as nextTurn } from "node:timers/promises";
import { isLongerThan } from "./is-longer-than.ts";

const shortCharacters = 256 * 1024;
/** Texts that are longer are written by themselves, and only once if they are there several times. */
const longTextCharacters = 16 * 1024;
const pieceBytes = 1024 * 1024;
const utf8 = new TextEncoder();

/** Whether `answerJson` writes this value piece by piece. */
export function isLongAnswer(value: unknown): boolean {
  return isLongerThan(value, shortCharacters);
}

/**
 * A value as the JSON of an answer. Results name their texts twice, and texts may have 16 MB: what is long goes out piece by
 * piece, so that it holds up no other request, and is never in memory as a whole.
 */
export function answerJson(value: unknown, init?: ResponseInit): Response {
  if (!isLongAnswer(value)) return Response.json(value, init);
  const pieces = writeInPieces(value);
  const stream = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        await nextTurn();
        const { done, value: piece } = pieces.next();
        if (done) controller.close();
        else controller.enqueue(piece);
      },
    },
    { highWaterMark: 0 },
  );
  return new Response(stream, {
    ...init,
    headers: { ...init?.headers, "content-type": "application/json;charset=utf-8" },
  });
}

function* writeInPieces(value: unknown): Generator<Uint8Array, void> {
  const texts: string[] = [];
  const numberOf = new Map<string, number>();
  // No text of the value can know it, so that none is taken for a mark.
  const mark = crypto.randomUUID();
  const marked = JSON.stringify(value, (_key, part: unknown) => {
    if (typeof part !== "string" || part.length <= longTextCharacters) return part;
    const number = numberOf.get(part) ?? texts.push(part) - 1;
    numberOf.set(part, number);
    return `${mark}${number} `;
  });
  const written: Uint8Array[] = [];
  for (const [index, part] of marked.split(`"${mark}`).entries()) {
    if (index === 0) yield* cut(utf8.encode(part));
    else {
      const end = part.indexOf(' "');
      const number = Number(part.slice(0, end));
      written[number] ??= utf8.encode(JSON.stringify(texts[number]));
      yield* cut(written[number]);
      yield* cut(utf8.encode(part.slice(end + 2)));
    }
  }
}

function* cut(bytes: Uint8Array): Generator<Uint8Array, void> {
  for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes);
}
