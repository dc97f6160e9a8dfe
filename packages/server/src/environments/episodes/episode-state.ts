import type { EnvironmentConfig } from "@presage/contract";
import type { Requester } from "../../platform/storage/reader.ts";
import type { EnvironmentServices } from "../environment-services.ts";
import { promptFormOf, type Turn } from "./compose-messages.ts";
import { findEpisode, statusOf } from "./episode.ts";
import { selectSteps } from "./episodes-store.ts";
import { lookBackOf } from "./find-end.ts";
import type { EpisodeState } from "./known-episodes.ts";
import type { NewStep } from "./new-steps-store.ts";

type StateServices = Pick<EnvironmentServices, "store" | "knownEpisodes" | "readProgress">;

/** An episode of the account as it is stored, with the turns that its next step needs if it is open. */
export async function readState(
  services: StateServices,
  requester: Requester,
  id: string,
): Promise<EpisodeState> {
  const known = await findKnown(services, requester, id);
  if (known !== undefined) return known;
  const episode = await findEpisode(services, requester, id);
  if (statusOf(episode.row) !== "open") return { episode, turns: [] };
  const steps = Number(episode.row.steps);
  const wanted = Math.min(steps, turnsFor(episode.config, steps));
  const rows = wanted === 0 ? [] : await selectSteps(services.store.database, id, steps - wanted);
  return { episode, turns: rows.map(({ action, observation }) => ({ action, observation })) };
}

/** What this process knows of an episode, if no other one has changed it since as far as `readProgress` says. */
async function findKnown(
  { readProgress, knownEpisodes }: StateServices,
  { accountId }: Requester,
  id: string,
): Promise<EpisodeState | undefined> {
  const known = knownEpisodes.find(id);
  if (known === undefined || known.episode.row.account_id !== accountId) return undefined;
  const { row } = known.episode;
  const progress = await readProgress(row);
  const isCurrent =
    progress?.status === "open" &&
    Number(progress.steps) === Number(row.steps) &&
    // A session's id can be used again once its episode is deleted.
    Number(progress.created_at) === Number(row.created_at);
  if (!isCurrent) {
    knownEpisodes.forget(id);
    return undefined;
  }
  return progress === row ? known : { ...known, episode: { ...known.episode, row: { ...row, ...progress } } };
}

/** Forgets a state that was taken from memory, unasked and for the latest. Returns whether it was. */
export function forgetRemembered({ knownEpisodes }: StateServices, state: EpisodeState): boolean {
  const { id } = state.episode.row;
  if (knownEpisodes.find(id) !== state) return false;
  knownEpisodes.forget(id);
  return true;
}

/** Remembers an episode after a step that was stored. */
export function keepState(
  { knownEpisodes }: StateServices,
  { episode, turns }: EpisodeState,
  { step, payload, end, at }: NewStep,
): void {
  const { row, config } = episode;
  if (end !== undefined) {
    knownEpisodes.forget(row.id);
    return;
  }
  const next: Turn[] = [...turns, { action: step.action, observation: payload.output ?? "" }];
  knownEpisodes.keep({
    episode: { ...episode, row: { ...row, steps: step.step, last_active_at: at } },
    turns: next.slice(-turnsFor(config, step.step)),
  });
}

/** How many turns the prompt and the rules of the next step look at. */
function turnsFor(config: EnvironmentConfig, steps: number): number {
  return promptFormOf(config) === "chat" ? steps : lookBackOf(config);
}
