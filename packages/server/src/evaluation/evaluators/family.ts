import type { z } from "zod";
import type { Verdict } from "../evaluator-outcome.ts";
import type { Sample, SampleField } from "../sample.ts";

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
