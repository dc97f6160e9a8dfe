import type { ExplainStrategy } from "@presage/contract";
import type { Actor } from "../platform/actor.ts";
import type { EvaluatedSpan } from "../platform/observability/tracing.ts";
import type { NewProject } from "../results/create-project.ts";
import type { ResultMetadata } from "../results/evaluation-record.ts";
import type { Sample } from "./sample.ts";

/** One evaluator of a request. */
export interface WantedEvaluator {
  /** An id, or an alias. */
  evaluator: string;
  /** Absent: the family's default. */
  profileName?: string | undefined;
  explainStrategy: ExplainStrategy;
}

/** A request to evaluate a sample. */
export interface EvaluationRequest {
  accountId: string;
  /** Who evaluates, and so who creates the project. */
  actor: Actor;
  /** Calls to judges' models count for it. Absent: they count for no key. */
  keyId?: string | undefined;
  sample: Sample;
  evaluators: readonly WantedEvaluator[];
  metadata: ResultMetadata;
  /** In place of the metadata's project id. It is created, if there is none of this name, when a result is to be stored. */
  project?: NewProject | undefined;
  /** Which results are stored: all, all that did not pass, or none. */
  capture: "all" | "fails-only" | "none";
  /** Whether each score comes with the interval of all earlier ones. */
  hasConfidenceInterval: boolean;
  /** The client's name for this request. A verdict that is stored under it is returned again instead of being found again. */
  idempotencyKey?: string | undefined;
  /** Calls to models are traced below it. */
  span?: EvaluatedSpan | undefined;
}

/** Why one of the wanted evaluators cannot be run. */
export interface EvaluatorIssue {
  /** Its place in the request. */
  index: number;
  field: "evaluator" | "profileName";
  /** Absent if the client left out a name that is required. */
  message: string | undefined;
}

/** A request that names evaluators or profiles that do not exist. Nothing of it was run. */
export class InvalidEvaluatorsError extends Error {
  readonly issues: readonly EvaluatorIssue[];

  constructor(issues: readonly EvaluatorIssue[]) {
    super("The request names evaluators or profiles that cannot be used.");
    this.name = "InvalidEvaluatorsError";
    this.issues = issues;
  }
}
