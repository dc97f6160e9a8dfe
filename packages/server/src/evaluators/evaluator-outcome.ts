import type { ConfidenceInterval, EvaluationStatus, ExplainStrategy } from "@presage/contract";
import type { Micros } from "../platform/storage/micros.ts";

/** A stretch of the output: first character and the one after the last, in Unicode code points from 0. */
export type Position = readonly [start: number, end: number];

/** A family's verdict on a sample. */
export interface Verdict {
  pass: boolean;
  /** From 0 to 1, where 1 is best. Only a judge may give none. */
  score?: number | undefined;
  /** The parts of the output that led to the verdict. */
  positions?: readonly Position[] | undefined;
  /** The family's own details, as JSON. */
  extra?: Record<string, unknown>;
  /** Says where and why, for a person. Called only if an explanation is wanted. */
  explain(): string;
}

/** How an evaluator ended on a sample: its verdict, or why there is none. Plain data: it crosses threads and is stored. */
export interface EvaluatorOutcome {
  status: EvaluationStatus;
  /** A code, a colon and a sentence; only without success. */
  errorMessage?: string | undefined;
  pass?: boolean | undefined;
  score?: number | undefined;
  positions?: readonly Position[] | undefined;
  extra?: Readonly<Record<string, unknown>> | undefined;
  confidenceInterval?: ConfidenceInterval | undefined;
  explanation?: string | undefined;
  evaluationMicros?: Micros | undefined;
  explanationMicros?: Micros | undefined;
}

/** Whether an evaluation should have a verdict and has none. */
export function hasFailed({ status }: { status: EvaluationStatus }): boolean {
  return status !== "success" && status !== "not_applicable";
}

export function isExplained(strategy: ExplainStrategy, pass: boolean): boolean {
  return strategy === "always" || strategy === (pass ? "on-success" : "on-fail");
}
