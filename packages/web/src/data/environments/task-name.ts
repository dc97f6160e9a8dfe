import type { EpisodeSummary } from "@presage/sdk";

/** How pages name an episode's task. */
export function taskNameOf({ split, index }: Pick<EpisodeSummary, "split" | "index">): string {
  return index === null ? `${split}, a task of its own` : `${split} ${index}`;
}
