import type { EvaluationStatus, ExplainStrategy } from "@presage/contract";
import type { Micros } from "../../../storage/micros.ts";

/** All given filters must match. */
export interface ResultFilter {
  app?: string | undefined;
  evaluatorId?: string | undefined;
  /** Absent: any status. */
  status?: EvaluationStatus | undefined;
  evaluatorFamily?: string | undefined;
  profileName?: string | undefined;
  profilePublicId?: string | undefined;
  datasetId?: string | undefined;
  runId?: string | undefined;
  explainStrategy?: ExplainStrategy | undefined;
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
}

export interface Page {
  order: "newest-first" | "oldest-first";
  limit: number;
  /** Longer texts are cut to this; absent: texts are whole. */
  maxTextCharacters?: number | undefined;
}
