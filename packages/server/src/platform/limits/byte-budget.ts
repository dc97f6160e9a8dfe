import { ServiceError } from "../errors.ts";

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

function inMegabytes(bytes: number): number {
  return Math.ceil(bytes / 1_000_000);
}
