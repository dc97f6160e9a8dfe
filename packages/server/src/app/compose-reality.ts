import { askAs } from "../environments/episodes/ask.ts";
import { type ModelUse, useOfCompletion, useOfFailure } from "../evaluators/judge/judge-model.ts";
import { SpendingRefusedError } from "../platform/errors.ts";
import { createBackgroundTurns } from "../platform/limits/turns.ts";
import type { Log } from "../platform/observability/logger.ts";
import type { Store } from "../platform/storage/store.ts";
import { isStoreUnavailable } from "../platform/storage/store-error.ts";
import type { PlayServices } from "../reality/replays/recordings.ts";
import { type ReplayRunner, type ReplayServices, startReplays } from "../reality/replays/runner.ts";
import { type RealityWatch, watchReality } from "../reality/watch.ts";
import type { Complete, CompletionOptions } from "../upstream/upstream.ts";

type AskServices = Parameters<typeof askAs>[0];

interface BackgroundCalls {
  /** Live predictions in progress, and how many there may be. */
  liveInFlight(): number;
  maxInFlight: number;
  recordCall(use: ModelUse): void;
}

/** Follows how often successes are false; an alarm is logged once. */
export function composeWatch({ logger }: Log, store: Store): RealityWatch {
  return watchReality({ store }, ({ accountId, environment, state }) => {
    const { value, tasks, false_success_limit: limit } = state;
    logger.warn(
      { accountId, environment, falseSuccessRate: value, tasks, limit },
      "successes in an environment are false more often than its limit allows",
    );
  });
}

/** Replays what reality checks wait for, behind live requests. */
export function composeReplays(
  log: Log,
  services: Omit<ReplayServices, "turns" | "askInBackground"> & AskServices,
  calls: BackgroundCalls,
): ReplayRunner {
  const ofReplays = {
    ...services,
    turns: createBackgroundTurns(() => calls.liveInFlight() > 0),
    askInBackground: askInBackground(services, calls),
  };
  return startReplays(ofReplays, (error) => {
    if (isStoreUnavailable(error)) log.storeFailed(error);
    else log.logger.error({ err: error }, "a reality check stopped; it will be continued");
  });
}

/** How long a replay waits before it looks again whether live predictions leave it a place. */
const lookAgainMs = 50;

function askInBackground(
  services: AskServices,
  { liveInFlight, maxInFlight, recordCall }: BackgroundCalls,
): PlayServices["askInBackground"] {
  return ({ accountId, userId: keyId }) => {
    const spender = { accountId, keyId };
    const measure =
      (complete: Complete, options: CompletionOptions): Complete =>
      async (request, signal) => {
        while (liveInFlight() >= maxInFlight) {
          await Bun.sleep(lookAgainMs);
          signal.throwIfAborted();
        }
        try {
          const completion = await complete(request, signal, options);
          recordCall(useOfCompletion(spender, completion));
          return completion;
        } catch (error) {
          // What a budget refuses is no call.
          if (!(error instanceof SpendingRefusedError)) recordCall(useOfFailure(spender, error, signal));
          throw error;
        }
      };
    return askAs(services, spender, measure);
  };
}
