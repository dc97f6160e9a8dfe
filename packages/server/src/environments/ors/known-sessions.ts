import { LRUCache } from "lru-cache";
import { lruLimit } from "../../platform/lru-limit.ts";
import { type Micros, nowMicros } from "../../platform/storage/micros.ts";
import { writeInBatches } from "../../platform/storage/write-in-batches.ts";
import type { Uses } from "./ors-sessions-store.ts";

/** How long a process trusts that a session has not ended in another one. */
const trustForMs = 60_000;
/** A use is written this often at most, which is far less than the time after which a session ends. */
const writeEveryMs = 60_000;
const maxSessions = 50_000;

/** What a process knows of the sessions in use, so that a ping neither reads nor writes the database each time. */
export interface KnownSessions {
  /** Whether the session was there a short time ago. */
  has(id: string): boolean;
  /** The session exists and is in use. */
  note(id: string): void;
  /** The session was stored just now. */
  noteCreated(id: string): void;
  forget(id: string): void;
  /** Writes what is pending and stops. */
  stop(): Promise<void>;
}

interface Known {
  seenAtMs: number;
  writtenAtMs: number;
}

export function createKnownSessions(
  write: (uses: Uses) => Promise<void>,
  onFailure: (error: unknown, isFirst: boolean) => void,
): KnownSessions {
  const sessions = new LRUCache<string, Known>(lruLimit(maxSessions));
  const { pending, stop } = writeInBatches<Micros>({
    write: (batch) => write({ ids: [...batch.keys()].sort(), at: Math.max(...batch.values()) }),
    putBack(batch, newer) {
      for (const [id, usedAt] of batch) if (!newer.has(id)) newer.set(id, usedAt);
    },
    onFailure,
  });

  return {
    has(id) {
      const known = sessions.get(id);
      if (known === undefined || performance.now() - known.seenAtMs > trustForMs) return false;
      use(id, known);
      return true;
    },
    note(id) {
      const known = sessions.get(id) ?? { seenAtMs: 0, writtenAtMs: Number.NEGATIVE_INFINITY };
      known.seenAtMs = performance.now();
      sessions.set(id, known);
      use(id, known);
    },
    noteCreated(id) {
      const nowMs = performance.now();
      sessions.set(id, { seenAtMs: nowMs, writtenAtMs: nowMs });
    },
    forget(id) {
      sessions.delete(id);
      pending().delete(id);
    },
    stop,
  };

  function use(id: string, known: Known): void {
    const nowMs = performance.now();
    if (nowMs - known.writtenAtMs < writeEveryMs) return;
    known.writtenAtMs = nowMs;
    pending().set(id, nowMicros());
  }
}
