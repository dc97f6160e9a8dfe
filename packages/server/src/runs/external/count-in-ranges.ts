import type { Database } from "../../platform/storage/schema/tables.ts";
import {
  addUp,
  type CountedEvaluators,
  type CountedResults,
  type ExternalCounts,
} from "./external-counts.ts";
import {
  countByEvaluator,
  hasMoreResultsThan,
  type ResultCountsRow,
  selectRangeEnd,
} from "./external-results-store.ts";

/** An external run while its results are counted. */
export interface RunCount {
  readonly id: string;
  /** Of its settled results. */
  counted: CountedResults;
  /** Of those that are not settled, which are counted again at the next request. */
  unsettled: CountedEvaluators;
}

interface Counting {
  reader: Database;
  accountId: string;
  externalCounts: ExternalCounts;
  settled: number;
}

/** Runs that have been counted up to the same number. */
interface Group {
  runCounts: readonly RunCount[];
  after: number;
}

/**
 * Counts by statements of bounded work, which are few where there are few results, and remembers what each has counted. Runs with many
 * results are counted alone, a range after the other, in turns. Ends early when the time is up.
 */
export async function countInRanges(counting: Counting, runCounts: readonly RunCount[]): Promise<void> {
  const endsAtMs = performance.now() + counting.externalCounts.maxCountingMs;
  const groups = [...Map.groupBy(runCounts, ({ counted }) => counted.upTo)].map(
    ([after, some]): Group => ({ runCounts: some, after }),
  );
  // Some are added on the way.
  for (const group of groups) {
    groups.push(...(await countSome(counting, group)));
    if (performance.now() >= endsAtMs) return;
  }
}

/** Returns what is still to be counted. */
async function countSome(counting: Counting, group: Group): Promise<Group[]> {
  const { reader, accountId, externalCounts } = counting;
  const { resultsAtATime } = externalCounts;
  const { runCounts, after } = group;
  const [first] = runCounts;
  if (first === undefined) return [];
  const ids = runCounts.map(({ id }) => id);
  const isAlone = runCounts.length === 1;
  if (!isAlone && (await hasMoreResultsThan(reader, accountId, ids, { after, count: resultsAtATime })))
    return halvesOf(group);
  const end = isAlone
    ? await selectRangeEnd(reader, accountId, first.id, { after, count: resultsAtATime })
    : undefined;
  const range = { after, settled: counting.settled, end };
  const { rows, isCut } = await countByEvaluator(reader, accountId, ids, range);
  if (isCut && !isAlone) return halvesOf(group);
  const byRun = Map.groupBy(rows, ({ named_run }) => named_run);
  for (const runCount of runCounts) addRows(counting, runCount, byRun.get(runCount.id) ?? [], end);
  return end === undefined ? [] : [{ runCounts, after: end }];
}

function halvesOf({ runCounts, after }: Group): Group[] {
  const half = Math.ceil(runCounts.length / 2);
  return [runCounts.slice(0, half), runCounts.slice(half)].map((some) => ({ runCounts: some, after }));
}

/** Adds to what is known of a run, and remembers what is settled. */
function addRows(
  { externalCounts: { kept }, settled }: Counting,
  runCount: RunCount,
  rows: readonly ResultCountsRow[],
  end: number | undefined,
): void {
  const isSettled = Map.groupBy(rows, ({ is_settled }) => is_settled === 1);
  const evaluators = addUp(runCount.counted.evaluators, isSettled.get(true) ?? []);
  runCount.unsettled = addUp(runCount.unsettled, isSettled.get(false) ?? []);
  runCount.counted = { upTo: Math.max(runCount.counted.upTo, Math.min(end ?? settled, settled)), evaluators };
  // Another request may have been faster. The time of the first whole count is kept, after which everything is counted again.
  if (runCount.counted.upTo > (kept.get(runCount.id)?.upTo ?? 0))
    kept.set(runCount.id, runCount.counted, { noUpdateTTL: end === undefined });
}
