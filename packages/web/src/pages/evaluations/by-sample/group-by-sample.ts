import type { ResultRow } from "../../../data/evaluation/evaluation-results.ts";

/** All results about one sample, of one run. */
export interface SampleRow {
  /** The id of its first result. */
  id: string;
  sampleId: string;
  datasetId: string | null;
  runId: string | null;
  results: readonly ResultRow[];
}

/** Results as one row a sample, dataset and run, in the order in which these come first. */
export function groupBySample(results: readonly ResultRow[]): SampleRow[] {
  const rows = new Map<string, SampleRow & { results: ResultRow[] }>();
  for (const result of results) {
    const { dataset_sample_id, dataset_id: datasetId, evaluation_run_id: runId } = result;
    const sampleId = String(dataset_sample_id);
    const key = JSON.stringify([sampleId, datasetId, runId]);
    const row = rows.get(key);
    if (row === undefined) rows.set(key, { id: result.id, sampleId, datasetId, runId, results: [result] });
    else row.results.push(result);
  }
  return [...rows.values()].map((row) => ({ ...row, results: oldestFirst(row.results) }));
}

/** Each result once. Ids are in the order of time. */
function oldestFirst(results: readonly ResultRow[]): ResultRow[] {
  const each = new Map(results.map((result) => [result.id, result]));
  return [...each.values()].sort((one, other) => Number(one.id) - Number(other.id));
}

/** An evaluator with a profile, whose verdicts are a column. */
export interface Judge {
  evaluator: string;
  profile: string | null;
}

export interface CountedJudge extends Judge {
  /** How many results match the filter. */
  count: number;
}

/** The results of one judge about a sample, the last one first: it counts. */
export function resultsOf({ results }: SampleRow, { evaluator, profile }: Judge): ResultRow[] {
  return results
    .filter(({ evaluator_id, profile_name }) => evaluator_id === evaluator && profile_name === profile)
    .toReversed();
}
