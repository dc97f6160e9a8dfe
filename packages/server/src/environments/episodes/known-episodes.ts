import { LRUCache } from "lru-cache";
import type { Turn } from "./compose-messages.ts";
import type { Episode } from "./episode.ts";

/** An episode as it is stored, with the turns that its next step needs. */
export interface EpisodeState {
  episode: Episode;
  turns: readonly Turn[];
}

/** The episodes in which this process took the last steps. Others may have taken further ones meanwhile. */
export type KnownEpisodes = ReturnType<typeof createKnownEpisodes>;

const maxCharacters = 16_000_000;
/** Of an episode without texts. */
const charactersEach = 1_000;

export function createKnownEpisodes() {
  const states = new LRUCache<string, EpisodeState>({
    maxSize: maxCharacters,
    sizeCalculation: ({ episode, turns }) =>
      turns.reduce(
        (sum, { action, observation }) => sum + action.length + observation.length,
        charactersEach + 2 * episode.row.task.length + lengthOf(episode.config),
      ),
  });
  /** Each episode has its own copy. */
  const lengths = new WeakMap<object, number>();
  function lengthOf(config: Episode["config"]): number {
    const length = lengths.get(config) ?? JSON.stringify(config).length;
    lengths.set(config, length);
    return length;
  }

  return {
    find: (id: string): EpisodeState | undefined => states.get(id),
    keep: (state: EpisodeState): void => {
      states.set(state.episode.row.id, state);
    },
    forget: (id: string): void => {
      states.delete(id);
    },
  };
}
