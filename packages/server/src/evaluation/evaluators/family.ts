import type { z } from "zod";
import type { Sample, SampleField } from "../sample.ts";

/** A stretch of the output: first character and the one after the last, in Unicode code points from 0. */
export type Position = readonly [start: number, end: number];

/** What an evaluator says of a sample. */
export interface Verdict {
  pass: boolean;
  /** From 0 to 1, and 1 is best. */
  score: number;
  /** Where in the output the verdict comes from. */
  positions?: readonly Position[];
  /** Figures and findings of the family's own, as JSON. */
  extra?: Record<string, unknown>;
  /** Says where and why, for a person. Asked for only if somebody wants to know. */
  explain(): string;
}

/** A profile that comes with Presage. Its name begins with `system:`. */
export interface BuiltInProfile<Config> {
  name: `system:${string}`;
  description: string;
  config: Config;
}

interface FamilyParts<Config> {
  /** Also the alias of its newest evaluator. */
  name: string;
  /** One sentence for people who choose among families. */
  description: string;
  /** Dates of its versions (YYYY-MM-DD), the newest first. A version that changes scores is a new one. */
  versions: readonly [string, ...string[]];
  /** Without these a sample cannot be evaluated. */
  needs: readonly SampleField[];
  /** These are looked at if they are there. */
  takes?: readonly SampleField[];
  /** What a sample needs besides, as the config wants it. */
  needsWith?(config: Config): readonly SampleField[];
  /** Checks a profile's config and fills in its defaults. Strict: what it does not know is a mistake. */
  config: z.ZodType<Config>;
  builtInProfiles: readonly BuiltInProfile<Config>[];
}

/** The part of a config's check that may take long. The family's schema leaves it out where it is needed. */
export interface ExpensiveCheck<Config> {
  isNeeded(config: Config): boolean;
  /** Throws an `Error` that says what is wrong with the field at `path`. */
  run(config: Config): void;
  path: readonly string[];
}

/** A family whose verdict follows from the sample and the profile alone. */
export interface RuleFamily<Config> extends FamilyParts<Config> {
  kind: "rule";
  /**
   * How long the texts that it needs may be together. Longer ones are unusable: what is made of them to be compared takes
   * some hundred bytes a character, and several may be in the threads at once. Absent: as long as a request lets them be.
   */
  maxCharacters?: number;
  /** What of a config's check would hold up the main thread: it is done in another one, under a deadline. */
  expensiveCheck?: ExpensiveCheck<Config>;
  /** Reads a config once for many samples. */
  prepare(config: Config): (sample: Sample) => Verdict;
  /** Whether this sample takes longer than a millisecond or so: it then runs beside the main thread, under a deadline. */
  isExpensive?(sample: Sample, config: Config): boolean;
}

/** What a model-backed evaluation is told beside the sample. */
export interface ModelCall<Config> {
  config: Config;
  accountId: string;
  profilePublicId: string;
  /** Aborted at the evaluation's deadline, and when the caller hangs up. */
  signal: AbortSignal;
  /** Says whether the whole request may ask a model once more after a failure, and counts it. */
  mayRetry(): boolean;
}

/** A family that asks a model. */
export interface ModelFamily<Config> extends FamilyParts<Config> {
  kind: "model";
  evaluate(sample: Sample, call: ModelCall<Config>): Promise<Verdict>;
}

/** Any family. Its config must have gone through its own schema. */
export type Family = RuleFamily<unknown> | ModelFamily<unknown>;

/** The profile that a family uses when none is named. */
export const defaultProfileName = "system:default";

/** Why an evaluation came to no verdict: a word for programs and a sentence for people. */
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
  | "judge_context_exceeded"
  | "judge_error"
  | "no_such_taxonomy"
  | "invalid_profile";

/** An evaluation that came to no verdict. It is never a fail. */
export class EvaluationError extends Error {
  readonly code: EvaluationErrorCode;

  constructor(code: EvaluationErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = "EvaluationError";
    this.code = code;
  }
}

/** A sample that has what the family needs, but not in a form that it can use; for example a gold answer that is no JSON. */
export class UnusableSampleError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "UnusableSampleError";
  }
}
