import { readWorldReference } from "@presage/contract";
import type { Requester, Store } from "../../platform/storage/store.ts";
import type { MadePrompt } from "../../predictions/stored-predictions.ts";
import { paramsThrough } from "../../worlds/complete-through-world.ts";
import { selectWorld } from "../../worlds/worlds-store.ts";
import { type Episode, findEpisode } from "./episode.ts";
import { countCharacters, selectSteps } from "./episodes-store.ts";
import { composeMessages, promptFormOf } from "./turns.ts";

/** The sampling and decoding parameters of an episode's steps, except those that its world sets. */
export function paramsOf({ row, config }: Pick<Episode, "row" | "config">): Record<string, unknown> {
  const ofConfig = config.world ? {} : { temperature: 0, ...config.params };
  return { ...ofConfig, ...(row.seed === null ? {} : { seed: row.seed }) };
}

/** A step of an episode, and the steps that its prompt is made of. */
export interface EpisodePromptSource {
  episode: Episode;
  step: number;
  /** The prompt is made of the steps after this one. */
  after: number;
  characters: number;
}

/** Where to read the prompt of an episode's prediction, and how long it is. */
export async function findEpisodePromptSource(
  services: { store: Store },
  requester: Requester,
  { run_id, position }: { run_id: string | null; position: number | null },
): Promise<EpisodePromptSource | undefined> {
  if (run_id === null || position === null) return undefined;
  const episode = await findEpisode(services, requester, run_id);
  const after = promptFormOf(episode.config) === "chat" ? 0 : Math.max(0, position - 2);
  const reader = services.store.briefReader(requester);
  const characters = await countCharacters(reader, run_id, { after, upTo: position });
  return { episode, step: position, after, characters: characters + episode.row.task.length };
}

/** The prompt that was sent for a step. */
export async function readEpisodePrompt(
  { store }: { store: Store },
  requester: Requester,
  { episode, step, after }: EpisodePromptSource,
): Promise<MadePrompt | undefined> {
  const { row, config, task } = episode;
  const reader = store.briefReader(requester);
  const steps = await selectSteps(reader, row.id, after, step);
  const turns = steps.filter((one) => one.step < step);
  const action = steps.find((one) => one.step === step)?.action;
  if (action === undefined) return undefined;
  const wanted = readWorldReference(config.world ?? "");
  const world = wanted && (await selectWorld(reader, requester.accountId, wanted));
  const params = paramsOf(episode);
  const same = { params: world ? paramsThrough(world, params) : params, requested_model: null };
  if (promptFormOf(config) === "chat") {
    const messages = composeMessages(config, task, turns, action);
    return { ...same, context: null, interaction: null, messages: messages.map((turn) => ({ ...turn })) };
  }
  const state = turns.at(-1)?.observation ?? task.initial_state;
  return {
    ...same,
    context: { ...config.context, ...task.context },
    interaction: { state, action },
    messages: null,
  };
}
