import { setTimeout as sleep } from "node:timers/promises";
import { OpenEnvAction } from "@presage/contract";
import { stepEpisode } from "../../../environments/episodes/step-episode.ts";
import { ServiceError } from "../../../errors.ts";
import { orAborted } from "../../../limits/deadline.ts";
import { admit, countUsage } from "../../pipeline/exchange.ts";
import { reserveBody } from "../../pipeline/reserve-memory.ts";
import { validate } from "../../request/validate.ts";
import type { Services } from "../../services.ts";
import { askDeployment } from "../episodes/ask-deployment.ts";
import type { Conversation, MessageCall } from "./answer-message.ts";
import { showStep } from "./show-episode.ts";

/** Takes a step of the socket's episode, within the limits of predictions. */
export async function takeStep(
  services: Services,
  { episode }: Conversation,
  { data, bytes }: { data: unknown; bytes: number },
  call: MessageCall,
): Promise<object> {
  const { message } = validate(OpenEnvAction, data, "body");
  if (episode === undefined)
    throw new ServiceError(
      "conflict",
      "This socket has no episode. Send reset, with the episode_id of an open episode to continue it.",
    );
  countUsage(call, "predict");
  await inTurn(call, () => reserveBody(call.exchange, bytes));
  await inTurn(call, () => admit(services.admission, call));
  const wanted = { episodeId: episode.id, action: message, requestKey: undefined };
  const taken = await stepEpisode(
    services.environments,
    call.requester,
    wanted,
    askDeployment(services, call),
  );
  return showStep(episode.id, taken);
}

/**
 * Tries again what a limit refused, as long as it may be admitted before the deadline: OpenEnv's client would fail its whole episode
 * where one over HTTP waits and retries.
 */
async function inTurn(
  { requester: { signal }, deadlineAtMs }: MessageCall,
  enter: () => unknown,
): Promise<void> {
  for (;;) {
    try {
      await enter();
      return;
    } catch (error) {
      const isRefusal =
        error instanceof ServiceError && (error.code === "rate_limited" || error.code === "overloaded");
      if (!isRefusal || error.retryAfterS === undefined) throw error;
      // Spread, so that all who wait do not return together.
      const waitMs = error.retryAfterS * 1000 * (1 + Math.random() / 2);
      if (performance.now() + waitMs > deadlineAtMs) throw error;
      await orAborted(sleep(waitMs), signal);
    }
  }
}
