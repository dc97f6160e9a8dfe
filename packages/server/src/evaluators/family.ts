import type { z } from "zod";
import type { JudgeCall } from "./judge/judge-model.ts";
import type { Sample, SampleField, Verdict } from "./outcome.ts";

/** A built-in profile. Its name begins with `system:`. */
export interface BuiltInProfile<Given = unknown> {
  name: `system:${string}`;
  description: string;
  config: Given;
}

interface FamilyBase<Config, Given> {
  /** Also the alias of its newest evaluator. */
  name: string;
  /** One sentence for people who choose a family. */
  description: string;
  /** Dates of its versions (YYYY-MM-DD), the newest first. A change that alters scores is a new version. */
  versions: readonly [string, ...string[]];
  /** A sample without one of these cannot be evaluated. */
  needs: readonly SampleField[];
  /** Fields that are used if they are present. */
  takes?: readonly SampleField[];
  /** Further fields that this config requires. */
  needsWith?(config: Config): readonly SampleField[];
  /** The lowest score that passes, in a family whose verdict is a score against a threshold. */
  threshold?(config: Config): number;
  /** Checks a profile's config and fills in its defaults. Strict: it rejects fields that it does not know. */
  config: z.ZodType<Config, Given>;
  /** These never change, because earlier results name them. A setting that was added later has its default. */
  builtInProfiles: readonly BuiltInProfile<NoInfer<Given>>[];
}

/** The part of a config's check that may take long. If it is needed, the family's schema leaves it out. */
export interface ExpensiveCheck<Config> {
  isNeeded(config: Config): boolean;
  /** Throws an `Error` that says what is wrong with the field at `path`. */
  run(config: Config): void;
  path: readonly string[];
}

interface RuleFamilyOf<Config, Given> extends FamilyBase<Config, Given> {
  kind: "rule";
  /**
   * Maximum length of the texts that it needs, all together; longer ones are unusable. Comparing them takes some hundred bytes per
   * character, and several may be in the threads at the same time. If absent, only the request's own limit applies.
   */
  maxCharacters?: number;
  /** The part of a config's check that would block the main thread. It runs in another thread, under a deadline. */
  expensiveCheck?: ExpensiveCheck<Config>;
  /** Reads a config once for many samples. */
  prepare(config: Config): (sample: Sample) => Verdict;
  /**
   * About how many milliseconds this sample takes. Above 1 it runs in another thread, under a deadline, and behind those of its
   * account that take far less. If absent, hardly any.
   */
  estimateMs?(sample: Sample, config: Config): number;
}

interface ModelFamilyOf<Config, Given> extends FamilyBase<Config, Given> {
  kind: "model";
  evaluate(sample: Sample, call: ModelCall<Config>): Promise<Verdict>;
}

/** What an evaluation by a model is given besides the sample. */
export interface ModelCall<Config = unknown> extends JudgeCall {
  config: Config;
  /** Whether the gold answer is shown even if the profile does not need it. */
  showsGold?: boolean | undefined;
}

/** A family whose verdict depends on the sample and the profile alone. */
export type RuleFamily = RuleFamilyOf<unknown, unknown>;

/** A family that asks a model. */
export type ModelFamily = ModelFamilyOf<unknown, unknown>;

export type Family = RuleFamily | ModelFamily;

/** Hides the type of a family's configs: each config that reaches the family has passed its schema. */
export function defineFamily<Config, Given>(family: RuleFamilyOf<Config, Given>): RuleFamily;
export function defineFamily<Config, Given>(family: ModelFamilyOf<Config, Given>): ModelFamily;
export function defineFamily(family: Family): Family {
  return family;
}
