import type { ExplainStrategy } from "@presage/contract";
import type { Micros } from "../../../storage/schema/tables.ts";
import type { EvaluatorOutcome } from "../../evaluator-outcome.ts";
import type { Sample } from "../../sample.ts";

/** What a result is filed under, as the caller told. */
export interface Filing {
  app: string;
  tags?: Readonly<Record<string, string>>;
  datasetId?: string;
  datasetSampleId?: number | string;
  runId?: string;
  runProjectId?: string;
  evaluatedModel?: EvaluatedModel;
}

/** The model whose output is evaluated. */
export interface EvaluatedModel {
  id?: string;
  name?: string;
  provider?: string;
  params?: Readonly<Record<string, unknown>>;
  selectedModel?: string;
}

/** The profile, and which revision of it, that a result was made with. A result from elsewhere knows at most a name. */
export interface UsedProfile {
  name: string;
  publicId?: string;
  revision?: number;
}

/** One evaluation, before it is kept. */
export interface EvaluationRecord {
  accountId: string;
  evaluatorId: string;
  /** Absent for a result that was made elsewhere. */
  evaluatorFamily?: string;
  profile?: UsedProfile;
  explainStrategy: ExplainStrategy;
  isExternal: boolean;
  /** Under which it is kept once and no second time. */
  requestKey?: string | undefined;
  sample: Sample;
  filing: Filing;
  outcome: EvaluatorOutcome;
}

/** What a person said about a verdict. */
export interface Correction {
  pass: boolean;
  score: number | undefined;
  comment: string | undefined;
  createdAt: Micros;
}

/** One evaluation as it is kept. */
export interface KeptResult extends EvaluationRecord {
  id: number;
  createdAt: Micros;
  /** The latest. */
  correction?: Correction;
}
