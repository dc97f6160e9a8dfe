import { type Micros, nowMicros } from "../../storage/micros.ts";
import { writeInBatches } from "../../storage/write-in-batches.ts";

export interface LastUses {
  /** Notes that a key was used now. `isFirst` writes it at once, so that a new key's first use is seen. */
  note(keyId: string, isFirst: boolean): void;
  /** Writes what is noted and stops. */
  stop(): Promise<void>;
}

/** Collects the keys' last uses and writes them in batches. What cannot be written is kept for the next batch. */
export function collectLastUses(
  write: (lastUses: ReadonlyMap<string, Micros>) => Promise<void>,
  onFailure: (error: unknown, isFirst: boolean) => void,
): LastUses {
  const { pending, writeNow, stop } = writeInBatches<Micros>({
    write,
    putBack(batch, since) {
      for (const [keyId, usedAt] of batch) if (!since.has(keyId)) since.set(keyId, usedAt);
    },
    onFailure,
  });
  return {
    note(keyId, isFirst) {
      pending().set(keyId, nowMicros());
      if (isFirst) setImmediate(writeNow);
    },
    stop,
  };
}
