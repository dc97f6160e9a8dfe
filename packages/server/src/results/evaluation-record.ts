import type { ExplainStrategy } from "@presage/contract";
import type { EvaluatorOutcome, Sample } from "../evaluators/outcome.ts";
import type { Micros } from "../platform/storage/micros.ts";

/** What the caller stores a result under, to find and group it later. */
export interface ResultMetadata {
  app: string;
  tags?: Readonly<Record<string, string>> | undefined;
  datasetId?: string | undefined;
  datasetSampleId?: number | string | undefined;
  runId?: string | undefined;
  runProjectId?: string | undefined;
  projectId?: string | undefined;
  experimentId?: string | undefined;
  evaluatedModel?: EvaluatedModel | undefined;
}

/** The model whose output is evaluated. */
export interface EvaluatedModel {
  id?: string | undefined;
  name?: string | undefined;
  provider?: string | undefined;
  params?: Readonly<Record<string, unknown>> | undefined;
  selectedModel?: string | undefined;
}

/** The profile revision that a result was made with. Of an imported result at most the name is known. */
export interface UsedProfile {
  name: string;
  publicId?: string | undefined;
  revision?: number | undefined;
}

/** One evaluation, before it is stored. */
export interface EvaluationRecord {
  accountId: string;
  evaluatorId: string;
  /** Absent for an imported result. */
  evaluatorFamily?: string | undefined;
  profile?: UsedProfile | undefined;
  explainStrategy: ExplainStrategy;
  isExternal: boolean;
  /** At most one result of an account is stored under it. */
  requestKey?: string | undefined;
  sample: Sample;
  metadata: ResultMetadata;
  outcome: EvaluatorOutcome;
}

/** What a person said about a verdict. */
export interface Correction {
  pass: boolean;
  score: number | undefined;
  comment: string | undefined;
  createdAt: Micros;
}

/** One evaluation as it is stored. */
export interface StoredResult extends EvaluationRecord {
  id: number;
  createdAt: Micros;
  /** The latest. */
  correction?: Correction | undefined;
}
