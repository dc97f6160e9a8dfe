import { OpenEnvAction } from "@presage/contract";
import type { Services } from "../../app/services.ts";
import { admit, countUsage } from "../../http/exchange.ts";
import { reserveBody } from "../../http/reserve-memory.ts";
import { validate } from "../../http/validate.ts";
import { ServiceError } from "../../platform/errors.ts";
import { askDeployment } from "../episodes/ask-deployment.ts";
import { stepEpisode } from "../episodes/step-episode.ts";
import type { Conversation, MessageCall } from "./conversation.ts";
import { retryUntilAdmitted } from "./retry-until-admitted.ts";
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
  await retryUntilAdmitted(call, () => reserveBody(call.exchange, bytes));
  await retryUntilAdmitted(call, () => admit(services.admission, call));
  const wanted = { episodeId: episode.id, action: message, requestKey: undefined, seen: episode.steps };
  const taken = await stepEpisode(
    services.environments,
    call.requester,
    wanted,
    askDeployment(services, call),
  );
  episode.steps = Number(taken.step.step);
  return showStep(episode.id, taken);
}
