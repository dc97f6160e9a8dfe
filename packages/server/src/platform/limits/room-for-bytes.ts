import { orAborted } from "./deadline.ts";

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
