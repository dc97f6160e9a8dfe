import type { DatasetSample, Presage, TrajectoryFilter } from "@presage/sdk";
import { infiniteQueryOptions, queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { pagedQuery, usePresage } from "./client.ts";

export const datasetsKey = ["datasets"];
const trajectoriesOnPage = 100;
const stepsOnPage = 100;
/** A revision never changes. */
const staleTime = Number.POSITIVE_INFINITY;
/** Texts may take megabytes. */
const textsCacheMs = 60_000;

export function datasetsQuery(presage: Presage) {
  return queryOptions({
    queryKey: [...datasetsKey, "all"],
    queryFn: ({ signal }) => presage.datasets.list({ signal }),
  });
}

export function datasetQuery(presage: Presage, id: string) {
  return queryOptions({
    queryKey: [...datasetsKey, "one", id],
    queryFn: ({ signal }) => presage.datasets.get(id, { signal }),
  });
}

/** All revisions of a dataset, the newest first. */
export function revisionsQuery(presage: Presage, id: string) {
  return queryOptions({
    queryKey: [...datasetsKey, "revisions", id],
    queryFn: ({ signal }) => presage.datasets.listRevisions(id, { signal }),
  });
}

/** The runs on a dataset, which a deletion would take away, newest first. */
export function runsOnDatasetQuery(presage: Presage, id: string) {
  return queryOptions({
    queryKey: [...datasetsKey, "runs", id],
    queryFn: ({ signal }) => presage.runs.list({ dataset_id: id }, { signal }),
  });
}

/** The trajectories of a revision, page by page. */
export function trajectoryPagesQuery(
  presage: Presage,
  id: string,
  filter: TrajectoryFilter & { revision: number },
) {
  return {
    ...pagedQuery([...datasetsKey, "trajectories", id, filter], ({ after, signal }) =>
      presage.datasets.pageOfTrajectories(id, filter, {
        limit: trajectoriesOnPage,
        after,
        signal,
      }),
    ),
    staleTime,
    structuralSharing: false,
  };
}

interface PlaceInDataset {
  datasetId: string;
  revision: number | undefined;
  trajectoryId: string;
}

/** The samples of a trajectory, page by page. */
export function trajectoryStepsQuery(
  presage: Presage,
  { datasetId, revision, trajectoryId }: PlaceInDataset,
) {
  return infiniteQueryOptions({
    queryKey: [...datasetsKey, "steps", datasetId, revision, trajectoryId],
    queryFn: ({ pageParam, signal }) =>
      presage.datasets.getTrajectory(datasetId, trajectoryId, {
        revision,
        limit: stepsOnPage,
        after: pageParam,
        signal,
      }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next }) => next ?? undefined,
    staleTime,
    gcTime: textsCacheMs,
    structuralSharing: false,
  });
}

/** One sample of a trajectory; null if that step has none. */
export function datasetSampleQuery(
  presage: Presage,
  { datasetId, revision, trajectoryId, step }: PlaceInDataset & { step: number },
) {
  return queryOptions({
    queryKey: [...datasetsKey, "sample", datasetId, revision, trajectoryId, step],
    async queryFn({ signal }): Promise<DatasetSample | null> {
      const { samples } = await presage.datasets.getTrajectory(datasetId, trajectoryId, {
        revision,
        limit: 1,
        after: step - 1,
        signal,
      });
      return samples.find((sample) => sample.step === step) ?? null;
    },
    staleTime,
    gcTime: textsCacheMs,
    structuralSharing: false,
  });
}

export function useDeleteDataset(id: string) {
  const presage = usePresage();
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: (withRuns: boolean) => presage.datasets.delete(id, { withRuns }),
    onSuccess() {
      queryClient.removeQueries({ queryKey: [...datasetsKey, "one", id] });
      void queryClient.invalidateQueries({ queryKey: [...datasetsKey, "all"] });
      void queryClient.invalidateQueries({ queryKey: ["runs"] });
    },
  });
}

/** The names of all datasets by their ids. */
export function datasetNamesQuery(presage: Presage) {
  return queryOptions({
    queryKey: ["datasets", "names"],
    queryFn: async ({ signal }) =>
      new Map((await presage.datasets.list({ signal })).map(({ id, name }) => [id, name])),
  });
}
