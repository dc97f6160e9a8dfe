import { LRUCache } from "lru-cache";
import type { Requester } from "../../../storage/reader.ts";
import type { Database } from "../../../storage/schema/tables.ts";
import type { EvaluationServices } from "../../evaluation-services.ts";
import { selectLastSettled } from "../../results/keep/numbers-store.ts";
import { type EvaluatorNames, isExternal, type Run, type RunCounts } from "../run.ts";
import { countByEvaluator, type ResultCountsRow, resultsParts } from "./external-results-store.ts";
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

const maxRuns = 1_000;
/** Deleted results are noticed after this time. */
const recountAfterMs = 10 * 60_000;

/** A process's. */
export function createExternalCounts(): ExternalCounts {
  return new LRUCache({ max: maxRuns, ttl: recountAfterMs });
}

type Services = Pick<EvaluationServices, "store" | "externalCounts">;

/** An external run with the evaluators and the progress that its results tell. Others have their own. */
export async function withResults(services: Services, requester: Requester, run: Run): Promise<Run> {
  if (!isExternal(run)) return run;
  const evaluators = await countResultsOf(services, requester, run);
  const sorted = [...evaluators].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one);
  return { ...run, externalEvaluators: sorted.map(({ names }) => names), counts: toCounts(sorted) };
}

async function countResultsOf(
  { store, externalCounts }: Services,
  requester: Requester,
  run: Run,
): Promise<CountedResults["evaluators"]> {
  const reader = store.briefReader(requester);
  // Before the results are read: a number up to this one is never taken again.
  const settled = await selectLastSettled(reader);
  const known = externalCounts.get(run.id) ?? { upTo: 0, evaluators: new Map() };
  const added = await countParts(reader, run, { after: known.upTo, upTo: settled });
  const evaluators = addUp(known.evaluators, added);
  const last = added.reduce((highest, { last_id }) => Math.max(highest, last_id), known.upTo);
  const upTo = settled ?? last;
  // Another look may have been faster. The time of the first is kept, after which everything is counted again.
  if (upTo > (externalCounts.get(run.id)?.upTo ?? -1))
    externalCounts.set(run.id, { upTo, evaluators }, { noUpdateTTL: true });
  if (settled === undefined) return evaluators;
  return addUp(evaluators, await countParts(reader, run, { after: upTo }));
}

async function countParts(
  reader: Database,
  run: Run,
  range: { after: number; upTo?: number | undefined },
): Promise<ResultCountsRow[]> {
  const rows: ResultCountsRow[] = [];
  for (const part of resultsParts) rows.push(...(await countByEvaluator(reader, run, part, range)));
  return rows;
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
