import type { EnvironmentConfig, EpisodeReward, EpisodeStop } from "@presage/contract";
import type { Registry } from "../evaluators/registry.ts";
import { InvalidEvaluatorsError, resolveEvaluators } from "../evaluators/resolve-evaluators.ts";
import { regex } from "../evaluators/rules/regex.ts";
import type { RunEvaluator } from "../evaluators/run-evaluator.ts";
import { ServiceError } from "../platform/errors.ts";
import { createRetryBudget } from "../platform/limits/deadline.ts";
import { toStorableText } from "../platform/storage/columns.ts";
import type { Requester, Store } from "../platform/storage/store.ts";
import type { ResultWriter } from "../results/write/result-writer.ts";
import { findReferred, type KnownWorlds } from "../worlds/find-world.ts";

/** How long the evaluator of a step may block the main thread. */
const mainThreadMs = 5;
/** The app under which the results of episodes' rewards are stored. */
const app = "episodes";

export interface JudgeServices {
  store: Store;
  registry: Registry;
  runEvaluator: RunEvaluator;
  resultWriter: Pick<ResultWriter, "write">;
}

/** A step as an evaluator sees it. */
export interface JudgedStep {
  accountId: string;
  /** The key that the episode was started with; calls to a model are counted for it. */
  keyId: string | undefined;
  evaluator: string;
  profileName: string | undefined;
  /** The state and the action. */
  input: string;
  observation: string;
  goal: string | undefined;
  /** The stored result can be found by these tags. */
  tags: Readonly<Record<string, string>>;
}

/** The score of a step, or why a score is missing that should exist. */
export interface Reward {
  reward: number | null;
  error: string | null;
}

/** The field of a rule whose pattern cannot be used, and why; undefined if all patterns can. */
export function findRuleIssue(rule: EpisodeStop): { field: string; message: string } | undefined {
  for (const [field, pattern] of Object.entries(rule)) {
    const parsed = field.endsWith("_matches") ? regex.config.safeParse({ pattern }) : undefined;
    const message = parsed?.error?.issues[0]?.message;
    if (message !== undefined) return { field, message };
  }
  return undefined;
}

/** Whether a pattern matches is not known: it took too long, or no thread was free. */
export class UndecidedRuleError extends ServiceError {}

/** Whether a part of a text matches a pattern, by the regex evaluator, which has a thread and a deadline for long texts. */
export async function matches(
  { runEvaluator }: { runEvaluator: RunEvaluator },
  { accountId, signal }: Requester,
  pattern: string,
  text: string,
): Promise<boolean> {
  // Compiled patterns are kept by the id of their profile.
  const profile = { publicId: `stop/${pattern}`, name: "stop", revision: 1, config: { pattern } };
  const allowance = { mainThreadMs, mayRetry: () => false };
  const task = { family: regex, profile, sample: { output: text }, accountId, allowance };
  const outcome = await runEvaluator({ ...task, explainStrategy: "never" }, signal);
  if (outcome.status === "success") return outcome.pass === true;
  throw new UndecidedRuleError(
    "overloaded",
    `A rule of the environment could not be decided: ${outcome.errorMessage ?? "no reason is known"}`,
    { retryAfterS: 1 },
  );
}

function toWanted({ evaluator, profileName }: Pick<JudgedStep, "evaluator" | "profileName">) {
  return { evaluator, profileName, explainStrategy: "never" as const };
}

/** The definition of an environment's rewards: its own, or that of the world that plays it. */
export async function rewardOf(
  services: { knownWorlds: Pick<KnownWorlds, "find"> },
  requester: Requester,
  { reward, world }: EnvironmentConfig,
): Promise<EpisodeReward | undefined> {
  if (reward || !world) return reward ?? undefined;
  const played = await findReferred(services, requester, world);
  return "reason" in played ? undefined : (played.config.reward ?? undefined);
}

/** The score of an evaluator, whose result is stored like any other. */
export async function judge(
  services: JudgeServices,
  { accountId, keyId, goal, input, observation, tags, ...wanted }: JudgedStep,
  signal: AbortSignal,
): Promise<Reward> {
  const resolved = await resolveEvaluators(services, accountId, [toWanted(wanted)]).catch(
    (error: unknown) => {
      if (error instanceof InvalidEvaluatorsError) return [];
      throw error;
    },
  );
  const [evaluator] = resolved;
  if (evaluator === undefined)
    return { reward: null, error: "The evaluator or its profile no longer exists." };
  const { id, family, profile, explainStrategy } = evaluator;
  const sample = {
    input: toStorableText(input),
    output: toStorableText(observation),
    goldAnswer: goal === undefined ? undefined : toStorableText(goal),
  };
  const allowance = { mainThreadMs, mayRetry: createRetryBudget(), keyId };
  const task = { family, profile, sample, accountId, explainStrategy, allowance, showsGold: true };
  const outcome = await services.runEvaluator(task, signal);
  await services.resultWriter.write([
    {
      accountId,
      evaluatorId: id,
      evaluatorFamily: family.name,
      profile,
      explainStrategy,
      isExternal: false,
      sample,
      metadata: { app, tags },
      outcome,
    },
  ]);
  if (outcome.status !== "success") return { reward: null, error: outcome.errorMessage ?? outcome.status };
  return { reward: outcome.score ?? (outcome.pass === true ? 1 : 0), error: null };
}
