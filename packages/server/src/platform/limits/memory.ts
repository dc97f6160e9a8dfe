import { totalmem } from "node:os";
import { ServiceError } from "../errors.ts";
import { orAborted } from "./deadline.ts";
import { itemOfTurn } from "./turns.ts";

/** The memory estimated for a request with a 64 KB body. Part of the budget is for holders up to this size only. */
const smallBytes = 6 * 64 * 1024;
/** The fraction for small holders: one eighth. */
const partsForSmall = 8;
const retryAfterS = 1;

/** A limit on the estimated memory of requests. */
export type ByteBudget = ReturnType<typeof createByteBudget>;

/** A budget of `maxBytes`. Large holders cannot use all of it, so small requests are still served. */
export function createByteBudget(maxBytes: number) {
  const maxBytesOfOne = maxBytes - Math.floor(maxBytes / partsForSmall);
  let reserved = 0;
  return {
    maxBytes,
    /** The most that one holder may reserve. */
    maxBytesOfOne,
    /**
     * Changes a holder's reservation; 0 releases it. Throws a `ServiceError` if the limit is reached: `memory_exceeded` if a large
     * reservation could never fit together with `beside` bytes, otherwise `overloaded`.
     */
    resize(from: number, to: number, beside = 0): void {
      if (to > from) {
        const isSmall = to <= smallBytes;
        if (!isSmall && to + beside > maxBytesOfOne) throw tooLarge(to, maxBytesOfOne);
        if (reserved - from + to > (isSmall ? maxBytes : maxBytesOfOne)) throw noRoom();
      }
      reserved += to - from;
    },
    /** Like `resize`, but without the limit: for bytes that are already in memory. */
    resizeAnyway(from: number, to: number): void {
      reserved += to - from;
    },
    reservedBytes: () => reserved,
  };
}

/** A request, or a read on behalf of one, with its reservation. */
export interface Holder {
  readonly memory: ByteBudget;
  reservedBytes: number;
}

/** Replaces the holder's reservation. Throws a `ServiceError` if the limit is reached. */
export function reserveBytes(holder: Holder, bytes: number): void {
  holder.memory.resize(holder.reservedBytes, bytes);
  holder.reservedBytes = bytes;
}

/** Like `reserveBytes`, for a response: it is too large if it leaves no room for its request's body and for small requests. */
export function reserveResponseBytes(holder: Holder, bytes: number, bodyBytes: number): void {
  holder.memory.resize(holder.reservedBytes, bytes, bodyBytes + smallBytes);
  holder.reservedBytes = bytes;
}

/** Like `reserveBytes`, but without the limit: for bytes that are already in memory. */
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
  // `constrainedMemory` returns 0 if no limit is known.
  const limitBytes = process.constrainedMemory() || Number.POSITIVE_INFINITY;
  return Math.floor(Math.min(totalmem(), limitBytes) / 4);
}

/** The default limit for each of `count` processes on the memory of worlds' examples, in bytes. */
export function defaultIndexBytes({ count }: { count: number }): number {
  return Math.min(2 ** 31, Math.floor(quarterOfMemory() / count));
}

type Bytes = Uint8Array<ArrayBuffer>;

/** Bodies up to this length are read in one piece: they arrive with the headers, or soon after. */
const shortBytes = 64 * 1024;

/**
 * Returns a whole body, or undefined as soon as it is longer than `maxBytes`. Calls `onLength`, which may throw to stop, before reading
 * more: first with the declared length, so that a body without room is refused before it is sent, and then with the length so far,
 * counted from 0, as senders can declare anything.
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

interface Waiting {
  bytes: number;
  admit(): void;
}

export type RoomForBytes = ReturnType<typeof createRoomForBytes>;

/** Limits the bytes of background work in progress; beyond the limit, work waits rather than fails. */
export function createRoomForBytes(maxBytes: number) {
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
    /** Waits in line for room for this many bytes. More than the limit is admitted alone. Resolves with the function that gives the room back. */
    async take(bytes: number, signal: AbortSignal): Promise<() => void> {
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
    /** Waits until nobody is waiting for room; to be called before reading more. */
    async untilNobodyWaits(signal: AbortSignal): Promise<void> {
      while (waiting.size > 0) {
        const left = Promise.withResolvers<void>();
        watching.push(left.resolve);
        await orAborted(left.promise, signal);
      }
    },
  };
}
