import type { Episode } from "../episodes/episode.ts";
import { toEpisodeStart, toStep } from "../episodes/episode-response.ts";
import type { StepResult } from "../episodes/step-episode.ts";

/** The start of an episode, as OpenEnv's clients read it. */
export function showStart(episode: Episode): object {
  const { episode_id, observation, info } = toEpisodeStart(episode);
  const { prompt } = info;
  return {
    observation: {
      prompt: prompt === null ? observation : `${prompt}\n\n${observation}`,
      truncated: false,
      metadata: { episode_id, step: 0 },
    },
    reward: null,
    done: false,
    metadata: { episode_id, step: 0, ...info },
  };
}

/**
 * A step of an episode. Trainers may show an agent the whole observation, so what it need not see is beside it, where newer clients
 * read it.
 */
export function showStep(episodeId: string, result: StepResult): object {
  const { observation, reward, terminated, truncated, info } = toStep(result);
  return {
    observation: {
      prompt: observation,
      truncated,
      metadata: { episode_id: episodeId, step: info.step },
    },
    reward,
    done: terminated || truncated,
    metadata: { episode_id: episodeId, ...info },
  };
}
