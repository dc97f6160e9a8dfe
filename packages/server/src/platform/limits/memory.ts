import { totalmem } from "node:os";
import { ServiceError } from "../errors.ts";
import { orAborted } from "./deadline.ts";
import { itemOfTurn } from "./turns.ts";

/** The memory of a request with a 64 KB body. Part of the budget is for holders up to this size only. */
const smallBytes = 6 * 64 * 1024;
/** The fraction for small holders: one eighth. */
const partsForSmall = 8;
const retryAfterS = 1;

/** A limit on the estimated memory of requests. */
export interface ByteBudget {
  readonly maxBytes: number;
  /** The limit of one holder. */
  readonly maxBytesOfOne: number;
  /**
   * Changes a holder's reservation; to 0 releases it. Throws a `ServiceError` if the limit is reached: one that says so if not even
   * `beside` bytes would be left for others.
   */
  resize(from: number, to: number, beside?: number): void;
  /** The same without the limit: for what is in memory already. */
  resizeAnyway(from: number, to: number): void;
  reservedBytes(): number;
}

/** A budget of `maxBytes`. Large holders cannot use all of it, so that small requests are still served. */
export function createByteBudget(maxBytes: number): ByteBudget {
  const maxBytesOfOne = maxBytes - Math.floor(maxBytes / partsForSmall);
  let reserved = 0;
  return {
    maxBytes,
    maxBytesOfOne,
    resize(from, to, beside = 0) {
      if (to > from) {
        const isSmall = to <= smallBytes;
        if (!isSmall && to + beside > maxBytesOfOne) throw tooLarge(to, maxBytesOfOne);
        if (reserved - from + to > (isSmall ? maxBytes : maxBytesOfOne)) throw noRoom();
      }
      reserved += to - from;
    },
    resizeAnyway(from, to) {
      reserved += to - from;
    },
    reservedBytes: () => reserved,
  };
}

/** A request, or a read for one, with its reservation. */
export interface Holder {
  readonly memory: ByteBudget;
  reservedBytes: number;
}

/** Replaces the holder's reservation. Throws a `ServiceError` if the limit is reached. */
export function reserveBytes(holder: Holder, bytes: number): void {
  holder.memory.resize(holder.reservedBytes, bytes);
  holder.reservedBytes = bytes;
}

/** The same for a response, which is too large if it leaves no room for its request's body and for small requests. */
export function reserveResponseBytes(holder: Holder, bytes: number, bodyBytes: number): void {
  holder.memory.resize(holder.reservedBytes, bytes, bodyBytes + smallBytes);
  holder.reservedBytes = bytes;
}

/** The same without the limit: for what is in memory already. */
export function reserveBytesAnyway(holder: Holder, bytes: number): void {
  holder.memory.resizeAnyway(holder.reservedBytes, bytes);
  holder.reservedBytes = bytes;
}

function tooLarge(bytes: number, maxBytesOfOne: number): ServiceError {
  return new ServiceError(
    "memory_exceeded",
    `The request needs about ${inMegabytes(bytes)} MB of memory; the limit of one request is ${inMegabytes(maxBytesOfOne)} MB (PRESAGE_MEMORY_BUDGET_BYTES).`,
  );
}

function noRoom(): ServiceError {
  return new ServiceError(
    "overloaded",
    "The requests in progress use all the memory that the server allows. Try again later.",
    { retryAfterS },
  );
}

export function inMegabytes(bytes: number): number {
  return Math.ceil(bytes / 1_000_000);
}

/** A quarter of the machine's memory, or of the container's if that is less, in bytes. */
export function quarterOfMemory(): number {
  // 0 if no limit is known.
  const limitBytes = process.constrainedMemory() || Number.POSITIVE_INFINITY;
  return Math.floor(Math.min(totalmem(), limitBytes) / 4);
}

/** What each of some processes may hold of worlds' examples, where nothing is set. */
export function defaultIndexBytes({ count }: { count: number }): number {
  return Math.min(2 ** 31, Math.floor(quarterOfMemory() / count));
}

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
  onLength?: (bytes: number) => void,
): Promise<Bytes | undefined> {
  const declared = message.headers.get("content-length");
  if (declared === null || message.headers.has("content-encoding"))
    return await readInPieces(message.body, maxBytes, onLength);
  const length = Number(declared);
  if (length > maxBytes) return undefined;
  if (length > shortBytes) {
    onLength?.(length);
    onLength?.(0);
    return await readInPieces(message.body, maxBytes, onLength);
  }
  const bytes = (await message.bytes()) as Bytes;
  onLength?.(bytes.length);
  return bytes;
}

async function readInPieces(
  body: ReadableStream<Uint8Array> | null,
  maxBytes: number,
  onLength?: (bytes: number) => void,
): Promise<Bytes | undefined> {
  if (body === null) return new Uint8Array();
  const chunks: Bytes[] = [];
  let length = 0;
  for await (const chunk of body as ReadableStream<Bytes>) {
    length += chunk.length;
    if (length > maxBytes) return undefined; // Leaving the loop cancels the stream.
    onLength?.(length);
    chunks.push(chunk);
    // What arrives meanwhile becomes one chunk.
    const turn = itemOfTurn();
    if (turn !== undefined) await turn;
  }
  return Bun.concatArrayBuffers(chunks, Number.POSITIVE_INFINITY, true) as Bytes;
}

export interface RoomForBytes {
  /** Waits for room for this many bytes, behind those who already wait. What exceeds the limit is admitted alone. Resolves with the function that gives it back. */
  take(bytes: number, signal: AbortSignal): Promise<() => void>;
  /** Waits until no one is waiting, before reading more. */
  untilNobodyWaits(signal: AbortSignal): Promise<void>;
}

interface Waiting {
  bytes: number;
  admit(): void;
}

/** A limit on the bytes of background work in progress, which waits rather than fails. */
export function createRoomForBytes(maxBytes: number): RoomForBytes {
  const waiting = new Set<Waiting>();
  let watching: (() => void)[] = [];
  let held = 0;

  function admitNext(): void {
    for (const next of waiting) {
      if (held > 0 && held + next.bytes > maxBytes) return;
      waiting.delete(next);
      held += next.bytes;
      next.admit();
    }
    for (const resolve of watching) resolve();
    watching = [];
  }

  function giveBack(bytes: number): void {
    held -= bytes;
    admitNext();
  }

  return {
    async take(bytes, signal) {
      signal.throwIfAborted();
      const turn = Promise.withResolvers<void>();
      const own = { bytes, admit: turn.resolve };
      waiting.add(own);
      admitNext();
      try {
        if (waiting.has(own)) await orAborted(turn.promise, signal);
      } catch (error) {
        if (!waiting.delete(own)) held -= bytes;
        admitNext();
        throw error;
      }
      return () => giveBack(bytes);
    },
    async untilNobodyWaits(signal) {
      while (waiting.size > 0) {
        const left = Promise.withResolvers<void>();
        watching.push(left.resolve);
        await orAborted(left.promise, signal);
      }
    },
  };
}
