import { writeInBatches } from "../platform/storage/write-in-batches.ts";
import { createCountedModels } from "./counted-models.ts";
import { addTotals, addUse, emptyTotals, type UsageTotals, type Use } from "./usage-totals.ts";

/** Usage that needs more totals than these is lost: the database has been unavailable for long. */
const maxPending = 10_000;
const hourMs = 60 * 60_000;

export interface UsageCollector {
  record(use: Use): void;
  /** Writes what is pending and stops. */
  stop(): Promise<void>;
}

/** Adds up usage and writes it in batches. What cannot be written is kept for the next batch, up to a limit. */
export function collectUsage(
  write: (batch: ReadonlyMap<string, UsageTotals>) => Promise<void>,
  onFailure: (error: unknown, isFirst: boolean) => void,
  hasPrice: (model: string) => boolean = () => false,
): UsageCollector {
  const countedModel = createCountedModels(hasPrice);
  const { pending, stop } = writeInBatches<UsageTotals>({
    write,
    putBack(batch, newer) {
      for (const [name, totals] of batch) {
        const newerTotals = newer.get(name);
        if (newerTotals !== undefined) addTotals(newerTotals, totals);
        else if (newer.size < maxPending) newer.set(name, totals);
      }
    },
    onFailure,
  });
  return {
    record(use) {
      const all = pending();
      const hour = Math.floor(Date.now() / hourMs);
      const asked = use.wasAsked === false ? undefined : use.model;
      const model = countedModel(use.accountId, hour, asked);
      const name = `${use.accountId} ${hour} ${use.keyId} ${use.operation} ${use.failure} ${model ?? ""}`;
      let totals = all.get(name);
      if (totals === undefined) {
        if (all.size >= maxPending) return;
        totals = emptyTotals({ ...use, model }, hour);
        all.set(name, totals);
      }
      addUse(totals, use);
    },
    stop,
  };
}
