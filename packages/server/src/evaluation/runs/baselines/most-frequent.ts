import { createHash } from "node:crypto";
import type { DatasetSample } from "@presage/contract";
import type { Database } from "../../../storage/schema/tables.ts";
import { readPlacedSamples } from "../../datasets/read-samples.ts";
import { selectSizes, selectTrajectorySizes } from "../../datasets/samples-store.ts";
import { actionOf } from "../runner/run-sample.ts";

/** The commonest next state of an action; undefined if there is none. */
export type MostFrequent = (
  sample: DatasetSample,
  action: string,
  signal: AbortSignal,
) => Promise<string | undefined>;

/** A next state of an action, by its digest. */
interface Outcome {
  digest: string;
  count: number;
  /** Of one sample that has it. */
  position: number;
}

const pageSize = 500;

/**
 * Counts the next states of each action in a revision. With `leavesOut`, what a sample's own trajectory contributes does not count:
 * it is the revision that is predicted. Texts are not kept, only digests: 100 bytes or so for each different transition.
 */
export async function countNextStates(
  reader: Database,
  revisionId: number,
  { leavesOut }: { leavesOut: boolean },
): Promise<MostFrequent> {
  const outcomesOf = new Map<string, Map<string, Outcome>>();
  for (let after = 0; ; ) {
    const sizes = await selectSizes(reader, revisionId, { after, limit: pageSize });
    for await (const piece of readPlacedSamples(reader, revisionId, sizes)) {
      for (const { position, sample } of piece) {
        const digest = digestOf(sample.next_state);
        const action = digestOf(actionOf(sample));
        const outcomes = outcomesOf.get(action) ?? new Map<string, Outcome>();
        outcomesOf.set(action, outcomes);
        const known = outcomes.get(digest);
        if (known === undefined) outcomes.set(digest, { digest, count: 1, position });
        else known.count += 1;
      }
    }
    const last = sizes.at(-1);
    if (last === undefined || sizes.length < pageSize) break;
    after = last.position;
  }

  /** How often the sample's own trajectory has each next state of the action. */
  async function ownCounts(sample: DatasetSample, action: string): Promise<Map<string, number>> {
    const counts = new Map<string, number>();
    const sizes = await selectTrajectorySizes(reader, revisionId, sample.trajectory_id, {
      after: -1,
      limit: Number.MAX_SAFE_INTEGER,
    });
    for await (const piece of readPlacedSamples(reader, revisionId, sizes)) {
      for (const { sample: own } of piece) {
        if (actionOf(own) !== action) continue;
        const digest = digestOf(own.next_state);
        counts.set(digest, (counts.get(digest) ?? 0) + 1);
      }
    }
    return counts;
  }

  return async (sample, action, signal) => {
    const outcomes = outcomesOf.get(digestOf(action));
    if (outcomes === undefined) return undefined;
    const own = leavesOut ? await ownCounts(sample, action) : new Map<string, number>();
    let best: Outcome | undefined;
    let bestCount = 0;
    for (const outcome of outcomes.values()) {
      const count = outcome.count - (own.get(outcome.digest) ?? 0);
      const wins = count > bestCount || (count === bestCount && outcome.digest < (best?.digest ?? ""));
      if (count > 0 && wins) [best, bestCount] = [outcome, count];
    }
    signal.throwIfAborted();
    return best && (await readNextState(reader, revisionId, best.position));
  };
}

async function readNextState(
  reader: Database,
  revisionId: number,
  position: number,
): Promise<string | undefined> {
  for await (const [placed] of readPlacedSamples(reader, revisionId, [{ position, bytes: 0 }])) {
    return placed?.sample.next_state;
  }
  return undefined;
}

function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
