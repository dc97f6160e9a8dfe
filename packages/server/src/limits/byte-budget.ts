import { ServiceError } from "../errors.ts";

/** What a request of 64 KB takes. Holders up to this size are let in to the part that larger ones leave free for them. */
const smallBytes = 6 * 64 * 1024;
/** One part in this many is for small holders alone. */
const partsForSmall = 8;
const retryAfterS = 1;

/** Bytes of memory that are spoken for. Whoever holds some gives them back by going to 0. */
export interface ByteBudget {
  readonly maxBytes: number;
  /** The most that one holder may have. */
  readonly maxBytesOfOne: number;
  /** A holder of `from` bytes holds `to` from now on. Throws a `ServiceError` where there is no room for more. */
  resize(from: number, to: number): void;
  /** The same without a question: for what is in memory already. */
  resizeAnyway(from: number, to: number): void;
  heldBytes(): number;
}

/** A budget of `maxBytes`. Large holders cannot take all of it, so that small requests go on being served beside them. */
export function createByteBudget(maxBytes: number): ByteBudget {
  const maxBytesOfOne = maxBytes - Math.floor(maxBytes / partsForSmall);
  let held = 0;
  return {
    maxBytes,
    maxBytesOfOne,
    resize(from, to) {
      if (to > from) {
        const isSmall = to <= smallBytes;
        if (!isSmall && to > maxBytesOfOne) throw tooLarge(to, maxBytesOfOne);
        if (held - from + to > (isSmall ? maxBytes : maxBytesOfOne)) throw noRoom();
      }
      held += to - from;
    },
    resizeAnyway(from, to) {
      held += to - from;
    },
    heldBytes: () => held,
  };
}

/** A request, or what is read for one, with what it holds of a budget. */
export interface Holder {
  readonly memory: ByteBudget;
  heldBytes: number;
}

/** It holds `bytes` from now on, in place of what it held; refused where there is no room. */
export function holdBytes(holder: Holder, bytes: number): void {
  holder.memory.resize(holder.heldBytes, bytes);
  holder.heldBytes = bytes;
}

/** The same without a question: for what is in memory already. */
export function holdBytesAnyway(holder: Holder, bytes: number): void {
  holder.memory.resizeAnyway(holder.heldBytes, bytes);
  holder.heldBytes = bytes;
}

function tooLarge(bytes: number, maxBytesOfOne: number): ServiceError {
  return new ServiceError(
    "body_too_large",
    `The request needs about ${inMegabytes(bytes)} MB of memory, and the server allows one request ${inMegabytes(maxBytesOfOne)} MB (PRESAGE_MEMORY_BUDGET_BYTES).`,
  );
}

function noRoom(): ServiceError {
  return new ServiceError(
    "overloaded",
    "The requests under way take up the memory that the server allows them. Try again later.",
    { retryAfterS },
  );
}

function inMegabytes(bytes: number): number {
  return Math.ceil(bytes / 1_000_000);
}
