import { OpenEnvReset } from "@presage/contract";
import { z } from "zod";
import type { Services } from "../../app/services.ts";
import { validate } from "../../http/validate.ts";
import { ServiceError } from "../../platform/errors.ts";
import { type Episode, findEpisode, statusOf } from "../episodes/episode.ts";
import { selectSteps } from "../episodes/episodes-store.ts";
import { startEpisode } from "../episodes/start-episode.ts";
import { endOf } from "../episodes/step-episode.ts";
import type { Conversation, MessageCall } from "./conversation.ts";
import { retryUntilAdmitted } from "./retry-until-admitted.ts";
import { showStart, showStep } from "./show-episode.ts";

/** Starts an episode, or resumes one whose id the client has from before its socket was cut. */
export async function resetEpisode(
  services: Services,
  conversation: Conversation,
  data: unknown,
  call: MessageCall,
): Promise<object> {
  const { environments, store } = services;
  const { caller, requester } = call;
  const wanted = validate(OpenEnvReset, data ?? {}, "body");
  const name = wanted.episode_id ?? undefined;
  const known = name === undefined ? undefined : await findKnown(services, requester, name);
  if (known !== undefined) {
    refuseOther(known, conversation);
    const steps = Number(known.row.steps);
    conversation.episode = { id: known.row.id, name: undefined, steps };
    const [step] = steps === 0 ? [] : await selectSteps(store.database, known.row.id, steps - 1);
    if (step === undefined) return showStart(known);
    return showStep(known.row.id, { step, end: endOf(known.row, step) });
  }
  const { proof } = caller;
  // Trainers begin all episodes of a batch at once, more than may wait to be stored.
  const episode = await retryUntilAdmitted(call, () =>
    startEpisode(environments, requester, {
      environment: conversation.environment,
      split: wanted.split ?? "train",
      index: wanted.index ?? undefined,
      seed: wanted.seed ?? undefined,
      apiKeyId: proof.kind === "key" ? proof.keyId : undefined,
    }),
  );
  conversation.episode = { id: episode.row.id, name, steps: 0 };
  return showStart(episode);
}

const uuid = z.uuid();

/** Undefined for a name that the client made up, which may have characters that no database takes. */
async function findKnown(
  { environments }: Services,
  requester: MessageCall["requester"],
  id: string,
): Promise<Episode | undefined> {
  if (!uuid.safeParse(id).success) return undefined;
  return await findEpisode(environments, requester, id).catch((error: unknown) => {
    if (error instanceof ServiceError && error.code === "not_found") return undefined;
    throw error;
  });
}

function refuseOther({ row }: Episode, { environment }: Conversation): void {
  if (row.environment !== environment)
    throw new ServiceError("conflict", `The episode is of the environment ${row.environment}.`);
  if (statusOf(row) === "expired")
    throw new ServiceError(
      "conflict",
      "The episode has expired: nothing happened for 15 minutes. Reset without its episode_id.",
    );
}
