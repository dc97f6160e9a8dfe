import type { Episode, EpisodeFilter, EpisodeSelection, Presage, TaskSplitName } from "@presage/sdk";
import { type QueryClient, queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { pagedQuery, usePresage } from "./client.ts";
import { makeRevision, type WantedDataset } from "./datasets.ts";
import { environmentsKey } from "./environments.ts";

const episodesKey = ["episodes"];
const episodesOnPage = 100;

/** Matching episodes, newest first, page by page. */
export function episodePagesQuery(presage: Presage, filter: EpisodeFilter) {
  return pagedQuery([...episodesKey, "pages", filter], ({ after, signal }) =>
    presage.episodes.page(filter, { limit: episodesOnPage, after, signal }),
  );
}

/** An episode with its steps. */
export function episodeQuery(presage: Presage, id: string) {
  return queryOptions({
    queryKey: [...episodesKey, "one", id],
    queryFn: ({ signal }) => presage.episodes.get(id, { signal }),
  });
}

export function useDeleteEpisode() {
  const presage = usePresage();
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: (id: string) => presage.episodes.delete(id),
    onSuccess(_, id) {
      queryClient.removeQueries({ queryKey: [...episodesKey, "one", id] });
      forgetLists(queryClient);
    },
  });
}

/** Creates a revision of an existing or a new dataset, whose trajectories are episodes. */
export function useMakeDataset() {
  const presage = usePresage();
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: ({
      dataset,
      selection,
      append,
    }: {
      dataset: WantedDataset;
      selection: EpisodeSelection;
      append: boolean;
    }) => makeRevision(presage, dataset, (id) => presage.datasets.uploadEpisodes(id, selection, { append })),
    onSuccess: () => void queryClient.invalidateQueries({ queryKey: ["datasets"] }),
  });
}

/** A person's step. If it is sent again with the same key, it is taken only once. */
export interface WantedAction {
  /** Absent: this step starts the episode. */
  episodeId: string | undefined;
  task: { environment: string; split: TaskSplitName; index: number };
  action: string;
  key: string;
}

/** Takes a step, after starting the episode if it is the first one. The world's answer is then part of the episode. */
export function useTakeStep({ onStarted }: { onStarted(episodeId: string): void }) {
  const presage = usePresage();
  const queryClient = useQueryClient();
  return useMutation({
    async mutationFn({ episodeId, task, action, key }: WantedAction): Promise<void> {
      const id = episodeId ?? (await start(presage, queryClient, task, key));
      if (episodeId === undefined) onStarted(id);
      const step = await presage.episodes
        .step(id, action, { idempotencyKey: key })
        .catch((error: unknown) => {
          // The episode may have ended meanwhile, or the step may have been taken although its response was lost.
          void queryClient.invalidateQueries({ queryKey: episodeQuery(presage, id).queryKey });
          throw error;
        });
      queryClient.setQueryData<Episode>(episodeQuery(presage, id).queryKey, (episode) =>
        episode === undefined ? undefined : withStep(episode, { action, ...step }),
      );
      if (step.terminated || step.truncated)
        void queryClient.invalidateQueries({ queryKey: episodeQuery(presage, id).queryKey });
      forgetLists(queryClient);
    },
  });
}

/** Starts an episode; repeated with the same key, returns the same episode. */
async function start(
  presage: Presage,
  queryClient: QueryClient,
  task: WantedAction["task"],
  key: string,
): Promise<string> {
  const { episode_id: id } = await presage.episodes.start(task, { idempotencyKey: `start-${key}` });
  await queryClient.ensureQueryData(episodeQuery(presage, id));
  return id;
}

/** The episode with a step added, as it will be when it is loaded again. */
function withStep(episode: Episode, step: Episode["steps"][number]): Episode {
  if (episode.steps.some(({ info }) => info.step === step.info.step)) return episode;
  const { outcome, stop_reason } = step.info;
  return {
    ...episode,
    steps: [...episode.steps, step],
    steps_taken: step.info.step,
    reward: step.reward === null ? episode.reward : (episode.reward ?? 0) + step.reward,
    ...((step.terminated || step.truncated) && { status: "finished", outcome, stop_reason }),
  };
}

function forgetLists(queryClient: QueryClient): void {
  void queryClient.invalidateQueries({ queryKey: [...episodesKey, "pages"] });
  void queryClient.invalidateQueries({ queryKey: [...environmentsKey, "figures"] });
}
