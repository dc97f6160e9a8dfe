import { nowMicros } from "../../storage/columns.ts";
import type { Micros } from "../../storage/tables.ts";

const flushIntervalMs = 5_000;

export interface LastUses {
  /** Notes that a key was used now. `isFirst` writes it at once, so that a new key's first use is seen. */
  note(keyId: string, isFirst: boolean): void;
  /** Writes what is noted and stops. */
  stop(): Promise<void>;
}

/** Collects the keys' last uses and writes them in batches. What cannot be written is kept for the next batch. */
export function collectLastUses(
  write: (lastUses: ReadonlyMap<string, Micros>) => Promise<void>,
  onFailure: (error: unknown) => void,
): LastUses {
  let pending = new Map<string, Micros>();
  let writing: Promise<void> = Promise.resolve();

  async function writePending(): Promise<void> {
    if (pending.size === 0) return;
    const batch = pending;
    pending = new Map();
    try {
      await write(batch);
    } catch (error) {
      onFailure(error);
      pending = new Map([...batch, ...pending]);
    }
  }

  function flush(): Promise<void> {
    writing = writing.then(writePending);
    return writing;
  }

  const timer = setInterval(flush, flushIntervalMs);
  return {
    note(keyId, isFirst) {
      pending.set(keyId, nowMicros());
      if (isFirst) setImmediate(flush);
    },
    async stop() {
      clearInterval(timer);
      await flush();
    },
  };
}
