import { itemOfTurn } from "./item-of-turn.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** Bodies up to this length are read at once: they arrive with the headers, or soon after. */
const shortBytes = 64 * 1024;

/**
 * Reads a whole body; undefined as soon as it is longer than `maxBytes`. `onLength` is called with the length so far before
 * more is read, and may throw to stop: first with the declared length, so that a body without room is refused before it is
 * sent, and then from 0, as senders can declare anything.
 */
export async function readBodyWithin(
  message: Request | Response,
  maxBytes: number,
  onLength: (bytes: number) => void = () => {},
): Promise<Bytes | undefined> {
  const declared = message.headers.get("content-length");
  if (declared === null || message.headers.has("content-encoding"))
    return await readInPieces(message.body, maxBytes, onLength);
  const length = Number(declared);
  if (length > maxBytes) return undefined;
  if (length > shortBytes) {
    onLength(length);
    onLength(0);
    return await readInPieces(message.body, maxBytes, onLength);
  }
  const bytes = (await message.bytes()) as Bytes;
  onLength(bytes.length);
  return bytes;
}

async function readInPieces(
  body: ReadableStream<Uint8Array> | null,
  maxBytes: number,
  onLength: (bytes: number) => void,
): Promise<Bytes | undefined> {
  if (body === null) return new Uint8Array();
  const chunks: Bytes[] = [];
  let length = 0;
  for await (const chunk of body as ReadableStream<Bytes>) {
    length += chunk.length;
    if (length > maxBytes) return undefined; // Leaving the loop cancels the stream.
    onLength(length);
    chunks.push(chunk);
    // What arrives meanwhile becomes one chunk.
    const turn = itemOfTurn();
    if (turn !== undefined) await turn;
  }
  return Bun.concatArrayBuffers(chunks, Number.POSITIVE_INFINITY, true) as Bytes;
}
