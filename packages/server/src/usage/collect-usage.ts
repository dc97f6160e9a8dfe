import { writeInBatches } from "../storage/write-in-batches.ts";
import { addTally, addUse, emptyTally, type UsageTally, type Use } from "./usage-totals.ts";

/** Past it, usage that cannot be added to what is noted already is lost: the store has been away for long. */
const maxTallies = 10_000;
const hourMs = 60 * 60_000;

export interface UsageNotes {
  note(use: Use): void;
  /** Writes what is noted and stops. */
  stop(): Promise<void>;
}

/** Collects usage and writes it in batches. What cannot be written is kept for the next batch, within bounds. */
export function collectUsage(
  write: (tallies: ReadonlyMap<string, UsageTally>) => Promise<void>,
  onFailure: (error: unknown, isFirst: boolean) => void,
): UsageNotes {
  const { pending, stop } = writeInBatches<UsageTally>({
    write,
    putBack(batch, since) {
      for (const [name, tally] of batch) {
        const newer = since.get(name);
        if (newer !== undefined) addTally(newer, tally);
        else if (since.size < maxTallies) since.set(name, tally);
      }
    },
    onFailure,
  });
  return {
    note(use) {
      const tallies = pending();
      const hour = Math.floor(Date.now() / hourMs);
      const name = `${use.accountId} ${hour} ${use.keyId} ${use.operation} ${use.failure}`;
      let tally = tallies.get(name);
      if (tally === undefined) {
        if (tallies.size >= maxTallies) return;
        tally = emptyTally(use, hour);
        tallies.set(name, tally);
      }
      addUse(tally, use);
    },
    stop,
  };
}
