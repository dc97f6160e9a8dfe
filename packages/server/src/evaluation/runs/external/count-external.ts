import { LRUCache } from "lru-cache";
import type { Requester } from "../../../storage/reader.ts";
import type { EvaluationServices } from "../../evaluation-services.ts";
import { selectLastSettled } from "../../results/keep/numbers-store.ts";
import { type EvaluatorNames, isExternal, type Run, type RunCounts } from "../run.ts";
import { countByEvaluator, type ResultCountsRow, selectHighestId } from "./external-results-store.ts";
import { namesOf } from "./names-of.ts";

/** What has been counted of external runs, by their ids. Results are only added, so the next look counts those that came since. */
export type ExternalCounts = LRUCache<string, CountedResults>;

interface CountedResults {
  /** All results up to this number are counted. */
  upTo: number;
  evaluators: ReadonlyMap<string, EvaluatorCounts>;
}

interface EvaluatorCounts extends Pick<ResultCountsRow, "results" | "with_pass" | "with_score"> {
  names: EvaluatorNames;
}

const nothingCounted: CountedResults = { upTo: 0, evaluators: new Map() };

/** As many as a page of runs has. */
const maxRuns = 1_000;
/** Deleted results are noticed after this time. */
const recountAfterMs = 10 * 60_000;

/** A process's. */
export function createExternalCounts(): ExternalCounts {
  return new LRUCache({ max: maxRuns, ttl: recountAfterMs });
}

type Services = Pick<EvaluationServices, "store" | "externalCounts">;

/** Runs, of which external ones have the evaluators and the progress that their results tell. */
export async function withResults(
  { store, externalCounts }: Services,
  requester: Requester,
  runs: readonly Run[],
): Promise<Run[]> {
  const ids = runs.filter(isExternal).map(({ id }) => id);
  if (ids.length === 0) return [...runs];
  const reader = store.briefReader(requester);
  // Before the results are read: a number up to this one is never taken again.
  const settled = (await selectLastSettled(reader)) ?? (await selectHighestId(reader));
  const counted = new Map<string, CountedResults["evaluators"]>();
  // Runs that were listed together have been counted up to the same number.
  const known = ids.map((id) => ({ id, ...(externalCounts.get(id) ?? nothingCounted) }));
  for (const [after, some] of Map.groupBy(known, ({ upTo }) => upTo)) {
    const named = some.map(({ id }) => id);
    const rows = await countByEvaluator(reader, requester.accountId, named, { after, settled });
    const byRun = Map.groupBy(rows, ({ named_run }) => named_run);
    for (const one of some)
      counted.set(one.id, addRows(externalCounts, one, settled, byRun.get(one.id) ?? []));
  }
  return runs.map((run) => {
    const found = counted.get(run.id);
    if (found === undefined) return run;
    const evaluators = [...found].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one);
    return { ...run, externalEvaluators: evaluators.map(({ names }) => names), counts: toCounts(evaluators) };
  });
}

/** Adds to what is known of a run, and remembers what is settled. */
function addRows(
  externalCounts: ExternalCounts,
  { id, evaluators: known }: CountedResults & { id: string },
  settled: number,
  rows: readonly ResultCountsRow[],
): CountedResults["evaluators"] {
  const evaluators = addUp(
    known,
    rows.filter(({ is_settled }) => is_settled === 1),
  );
  // Another look may have been faster. The time of the first is kept, after which everything is counted again.
  if (settled > (externalCounts.get(id)?.upTo ?? 0))
    externalCounts.set(id, { upTo: settled, evaluators }, { noUpdateTTL: true });
  return addUp(
    evaluators,
    rows.filter(({ is_settled }) => is_settled === 0),
  );
}

function addUp(
  known: CountedResults["evaluators"],
  rows: readonly ResultCountsRow[],
): CountedResults["evaluators"] {
  if (rows.length === 0) return known;
  const all = new Map(known);
  for (const row of rows) {
    const names = namesOf(row);
    const key = JSON.stringify(names);
    const before = all.get(key);
    all.set(key, {
      names,
      results: row.results + (before?.results ?? 0),
      with_pass: row.with_pass + (before?.with_pass ?? 0),
      with_score: row.with_score + (before?.with_score ?? 0),
    });
  }
  return all;
}

/** Nobody said how many samples there are to be: the evaluator with the most results has seen them. */
function toCounts(evaluators: readonly EvaluatorCounts[]): RunCounts {
  if (evaluators.length === 0) return { samples: 0, predicted: 0, evaluated: 0, failed: 0 };
  const results = evaluators.map((one) => one.results);
  const samples = Math.max(...results);
  return {
    samples,
    predicted: samples,
    evaluated: Math.min(...results),
    failed: Math.max(...evaluators.map(failuresOf)),
  };
}

/** As in reports: among verdicts, a score alone says nothing of who passed. */
function failuresOf({ results, with_pass, with_score }: EvaluatorCounts): number {
  return results - (with_pass > 0 ? with_pass : with_score);
}
