import type { EvaluationStatus } from "@presage/contract";
import type { Generated } from "kysely";
import type { Flag } from "../flag.ts";

/**
 * Results that are counted together: everything that a summary can filter and group by, except the day. Each result is in two
 * series, one of its run and one of all runs: runs are many, and most summaries are not about them.
 */
export interface EvaluationSeriesTable {
  id: string;
  account_id: string;
  app: string;
  evaluator_id: string;
  /** Here and below, an empty text or 0 means none. */
  evaluator_family: string;
  profile_name: string;
  profile_public_id: string;
  profile_revision: number;
  /** 1: results with and without a run are counted; `run_id` is empty. */
  spans_runs: Flag;
  run_id: string;
}

/** A result's verdict, or why it has none. `none` is a success without a pass. */
export type CountedVerdict = "pass" | "fail" | "none" | Exclude<EvaluationStatus, "success">;

/** Results of a series on one day, by verdict and score: the rollup that summaries read. */
export interface EvaluationCountsTable {
  series_id: string;
  /** Days since 1970-01-01 UTC. */
  day: number;
  verdict: CountedVerdict;
  /** In thousandths, rounded; -1 without a score. */
  score_mille: number;
  count: number;
  score_sum: number;
  score_sum_of_squares: number;
}

/**
 * An account's results of one day over all series. On PostgreSQL, what is not folded yet is missing. Only triggers on `evaluation_counts`
 * write it, so that processes of the version before count in it as well.
 */
export interface EvaluationTotalCountsTable extends Omit<EvaluationCountsTable, "series_id"> {
  account_id: string;
}

/** One row: the number up to which results are counted by tag. It only moves forward, unless everything is counted again. */
export interface EvaluationTagProgressTable {
  up_to: number;
}

/** Every name of a tag among the results that are counted by tag. */
export interface EvaluationTagNamesTable {
  account_id: string;
  name: string;
  /** The last result that is counted if the name has too many values to count more; otherwise null. */
  counted_up_to: number | null;
}

/** The tags that are counted. */
export interface EvaluationTagValuesTable {
  id: Generated<number>;
  account_id: string;
  name: string;
  value: string;
}

/** Results with the same tag that are counted together, with and without a run. */
export interface EvaluationTagSeriesTable
  extends Omit<EvaluationSeriesTable, "id" | "account_id" | "spans_runs" | "run_id"> {
  id: Generated<number>;
  tag_id: number;
}

/** Results of such a series by day, by the evaluator's verdict and by its score: corrections are not included. */
export interface EvaluationTagCountsTable extends Omit<EvaluationCountsTable, "series_id"> {
  series_id: number;
}

/** How often an account's evaluations against a revision of an error taxonomy found each kind of error, by day. */
export interface ErrorFindingCountsTable {
  account_id: string;
  revision_id: string;
  /** Days since 1970-01-01 UTC. */
  day: number;
  /** A digest of the path, which may be too long for a key. */
  path_id: string;
  /** JSON, the names from the root down. The empty path counts the evaluations themselves, with or without errors. */
  path: string;
  count: number;
}
