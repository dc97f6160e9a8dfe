import { type Micros, nowMicros } from "../platform/storage/micros.ts";
import { writeInBatches } from "../platform/storage/write-in-batches.ts";

export interface LastUseCollector {
  /** Records that a key was used now. `isFirst` writes it at once, so that a new key's first use is visible. */
  record(keyId: string, isFirst: boolean): void;
  /** Writes what is pending and stops. */
  stop(): Promise<void>;
}

/** Collects the times of keys' last uses and writes them in batches. What cannot be written is kept for the next batch. */
export function collectLastUses(
  write: (lastUses: ReadonlyMap<string, Micros>) => Promise<void>,
  onFailure: (error: unknown, isFirst: boolean) => void,
): LastUseCollector {
  const { pending, writeNow, stop } = writeInBatches<Micros>({
    write,
    putBack(batch, newer) {
      for (const [keyId, usedAt] of batch) if (!newer.has(keyId)) newer.set(keyId, usedAt);
    },
    onFailure,
  });
  return {
    record(keyId, isFirst) {
      pending().set(keyId, nowMicros());
      if (isFirst) setImmediate(writeNow);
    },
    stop,
  };
}
