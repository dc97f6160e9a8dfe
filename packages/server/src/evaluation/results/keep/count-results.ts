import type { EvaluationStatus } from "@presage/contract";
import { microsPerDay } from "../../../storage/micros.ts";
import type {
  CountedVerdict,
  EvaluationCountsTable,
  EvaluationSeriesTable,
} from "../../../storage/schema/evaluation-rollup.ts";
import { toFlag } from "../../../storage/schema/flag.ts";
import type { EvaluationRecord, StoredResult } from "../record/evaluation-record.ts";
import { toThousandths } from "../record/result-rows.ts";

/** Namespace of series ids; any fixed UUID would do. */
const seriesNamespace = "5d0cf7a4-3c4b-4d5e-9b0a-6a4f6f1f2c11";

export interface Counted {
  series: EvaluationSeriesTable[];
  counts: EvaluationCountsTable[];
}

/** The verdict as the rollup spells it. */
function verdictOf(status: EvaluationStatus, pass: boolean | undefined): CountedVerdict {
  if (status !== "success") return status;
  if (pass === undefined) return "none";
  return pass ? "pass" : "fail";
}

/** What the rollup needs to know about a result. */
export type Countable = Pick<
  StoredResult,
  "accountId" | "evaluatorId" | "evaluatorFamily" | "profile" | "createdAt"
> & {
  metadata: Pick<StoredResult["metadata"], "app" | "runId">;
  outcome: Pick<StoredResult["outcome"], "status" | "pass" | "score">;
};

/** The series that results will be counted in. */
export function seriesOf(records: readonly EvaluationRecord[]): EvaluationSeriesTable[] {
  const series = new Map<string, EvaluationSeriesTable>();
  for (const record of records) {
    for (const spansRuns of [true, false]) addSeriesOf(series, record, spansRuns);
  }
  return [...series.values()];
}

/** What results add to the rollup. */
export function countResults(results: readonly Countable[]): Counted {
  const series = new Map<string, EvaluationSeriesTable>();
  const counts = new Map<string, EvaluationCountsTable>();
  for (const result of results) {
    for (const spansRuns of [true, false]) addOne(counts, addSeriesOf(series, result, spansRuns).id, result);
  }
  return { series: [...series.values()], counts: [...counts.values()] };
}

function addOne(
  counts: Map<string, EvaluationCountsTable>,
  seriesId: string,
  { outcome, createdAt }: Countable,
): void {
  const cell = {
    series_id: seriesId,
    day: Math.floor(createdAt / microsPerDay),
    verdict: verdictOf(outcome.status, outcome.pass),
    score_mille: outcome.score === undefined ? -1 : toThousandths(outcome.score),
  };
  const key = `${cell.series_id} ${cell.day} ${cell.verdict} ${cell.score_mille}`;
  const count = counts.get(key) ?? { ...cell, count: 0, score_sum: 0, score_sum_of_squares: 0 };
  const score = outcome.score ?? 0;
  count.count += 1;
  count.score_sum += score;
  count.score_sum_of_squares += score * score;
  counts.set(key, count);
}

function addSeriesOf(
  known: Map<string, EvaluationSeriesTable>,
  result: Omit<Countable, "createdAt">,
  spansRuns: boolean,
): EvaluationSeriesTable {
  const dimensions = {
    account_id: result.accountId,
    app: result.metadata.app,
    evaluator_id: result.evaluatorId,
    evaluator_family: result.evaluatorFamily ?? "",
    profile_name: result.profile?.name ?? "",
    profile_public_id: result.profile?.publicId ?? "",
    profile_revision: result.profile?.revision ?? 0,
    spans_runs: toFlag(spansRuns),
    run_id: spansRuns ? "" : (result.metadata.runId ?? ""),
  };
  const key = JSON.stringify(Object.values(dimensions));
  // The id follows from the dimensions, so that processes need not agree on it.
  const series = known.get(key) ?? { id: Bun.randomUUIDv5(key, seriesNamespace), ...dimensions };
  known.set(key, series);
  return series;
}
