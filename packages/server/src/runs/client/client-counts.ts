import { LRUCache } from "lru-cache";
import { ServiceError } from "../../platform/errors.ts";
import type { Database } from "../../platform/storage/schema/tables.ts";
import type { Requester, Store } from "../../platform/storage/store.ts";
import { isStoreUnavailable } from "../../platform/storage/store-error.ts";
import { selectLastSettled } from "../../results/write/results-store.ts";
import {
  type EvaluatorNames,
  isClientRun,
  notCounted,
  type Run,
  type RunCounts,
  samplesOfRevision,
} from "../run.ts";
import {
  countByEvaluator,
  countResults,
  evaluatorNamesOf,
  hasMoreResultsThan,
  type ResultCountsRow,
  selectHighestId,
  selectRangeEnd,
} from "./client-results-store.ts";

/** Counts of client runs' results, by run id. Results are only added, so the next request counts only those added since. */
export interface ClientCounts extends CountingLimits {
  kept: LRUCache<string, CountedResults>;
}

interface CountingLimits {
  /** The most results of each kind that one statement counts. */
  resultsAtATime: number;
  /** After this time a request shows what is counted so far; the next one continues. */
  maxCountingMs: number;
}

interface CountedResults {
  /** All results up to this number are counted. */
  upTo: number;
  evaluators: CountedEvaluators;
}

/** Counts of evaluators, by their names as JSON. */
type CountedEvaluators = ReadonlyMap<string, EvaluatorCounts>;

interface EvaluatorCounts extends Pick<ResultCountsRow, "results" | "with_pass" | "with_score"> {
  names: EvaluatorNames;
}

const nothingCounted: CountedResults = { upTo: 0, evaluators: new Map() };

/** The number of runs on a page. */
const maxRuns = 1_000;
/** Clients name evaluators as they like. More are kept than listed, so that one whose results arrive late is not dropped each time. */
const maxEvaluators = 1_000;
/** The characters of the names of all evaluators of all runs. */
const maxCharacters = 20_000_000;
/** A map's entry, its numbers and the names as an object, in addition to the text. */
const charactersPerEvaluator = 200;
/** Deleted results are noticed after this time. */
const recountAfterMs = 10 * 60_000;

/** The slowest statement stays far below the database's time limit, and lists are never slow. */
const defaults: CountingLimits = { resultsAtATime: 100_000, maxCountingMs: 2_000 };

/** Creates a process's counts. */
export function createClientCounts(limits = defaults): ClientCounts {
  return {
    ...limits,
    kept: new LRUCache({
      max: maxRuns,
      ttl: recountAfterMs,
      maxSize: maxCharacters,
      sizeCalculation: ({ evaluators }) =>
        evaluators.keys().reduce((sum, key) => sum + 2 * key.length + charactersPerEvaluator, 1),
    }),
  };
}

function addUp(known: CountedEvaluators, rows: readonly ResultCountsRow[]): CountedEvaluators {
  return merge(
    known,
    rows.map((row) => ({ ...row, names: evaluatorNamesOf(row) })),
  );
}

/** If there are more evaluators than are kept, those with the most results stay. */
function merge(known: CountedEvaluators, added: readonly EvaluatorCounts[]): CountedEvaluators {
  if (added.length === 0) return known;
  const all = new Map(known);
  for (const { names, results, with_pass, with_score } of added) {
    const key = JSON.stringify(names);
    const before = all.get(key);
    all.set(key, {
      names,
      results: results + (before?.results ?? 0),
      with_pass: with_pass + (before?.with_pass ?? 0),
      with_score: with_score + (before?.with_score ?? 0),
    });
  }
  return withMostResults(all, maxEvaluators);
}

function withMostResults(evaluators: CountedEvaluators, most: number): CountedEvaluators {
  if (evaluators.size <= most) return evaluators;
  const sorted = [...evaluators].sort(
    ([a, one], [b, other]) => other.results - one.results || (a < b ? -1 : 1),
  );
  return new Map(sorted.slice(0, most));
}

/** A client run while its results are counted. */
interface RunCount {
  readonly id: string;
  /** Counts of its settled results. */
  counted: CountedResults;
  /** Counts of results that are not settled yet, which are counted again at the next request. */
  unsettled: CountedEvaluators;
}

interface Counting {
  reader: Database;
  accountId: string;
  clientCounts: ClientCounts;
  settled: number;
}

/** Runs that have been counted up to the same number. */
interface Group {
  runCounts: readonly RunCount[];
  after: number;
}

/**
 * Counts with statements of bounded work, few if there are few results, and remembers the counts of each. Runs with many results are
 * counted alone, one range after the other, in turns. Stops early when the time is up.
 */
async function countInRanges(counting: Counting, runCounts: readonly RunCount[]): Promise<void> {
  const endsAtMs = performance.now() + counting.clientCounts.maxCountingMs;
  const groups = [...Map.groupBy(runCounts, ({ counted }) => counted.upTo)].map(
    ([after, some]): Group => ({ runCounts: some, after }),
  );
  // Groups are added during the loop.
  for (const group of groups) {
    groups.push(...(await countSome(counting, group)));
    if (performance.now() >= endsAtMs) return;
  }
}

/** Returns the groups that are still to be counted. */
async function countSome(counting: Counting, group: Group): Promise<Group[]> {
  const { reader, accountId, clientCounts } = counting;
  const { resultsAtATime } = clientCounts;
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

/** Adds to a run's counts, and remembers the settled ones. */
function addRows(
  { clientCounts: { kept }, settled }: Counting,
  runCount: RunCount,
  rows: readonly ResultCountsRow[],
  end: number | undefined,
): void {
  const isSettled = Map.groupBy(rows, ({ is_settled }) => is_settled === 1);
  const evaluators = addUp(runCount.counted.evaluators, isSettled.get(true) ?? []);
  runCount.unsettled = addUp(runCount.unsettled, isSettled.get(false) ?? []);
  runCount.counted = { upTo: Math.max(runCount.counted.upTo, Math.min(end ?? settled, settled)), evaluators };
  // Another request may have been faster. The time of the first full count is kept; when it is too old, everything is counted again.
  if (runCount.counted.upTo > (kept.get(runCount.id)?.upTo ?? 0))
    kept.set(runCount.id, runCount.counted, { noUpdateTTL: end === undefined });
}

/** For a result, and for the names and tags of a sample if the result is its first. */
const bytesPerResult = 500;
/** Names of samples, by which runs of datasets are matched with client ones. */
const bytesPerName = 200;

/** The memory that a report or a comparison takes for the client runs among these. */
export async function clientMemoryBytes(
  { store }: { store: Store },
  requester: Requester,
  runs: readonly Run[],
): Promise<number> {
  if (!runs.some(isClientRun)) return 0;
  const reader = store.reader(requester);
  let bytes = 0;
  for (const run of runs) {
    bytes += isClientRun(run)
      ? (await countResults(reader, run)) * bytesPerResult
      : samplesOfRevision(run) * bytesPerName;
  }
  return bytes;
}

/** A run lists at most this many evaluators, those with the most results. */
const maxListed = 100;

type Services = { store: Store; clientCounts: ClientCounts };

/**
 * Adds to client runs the evaluators and the progress that their results show. If that takes too long or the database cannot count,
 * they have the earlier counts: a run can be shown and changed in any case.
 */
export async function withClientCounts<One extends Run>(
  services: Services,
  requester: Requester,
  runs: readonly One[],
): Promise<One[]> {
  const { kept } = services.clientCounts;
  const runCounts = runs.filter(isClientRun).map(
    ({ id }): RunCount => ({
      id,
      counted: kept.get(id) ?? nothingCounted,
      unsettled: nothingCounted.evaluators,
    }),
  );
  if (runCounts.length === 0) return [...runs];
  try {
    await count(services, requester, runCounts);
  } catch (error) {
    if (!(error instanceof ServiceError) && !isStoreUnavailable(error)) throw error;
  }
  const byId = new Map(runCounts.map((runCount) => [runCount.id, runCount]));
  return runs.map((run) => {
    const runCount = byId.get(run.id);
    return runCount === undefined ? run : { ...run, ...shown(runCount) };
  });
}

async function count(
  { store, clientCounts }: Services,
  requester: Requester,
  runCounts: readonly RunCount[],
): Promise<void> {
  const reader = store.briefReader(requester);
  // Read before the results: no number up to this one will be taken any more.
  const settled = (await selectLastSettled(reader)) ?? (await selectHighestId(reader));
  await countInRanges({ reader, accountId: requester.accountId, clientCounts, settled }, runCounts);
}

function shown({ counted, unsettled }: RunCount): Pick<Run, "clientEvaluators" | "counts"> {
  const all = merge(counted.evaluators, [...unsettled.values()]);
  const evaluators = [...withMostResults(all, maxListed)]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, one]) => one);
  return { clientEvaluators: evaluators.map(({ names }) => names), counts: toCounts(evaluators) };
}

/** The intended number of samples is unknown: the evaluator with the most results is assumed to have seen them all. */
function toCounts(evaluators: readonly EvaluatorCounts[]): RunCounts {
  if (evaluators.length === 0) return { samples: 0, ...notCounted };
  const results = evaluators.map((one) => one.results);
  const samples = Math.max(...results);
  return {
    ...notCounted,
    samples,
    predicted: samples,
    evaluated: Math.min(...results),
    failed: Math.max(...evaluators.map(failuresOf)),
  };
}

/** As in reports: among verdicts, a score alone does not say who passed. */
function failuresOf({ results, with_pass, with_score }: EvaluatorCounts): number {
  return results - (with_pass > 0 ? with_pass : with_score);
}
