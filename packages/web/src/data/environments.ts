import type {
  Environment,
  EnvironmentConfig,
  EnvironmentCreateRequest,
  EpisodeGrouping,
  Presage,
  TaskLine,
  TaskSplitName,
  TasksFromDataset,
} from "@presage/sdk";
import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { pagedQuery, usePresage } from "./client.ts";

export const environmentsKey = ["environments"];
const tasksOnPage = 100;

/** All environments, newest first, and the built-in one. */
export function environmentsQuery(presage: Presage) {
  return queryOptions({
    queryKey: [...environmentsKey, "all"],
    queryFn: ({ signal }) => presage.environments.list({ signal }),
  });
}

export function environmentQuery(presage: Presage, name: string) {
  return queryOptions({
    queryKey: [...environmentsKey, "one", name],
    queryFn: ({ signal }) => presage.environments.get(name, { signal }),
  });
}

/** The revisions of an environment, newest first. */
export function environmentRevisionsQuery(presage: Presage, { name, revision }: Environment) {
  return queryOptions({
    queryKey: [...environmentsKey, "revisions", name, revision],
    queryFn: ({ signal }) => presage.environments.listRevisions(name, { signal }),
    // A revision never changes.
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** The tasks of a split, page by page. */
export function taskPagesQuery(presage: Presage, name: string, split: TaskSplitName) {
  return pagedQuery([...environmentsKey, "tasks", name, split], ({ after, signal }) =>
    presage.environments.pageOfTasks(name, split, { limit: tasksOnPage, after, signal }),
  );
}

/** One task; null if there is none at that index. */
export function taskQuery(presage: Presage, name: string, split: TaskSplitName, index: number) {
  return queryOptions({
    queryKey: [...environmentsKey, "task", name, split, index],
    async queryFn({ signal }) {
      const after = index === 0 ? undefined : String(index);
      const { data } = await presage.environments.pageOfTasks(name, split, { limit: 1, after, signal });
      return data.find((task) => task.index === index) ?? null;
    },
    // Tasks are only ever appended.
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** How episodes went, for all environments or for one. */
export function episodeFiguresQuery(presage: Presage, by: EpisodeGrouping, environment?: string) {
  return queryOptions({
    queryKey: [...environmentsKey, "figures", by, environment],
    queryFn: ({ signal }) => presage.episodes.figures({ by, environment }, { signal }),
  });
}

/** Creates an environment, or adds a revision to one. */
export function useSaveEnvironment({ onSuccess }: { onSuccess(): void }) {
  const presage = usePresage();
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: (
      save: { request: EnvironmentCreateRequest } | { name: string; changes: EnvironmentConfig },
    ): Promise<Environment> =>
      "request" in save
        ? presage.environments.create(save.request)
        : presage.environments.revise(save.name, save.changes),
    onSuccess(environment) {
      onSuccess();
      queryClient.setQueryData(environmentQuery(presage, environment.name).queryKey, {
        ...environment,
        reality: null,
      });
      // The reality of an environment changes with a new revision.
      for (const queryKey of [[...environmentsKey, "all"], [...environmentsKey, "one"], ["reality"]])
        void queryClient.invalidateQueries({ queryKey });
    },
  });
}

export function useAddTasks(name: string) {
  const presage = usePresage();
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: (tasks: readonly TaskLine[] | TasksFromDataset) => presage.environments.addTasks(name, tasks),
    onSuccess: () => void queryClient.invalidateQueries({ queryKey: environmentsKey }),
  });
}

export function useDeleteEnvironment(name: string) {
  const presage = usePresage();
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: (withEpisodes: boolean) => presage.environments.delete(name, { withEpisodes }),
    onSuccess() {
      // An environment with the same name, revisions and task indexes may be created later.
      queryClient.removeQueries({
        queryKey: environmentsKey,
        predicate: ({ queryKey }) => queryKey.includes(name),
      });
      void queryClient.invalidateQueries({ queryKey: [...environmentsKey, "all"] });
    },
  });
}
