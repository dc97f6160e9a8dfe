import { type Holder, reserveBytes, reserveBytesAnyway } from "../platform/limits/memory.ts";
import type { Exchange } from "./exchange.ts";

/**
 * A stream that calls `read` whenever its reader is ready for more, until that returns undefined. An error breaks the connection,
 * so that a partial response is not mistaken for a complete one, and is given to `onBroken`.
 */
export function pullStream(
  read: () => Promise<Uint8Array | undefined>,
  onBroken: (error: unknown) => void,
  cancel: () => unknown,
): ReadableStream<Uint8Array> {
  return new ReadableStream(
    {
      async pull(controller) {
        try {
          const bytes = await read();
          if (bytes === undefined) controller.close();
          else controller.enqueue(bytes);
        } catch (error) {
          onBroken(error);
          // Bun would print an error given here, with its source code.
          controller.error();
        }
      },
      async cancel() {
        await cancel();
      },
    },
    { highWaterMark: 0 },
  );
}

/**
 * A body is in memory several times while it is read, partly as garbage not yet collected. Measured with one body of 16 MB:
 * 100 MB, 170 MB if one character of an ASCII text is not ASCII; with 40 at the same time, far less for each.
 */
const bytesPerBodyByte = 6;

/**
 * Data read from the store is in memory several times as well until it is sent: in the reading thread, as rows, and twice in
 * the response, under old names and new.
 */
const bytesPerStoredByte = 8;

/** In texts that are not all Latin-1, a character takes two bytes. */
const bytesPerCharacter = 2;
/** The memory of a result while it is written, besides its texts. */
const bytesPerResult = 1_000;
/** A response that is written as it is read: the current piece, and what the connection has not sent yet. */
const bytesPerLongResponse = 1_000_000;

/** The size of a piece, unless it has a single long item. */
const bytesOfPiece = 1_000_000;

/** An upload's chunks and its batch, on their way to the store. */
const bytesPerUpload = 8_000_000;
/** The lines of a compressed upload are unknown here, so the amount is fixed: only the decompressing thread sees them. */
const bytesPerCompressedUpload = 24_000_000;

/** A smaller reservation is released with the response: it fits the system's own buffers. */
const worthReservingBytes = 1_000_000;
/** A response is handed to the connection in slices of this length. */
const sliceBytes = 256 * 1024;

/** Reserves memory for data that a response reads in one go. More than the whole budget is admitted alone. */
export function reserveStored(holder: Holder, storedBytes: number): void {
  const { reservedBytes, memory } = holder;
  reserveBytes(holder, Math.min(reservedBytes + storedBytes * bytesPerStoredByte, memory.maxBytesOfOne));
}

/** Reserves memory for a response whose data is read in pieces, while it is sent. */
export function reservePiece(holder: Holder): void {
  reserveStored(holder, bytesOfPiece);
}

/** Reserves memory for as much of a request's body as has arrived. */
export function reserveBody(holder: Holder, bodyBytes: number): void {
  reserveBytes(holder, bodyBytes * bytesPerBodyByte);
}

/** Reserves memory for characters that are held until they are sent together. Unlike a piece, too many are refused. */
export function reserveHeld(holder: Holder, characters: number): void {
  reserveBytes(holder, Math.max(characters, bytesOfPiece) * bytesPerStoredByte);
}

/** Reserves memory for an upload and its current line, as far as that has arrived. More than the whole budget is admitted alone. */
export function reserveUpload(holder: Holder, lineBytes: number, isCompressed: boolean): void {
  const bytes = isCompressed ? bytesPerCompressedUpload : bytesPerUpload + lineBytes * bytesPerBodyByte;
  reserveBytes(holder, Math.min(bytes, holder.memory.maxBytesOfOne));
}

/** Reserves memory for a response and the data that it is made from, in place of the request's. */
export function reserveResponse(holder: Holder, responseBytes: number): void {
  reserveBytesAnyway(holder, 2 * responseBytes);
}

/** The memory of a body that has been read and is kept: its texts. To be called while the holder's reservation is the body's. */
export function bytesOfValues({ reservedBytes }: Holder): number {
  return (reservedBytes / bytesPerBodyByte) * bytesPerCharacter;
}

/** Reduces a request's reservation to the one form in which its body was forwarded. */
export function reserveSentBody(holder: Holder): void {
  reserveBytes(holder, holder.reservedBytes / bytesPerBodyByte);
}

export interface NewResults {
  /** The number of results to store. */
  stored: number;
  /** Characters in the texts of all results to store. */
  storedCharacters: number;
  isResponseLong: boolean;
}

/**
 * Replaces the reservation of a body that has been read by one for what is made from it: its texts, and the larger of the
 * results and the response. Called before the work, so that nothing is refused after it. Returns a function that reserves
 * memory for the response alone.
 */
export function reserveResults(
  holder: Holder,
  { stored, storedCharacters, isResponseLong }: NewResults,
): (isResponseLong: boolean) => void {
  const bodyBytes = holder.reservedBytes / bytesPerBodyByte;
  const textBytes = bodyBytes * bytesPerCharacter;
  // Long texts are kept as they were written the first time.
  const responseBytes = bodyBytes + bytesPerLongResponse;
  const storeBytes = stored * bytesPerResult + storedCharacters * bytesPerCharacter;
  reserveBytes(holder, textBytes + Math.max(storeBytes, isResponseLong ? responseBytes : 0));
  return (isLong) => reserveBytesAnyway(holder, textBytes + (isLong ? responseBytes : 0));
}

/**
 * Releases the memory of a request: immediately if it is little, otherwise when the client has read the whole response or has
 * disconnected. Bun reports both for a stream, and neither for a response that it is given as a whole.
 */
export function releaseMemory(response: Response, exchange: Exchange): Response {
  if (exchange.reservedBytes < worthReservingBytes || response.body === null) {
    reserveBytesAnyway(exchange, 0);
    return response;
  }
  return releaseWhenRead(response, response.body, exchange);
}

function releaseWhenRead(
  { status, headers }: Response,
  body: ReadableStream<Uint8Array>,
  exchange: Exchange,
): Response {
  const stream = inSlices(body, () => reserveBytesAnyway(exchange, 0));
  return new Response(stream, { status, headers });
}

/** The same bytes in slices, one for each read. */
function inSlices(body: ReadableStream<Uint8Array>, onEnd: () => void): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  let rest: Uint8Array = new Uint8Array();
  async function read(): Promise<Uint8Array | undefined> {
    if (rest.length === 0) {
      const next = await reader.read();
      if (next.done) {
        onEnd();
        return undefined;
      }
      rest = next.value;
    }
    const slice = rest.subarray(0, sliceBytes);
    rest = rest.subarray(sliceBytes);
    return slice;
  }
  return pullStream(read, onEnd, () => {
    onEnd();
    rest = new Uint8Array();
    return reader.cancel();
  });
}
