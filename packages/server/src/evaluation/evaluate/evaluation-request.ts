import type { ExplainStrategy } from "@presage/contract";
import type { ResultMetadata } from "../results/record/evaluation-record.ts";
import type { Sample } from "../sample.ts";

/** One evaluator that a caller wants to run. */
export interface WantedEvaluator {
  /** An id, or an alias. */
  evaluator: string;
  /** Absent: the family's default. */
  profileName?: string;
  explainStrategy: ExplainStrategy;
}

/** A request to evaluate a sample. */
export interface EvaluationRequest {
  accountId: string;
  sample: Sample;
  evaluators: readonly WantedEvaluator[];
  metadata: ResultMetadata;
  /** Which results are kept: all, all but what passed, or none. */
  capture: "all" | "fails-only" | "none";
  /** Whether each score is put beside the interval of all earlier ones. */
  hasConfidenceInterval: boolean;
  /** The caller's own word for this order. A verdict that was kept under it is answered again, not found again. */
  idempotencyKey?: string;
}

/** Why one of the wanted evaluators cannot be run. */
export interface Refusal {
  /** Its place in the order. */
  index: number;
  field: "evaluator" | "profileName";
  /** Absent where the caller named nothing and had to. */
  message: string | undefined;
}

/** An order that names what is not there. Nothing of it was run. */
export class InvalidEvaluatorsError extends Error {
  readonly refusals: readonly Refusal[];

  constructor(refusals: readonly Refusal[]) {
    super("The order names evaluators or profiles that cannot be used.");
    this.name = "InvalidEvaluatorsError";
    this.refusals = refusals;
  }
}
