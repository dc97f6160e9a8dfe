import type { Services } from "../../app/services.ts";
import { findEpisode } from "../episodes/episode.ts";
import { toEpisodeSummary } from "../episodes/episode-response.ts";
import type { Conversation, MessageCall } from "./conversation.ts";

/** OpenEnv's state, with what else is known of the episode. */
export async function showState(
  { environments }: Services,
  { episode }: Conversation,
  { requester }: MessageCall,
): Promise<object> {
  if (episode === undefined) return { episode_id: null, step_count: 0 };
  const { row } = await findEpisode(environments, requester, episode.id);
  const { id, steps_taken, ...summary } = toEpisodeSummary(row);
  return { episode_id: episode.name ?? id, step_count: steps_taken, ...summary };
}
