import type { EvaluationStatus, ExplainStrategy } from "@presage/contract";
import type { Micros } from "../../platform/storage/micros.ts";

/** All given filters must match. */
export interface ResultFilter {
  app?: string | undefined;
  projectId?: string | undefined;
  experimentId?: string | undefined;
  evaluatorId?: string | undefined;
  /** True: only imported results. */
  isExternal?: true | undefined;
  /** Absent: any status. */
  status?: EvaluationStatus | undefined;
  evaluatorFamily?: string | undefined;
  profileName?: string | undefined;
  profilePublicId?: string | undefined;
  profileRevision?: number | undefined;
  datasetId?: string | undefined;
  /** A number and the text of its digits are the same sample. */
  datasetSampleId?: number | string | undefined;
  runId?: string | undefined;
  /** Only results of runs, or only those that belong to none. */
  hasRun?: boolean | undefined;
  explainStrategy?: ExplainStrategy | undefined;
  /** Only results with an explanation, or only those without one. */
  isExplained?: boolean | undefined;
  /** All of them must match. */
  tags?: Readonly<Record<string, string>> | undefined;
  /** This and the score's bounds apply to the verdict that counts: the latest correction's, otherwise the evaluator's. */
  pass?: boolean | undefined;
  minScore?: number | undefined;
  maxScore?: number | undefined;
  /** Only later ones. */
  createdAfter?: Micros | undefined;
  /** Only earlier ones. */
  createdBefore?: Micros | undefined;
  /** Only greater ids. */
  afterId?: number | undefined;
  /** Only smaller ids. */
  beforeId?: number | undefined;
}

/** A filter of one status. Results without a verdict are found only by their status. */
export interface SearchFilter extends ResultFilter {
  status: EvaluationStatus;
  /** Any of these samples. */
  datasetSampleIds?: readonly (number | string)[] | undefined;
}

export type TimeOrder = "newest-first" | "oldest-first";

/** By the ids of their samples, or by their scores, then by their own ids. Results without are left out. */
export type ColumnOrder =
  | "first-sample-first"
  | "last-sample-first"
  | "lowest-score-first"
  | "highest-score-first";

export interface SearchPage<Order = TimeOrder> {
  order: Order;
  limit: number;
  /** Longer texts are cut to this; absent: texts are whole. */
  maxTextCharacters?: number | undefined;
}
