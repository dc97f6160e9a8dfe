import type { Config } from "../config/config.ts";
import { readSettingsFile } from "../config/files.ts";
import { parseRealEnvironments } from "../config/real-environments.ts";
import { askAs } from "../environments/episodes/ask.ts";
import { type JudgeServices, matches } from "../environments/rewards-and-ends.ts";
import { neverAborted } from "../platform/limits/deadline.ts";
import {
  createBackgroundTurns,
  createFairSlots,
  type PlacesBehindLive,
  takePlaceBehindLive,
  watchLive,
} from "../platform/limits/turns.ts";
import type { Log, Logger } from "../platform/observability/logger.ts";
import type { Store } from "../platform/storage/store.ts";
import { isStoreUnavailable } from "../platform/storage/store-error.ts";
import type { RealEnvironmentSettings } from "../reality/real/real-environment.ts";
import { createRealEnvironments } from "../reality/real/real-environments.ts";
import { maxCharacters, type PlayServices } from "../reality/replays/compare.ts";
import { storeReplayed } from "../reality/replays/replays-store.ts";
import { type ReplayRunner, type ReplayServices, startReplays } from "../reality/replays/runner.ts";
import { type RealityWatch, watchReality } from "../reality/watch.ts";
import { countCalls, type ModelUse } from "../upstream/completion.ts";
import type { Complete, CompletionOptions } from "../upstream/upstream.ts";
import { readAgain } from "./compose-deployments.ts";
import type { OpenedStore } from "./storage.ts";
import { shareOf } from "./workers.ts";

/** The real environments of the file; none without a file. */
export async function composeRealEnvironments(
  config: Config,
  logger: Pick<Logger, "info" | "error">,
  { runEvaluator }: Pick<JudgeServices, "runEvaluator">,
) {
  // Texts of real environments share the threads like those of one more account.
  const requester = { accountId: "real environments", signal: neverAborted };
  const realEnvironments = createRealEnvironments(await readRealEnvironments(config), (pattern, text) =>
    matches({ runEvaluator }, requester, pattern, text),
  );
  return {
    realEnvironments,
    reread: () =>
      readAgain(logger, "real environments", async () => {
        realEnvironments.replace(await readRealEnvironments(config));
        return { realEnvironments: realEnvironments.all().map(({ name }) => name) };
      }),
  };
}

export async function readRealEnvironments({
  realEnvironments: file,
  workers,
}: Pick<Config, "realEnvironments" | "workers">): Promise<RealEnvironmentSettings[]> {
  if (file === undefined) return [];
  const text = await readSettingsFile("PRESAGE_REAL_ENVIRONMENTS", file.path);
  return parseRealEnvironments(file.path, text, file.environment).map((settings) => ({
    ...settings,
    maxInFlight: shareOf(settings.maxInFlight, workers),
  }));
}

type AskServices = Parameters<typeof askAs>[0];

interface BackgroundCalls extends PlacesBehindLive {
  recordCall(use: ModelUse): void;
}

/** Follows how often successes are false; an alarm is logged once. */
export function composeWatch({ logger }: Log, store: Store): RealityWatch {
  return watchReality(
    { store },
    ({ accountId, environment, state: { false_success_limit: limit } }, alarm) => {
      const { value, tasks } = alarm;
      const policy = "policy" in alarm ? alarm.policy : undefined;
      logger.warn(
        { accountId, environment, policy, falseSuccessRate: value, tasks, limit },
        "successes in an environment are false more often than its limit allows",
      );
    },
  );
}

/** Replays may wait. A step's answer is read outside its turn, so only a small part of its work is measured. */
const restPerStep = 40;
/** A character takes two bytes, and is also in a row until that is stored. */
const bytesOfLargest = 4 * maxCharacters;
/** Replays with many texts may take an eighth of the memory budget. */
const partsForReplays = 8;

/** Replays the episodes that reality checks wait for, behind live requests. */
export function composeReplays(
  log: Log,
  services: Omit<
    ReplayServices,
    "turns" | "largeReplays" | "askInBackground" | "storeReplayed" | "onPaused"
  > & { store: OpenedStore } & AskServices,
  { memoryBytes, ...calls }: BackgroundCalls & { memoryBytes: number },
): ReplayRunner {
  const { store } = services;
  const ofReplays: ReplayServices = {
    ...services,
    turns: createBackgroundTurns(watchLive(calls.liveInFlight), { restPerWork: restPerStep }),
    largeReplays: createFairSlots({
      slots: Math.max(1, Math.floor(memoryBytes / partsForReplays / bytesOfLargest)),
    }),
    askInBackground: askInBackground(services, calls),
    // A replay that a power failure undoes is repeated.
    storeReplayed: (requester, checkId, replayed) =>
      store.writers?.background.send("replayed", JSON.stringify([checkId, replayed])) ??
      storeReplayed(store.writer(requester), checkId, replayed),
    onPaused: ({ id, account_id: accountId, environment }, reason) =>
      log.logger.warn({ accountId, environment, realityCheck: id, reason }, "a reality check is paused"),
  };
  return startReplays(ofReplays, (error) => {
    if (isStoreUnavailable(error)) log.storeFailed(error);
    else log.logger.error({ err: error }, "a reality check stopped; it will be continued");
  });
}

function askInBackground(
  services: AskServices,
  { recordCall, ...places }: BackgroundCalls,
): PlayServices["askInBackground"] {
  return ({ accountId, userId: keyId }) => {
    const spender = { accountId, keyId };
    const measure = (complete: Complete, options: CompletionOptions): Complete => {
      const counted = countCalls(complete, spender, recordCall);
      return async (request, signal) => {
        const leave = await takePlaceBehindLive(places, signal);
        return await counted(request, signal, options).finally(leave);
      };
    };
    return askAs(services, spender, measure);
  };
}
