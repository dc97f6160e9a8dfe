import type { EvaluationStatus, ExplainStrategy } from "@presage/contract";
import type { Micros } from "../../../storage/micros.ts";

/** Which results are wanted: those that everything that is given fits. */
export interface ResultFilter {
  app?: string | undefined;
  evaluatorId?: string | undefined;
  /** Of any status where absent. */
  status?: EvaluationStatus | undefined;
  evaluatorFamily?: string | undefined;
  profileName?: string | undefined;
  profilePublicId?: string | undefined;
  datasetId?: string | undefined;
  runId?: string | undefined;
  explainStrategy?: ExplainStrategy | undefined;
  /** All of them must match. */
  tags?: Readonly<Record<string, string>> | undefined;
  /** This and the score's bounds look at the verdict that counts, which is the latest correction's. */
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

/** A filter of one status. Results without a verdict are found by theirs only. */
export interface SearchFilter extends ResultFilter {
  status: EvaluationStatus;
}

export interface Page {
  order: "newest-first" | "oldest-first";
  limit: number;
  /** Longer texts come cut to this; absent, they come whole. */
  maxTextCharacters?: number | undefined;
}
