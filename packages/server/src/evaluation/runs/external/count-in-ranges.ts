import type { Database } from "../../../storage/schema/tables.ts";
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

/** A look at an external run. */
export interface Look {
  readonly id: string;
  /** Of its settled results. */
  counted: CountedResults;
  /** Of those that are not settled, which the next look counts again. */
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
  looks: readonly Look[];
  after: number;
}

/**
 * Counts by statements of bounded work, which are few where there are few results, and remembers what each has counted. Runs with many
 * results are counted alone, a range after the other, in turns. Ends early when the time is up.
 */
export async function countInRanges(counting: Counting, looks: readonly Look[]): Promise<void> {
  const endsAtMs = performance.now() + counting.externalCounts.maxLookMs;
  const groups = [...Map.groupBy(looks, ({ counted }) => counted.upTo)].map(
    ([after, some]): Group => ({ looks: some, after }),
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
  const { looks, after } = group;
  const [first] = looks;
  if (first === undefined) return [];
  const ids = looks.map(({ id }) => id);
  const isAlone = looks.length === 1;
  if (!isAlone && (await hasMoreResultsThan(reader, accountId, ids, { after, count: resultsAtATime })))
    return halvesOf(group);
  const end = isAlone
    ? await selectRangeEnd(reader, accountId, first.id, { after, count: resultsAtATime })
    : undefined;
  const range = { after, settled: counting.settled, end };
  const { rows, isCut } = await countByEvaluator(reader, accountId, ids, range);
  if (isCut && !isAlone) return halvesOf(group);
  const byRun = Map.groupBy(rows, ({ named_run }) => named_run);
  for (const look of looks) addRows(counting, look, byRun.get(look.id) ?? [], end);
  return end === undefined ? [] : [{ looks, after: end }];
}

function halvesOf({ looks, after }: Group): Group[] {
  const half = Math.ceil(looks.length / 2);
  return [looks.slice(0, half), looks.slice(half)].map((some) => ({ looks: some, after }));
}

/** Adds to what is known of a run, and remembers what is settled. */
function addRows(
  { externalCounts: { kept }, settled }: Counting,
  look: Look,
  rows: readonly ResultCountsRow[],
  end: number | undefined,
): void {
  const isSettled = Map.groupBy(rows, ({ is_settled }) => is_settled === 1);
  const evaluators = addUp(look.counted.evaluators, isSettled.get(true) ?? []);
  look.unsettled = addUp(look.unsettled, isSettled.get(false) ?? []);
  look.counted = { upTo: Math.max(look.counted.upTo, Math.min(end ?? settled, settled)), evaluators };
  // Another look may have been faster. The time of the first whole count is kept, after which everything is counted again.
  if (look.counted.upTo > (kept.get(look.id)?.upTo ?? 0))
    kept.set(look.id, look.counted, { noUpdateTTL: end === undefined });
}
