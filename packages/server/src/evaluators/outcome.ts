import type { ConfidenceInterval, EvaluationStatus, ExplainStrategy } from "@presage/contract";
import type { Micros } from "../platform/storage/columns.ts";

/** Why an evaluation failed, machine-readable. */
export type EvaluationErrorCode =
  | "timeout"
  | "overloaded"
  | "internal_error"
  | "needs_model"
  | "judge_unreachable"
  | "judge_rate_limited"
  | "judge_refused"
  | "judge_truncated"
  | "judge_invalid_verdict"
  | "contradictory_verdict"
  | "judge_context_exceeded"
  | "judge_error"
  | "no_such_taxonomy"
  | "invalid_profile";

/** An evaluation without a verdict. It never counts as a fail. */
export class EvaluationError extends Error {
  readonly code: EvaluationErrorCode;

  constructor(code: EvaluationErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = "EvaluationError";
    this.code = code;
  }
}

/** A sample that has what the family needs, but not in a form that it can use; for example a gold answer that is not JSON. */
export class UnusableSampleError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "UnusableSampleError";
  }
}

/** Refuses texts that take a profile too much memory. */
export function refuseLonger(characters: number, most: number): void {
  if (characters <= most) return;
  throw new UnusableSampleError(
    `The profile accepts at most ${most} characters of text in all; this sample has ${characters}.`,
  );
}

/** A sample that is left out of the measure, whatever the output is, so that the same samples count for every model. */
export class NotApplicableError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "NotApplicableError";
  }
}

/** An error that no evaluator throws on purpose. The cause is for the log: it may quote the sample, so the message leaves it out. */
export function internalError(cause: unknown): EvaluationError {
  return new EvaluationError("internal_error", "Internal error in the evaluator.", { cause });
}

export function timeoutError(timeoutMs: number): EvaluationError {
  return new EvaluationError("timeout", `No verdict within ${timeoutMs} ms.`);
}

export function needsModel(): EvaluationError {
  return new EvaluationError(
    "needs_model",
    "A judge needs a model; set PRESAGE_UPSTREAM_URL or PRESAGE_JUDGE_URL.",
  );
}

/** The outcome of an evaluation that ended with `error`; undefined if no evaluator throws it on purpose. */
export function outcomeOfError(error: unknown): EvaluatorOutcome | undefined {
  if (error instanceof UnusableSampleError) return unusable("unusable_input", error.message);
  if (error instanceof NotApplicableError)
    return { status: "not_applicable", errorMessage: `not_applicable: ${error.message}` };
  if (!(error instanceof EvaluationError)) return undefined;
  const status = error.code === "contradictory_verdict" ? "contradictory" : "failed";
  return { status, errorMessage: `${error.code}: ${error.message}` };
}

export function unusable(code: "missing_input" | "unusable_input", message: string): EvaluatorOutcome {
  return { status: "validation_error", errorMessage: `${code}: ${message}` };
}

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

/** The code that the error message starts with; undefined if there is none. */
export function errorCodeOf({ errorMessage }: EvaluatorOutcome): string | undefined {
  return errorMessage?.split(":", 1)[0];
}

/** Whether an evaluation should have a verdict and has none. */
export function hasFailed({ status }: { status: EvaluationStatus }): boolean {
  return status !== "success" && status !== "not_applicable";
}

export function isExplained(strategy: ExplainStrategy, pass: boolean): boolean {
  return strategy === "always" || strategy === (pass ? "on-success" : "on-fail");
}

export const externalPrefix = "external:";

/** An imported evaluator as responses name it, so that it does not look like one of Presage's. */
export function toExternalName(name: string): string {
  return externalPrefix + name;
}

/** The texts that an evaluator looks at: what a model was given, and its output. */
export interface Sample {
  systemPrompt?: string | undefined;
  retrievedContext?: readonly string[] | undefined;
  input?: string | undefined;
  output?: string | undefined;
  goldAnswer?: string | undefined;
}

export type SampleField = keyof Sample;

/** The names of the fields in the API, for messages and for the list of families. */
export const sampleFieldNames: Readonly<Record<SampleField, string>> = {
  systemPrompt: "evaluated_model_system_prompt",
  retrievedContext: "evaluated_model_retrieved_context",
  input: "evaluated_model_input",
  output: "evaluated_model_output",
  goldAnswer: "evaluated_model_gold_answer",
};

/** The needed fields that a sample lacks. An empty text is present; an empty list of texts is not. */
export function missingFields(sample: Sample, needed: readonly SampleField[]): SampleField[] {
  return needed.filter((field) => {
    const value = sample[field];
    return value === undefined || (Array.isArray(value) && value.length === 0);
  });
}

const allFields = Object.keys(sampleFieldNames) as SampleField[];

/** The total length of all texts, or of those in some fields. */
export function charactersOf(sample: Sample, fields: readonly SampleField[] = allFields): number {
  let characters = 0;
  // No list of the texts is built, because this is called five times for each evaluation.
  for (const field of fields) {
    const value = sample[field] ?? "";
    if (typeof value === "string") characters += value.length;
    else for (const text of value) characters += text.length;
  }
  return characters;
}
