import type { DatasetSample } from "@presage/contract";
import { exportSamples } from "../datasets/samples.ts";
import type { ConfigRules } from "../environments/environments.ts";
import { createKnownEpisodes } from "../environments/episodes/episode.ts";
import { progressReader } from "../environments/episodes/figures.ts";
import { applyWrites, type EpisodeWrite } from "../environments/episodes/new-steps-store.ts";
import { createStartTurns, type StartServices } from "../environments/episodes/start-episode.ts";
import type { JudgedStep, RewardOutcome } from "../environments/episodes/step-episode.ts";
import { createKnownSessions, createSessionIds, sweepSessions } from "../environments/ors/ors-sessions.ts";
import type { Delivery } from "../environments/ors/ors-sessions-store.ts";
import type { CallServices } from "../environments/ors/take-call.ts";
import type { FirstState, FirstStates } from "../environments/tasks.ts";
import {
  findEvaluatorIssues,
  InvalidEvaluatorsError,
  resolveEvaluators,
} from "../evaluators/resolve-evaluators.ts";
import { regex } from "../evaluators/rules/regex.ts";
import { ServiceError } from "../platform/errors.ts";
import { createRetryBudget } from "../platform/limits/deadline.ts";
import type { Log } from "../platform/observability/logger.ts";
import { doTogether } from "../platform/storage/batches.ts";
import { toStorableText } from "../platform/storage/columns.ts";
import { startSweeper } from "../platform/storage/leases.ts";
import type { Requester, Store } from "../platform/storage/store.ts";
import type { EvaluationServices } from "../results/evaluation-services.ts";
import type { Deployments } from "../upstream/deployments.ts";
import { logFailure } from "./storage.ts";
import type { Writers } from "./writers.ts";

export interface ComposedEnvironments extends ConfigRules, FirstStates, StartServices, CallServices {
  ors: OrsServices;
  dispose(): Promise<void>;
}

type OrsServices = CallServices["ors"] & {
  /** Notes that results were sent whole; those of many sessions share a commit. */
  markDelivered(delivery: Delivery): Promise<unknown>;
};

interface EnvironmentOptions {
  deployments: Deployments;
  evaluation: EvaluationServices;
  /** Of the ids of sessions; all processes on the database share it. */
  sessionSecret: string;
}

const sweepIntervalMs = 3_600_000;

/** How long the evaluator of a step may block the main thread. */
const mainThreadMs = 5;
/** Results of episodes' rewards are found under it. */
const app = "episodes";

/** What environments and episodes need of the other areas. */
export function composeEnvironments(
  log: Log,
  store: Store & { writers: Writers | undefined },
  { deployments, evaluation, sessionSecret }: EnvironmentOptions,
): ComposedEnvironments {
  const { database, writers } = store;
  const write = doTogether<EpisodeWrite, boolean>(
    (writes) => writers?.live.send("episodes", JSON.stringify(writes)) ?? applyWrites(database, writes),
  );
  const stopping = new AbortController();
  const known = createKnownSessions(
    async (uses) => {
      await write({ uses });
    },
    (error, isFirst) => logFailure(log, error, "could not write last uses of sessions; will retry", isFirst),
  );
  const sweeper = startSweeper({
    sweep: (signal) => sweepSessions(database, signal),
    intervalMs: sweepIntervalMs,
    onFailure: (error) => logFailure(log, error, "could not delete old sessions; will retry"),
  });
  return {
    store,
    knownEpisodes: createKnownEpisodes(),
    startTurns: createStartTurns(),
    readProgress: progressReader(database),
    ors: {
      ids: createSessionIds(sessionSecret),
      known,
      running: new Map(),
      storeSession: (session) => write({ session }),
      startSession: (start) => write({ start }),
      markDelivered: (delivery) => write({ delivery }),
      signal: stopping.signal,
    },
    writeStart: (episode) => write({ episode }),
    writeStep: (step) => write({ step }),
    hasDeployment: (name) => deployments.find(name) !== undefined,
    findPatternIssue,
    matches: (requester, pattern, text) => matches(evaluation, requester, pattern, text),
    async findEvaluatorIssue(accountId, wanted) {
      const [issue] = await findEvaluatorIssues(evaluation, accountId, [toWanted(wanted)]);
      if (issue === undefined) return undefined;
      const field = issue.field === "evaluator" ? "evaluator" : "profile_name";
      return { field, message: issue.message ?? "The family has no default profile; name one" };
    },
    judge: (step, signal) => judge(evaluation, step, signal),
    readFirstStates: (requester, dataset) => readFirstStates(evaluation, requester, dataset),
    async dispose() {
      stopping.abort();
      await sweeper.stop();
      await known.stop();
    },
  };
}

function patternConfig(pattern: string) {
  return regex.config.safeParse({ pattern });
}

function findPatternIssue(pattern: string): string | undefined {
  const parsed = patternConfig(pattern);
  return parsed.success ? undefined : parsed.error.issues[0]?.message;
}

/** By the evaluator of patterns, which has a thread and a deadline for long texts. */
async function matches(
  { runEvaluator }: EvaluationServices,
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
  throw new ServiceError(
    "overloaded",
    `A rule of the environment could not be decided: ${outcome.errorMessage ?? "no reason is known"}`,
    { retryAfterS: 1 },
  );
}

function toWanted({ evaluator, profileName }: Pick<JudgedStep, "evaluator" | "profileName">) {
  return { evaluator, profileName, explainStrategy: "never" as const };
}

/** The score of an evaluator, whose result is stored like any other. */
async function judge(
  evaluation: EvaluationServices,
  { accountId, keyId, goal, input, observation, tags, ...wanted }: JudgedStep,
  signal: AbortSignal,
): Promise<RewardOutcome> {
  const resolved = await resolveEvaluators(evaluation, accountId, [toWanted(wanted)]).catch(
    (error: unknown) => {
      if (error instanceof InvalidEvaluatorsError) return [];
      throw error;
    },
  );
  const [evaluator] = resolved;
  if (evaluator === undefined) return { error: "The evaluator or its profile no longer exists." };
  const { id, family, profile, explainStrategy } = evaluator;
  const sample = {
    input: toStorableText(input),
    output: toStorableText(observation),
    goldAnswer: goal === undefined ? undefined : toStorableText(goal),
  };
  const allowance = { mainThreadMs, mayRetry: createRetryBudget(), keyId };
  const task = { family, profile, sample, accountId, explainStrategy, allowance };
  const outcome = await evaluation.runEvaluator(task, signal);
  await evaluation.resultWriter.write([
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
  if (outcome.status !== "success") return { error: outcome.errorMessage ?? outcome.status };
  return { reward: outcome.score ?? (outcome.pass === true ? 1 : 0) };
}

/** Samples may be in any order; the first state of a trajectory is that of its lowest step. */
async function* readFirstStates(
  evaluation: EvaluationServices,
  requester: Requester,
  { id, revision }: { id: string; revision: number | undefined },
): AsyncGenerator<FirstState[], void> {
  const first = new Map<string, FirstState & { step: number }>();
  for await (const lines of await exportSamples(evaluation, requester, { id, number: revision })) {
    for (const line of lines) {
      const { trajectory_id: trajectoryId, step, interaction, context } = JSON.parse(line) as DatasetSample;
      const known = first.get(trajectoryId);
      if (interaction === undefined || (known !== undefined && known.step <= step)) continue;
      first.set(trajectoryId, { trajectoryId, step, state: interaction.state, context });
    }
  }
  yield [...first.values()];
}
