import type {
  ListedRun,
  Presage,
  World,
  WorldConfig,
  WorldCreateRequest,
  WorldPreviewRequest,
} from "@presage/sdk";
import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { useChange, usePresage } from "./client.ts";
import { allRunsQuery } from "./runs.ts";

export const worldsKey = ["worlds"];

/** All worlds that are not archived, newest first. */
export function worldsQuery(presage: Presage) {
  return queryOptions({
    queryKey: [...worldsKey, "all"],
    queryFn: ({ signal }) => presage.worlds.list({ signal }),
  });
}

/** A world in its latest revision, or in the revision given as NAME@NUMBER. */
export function worldQuery(presage: Presage, reference: string) {
  return queryOptions({
    queryKey: [...worldsKey, "one", reference],
    queryFn: ({ signal }) => presage.worlds.get(reference, { signal }),
  });
}

/** The reference to a revision of a world. */
export function referenceOf({ name, revision }: Pick<World, "name" | "revision">): string {
  return `${name}@${revision}`;
}

/** All revisions of a world, newest first. */
export function worldRevisionsQuery(presage: Presage, { name, revision }: World) {
  return queryOptions({
    queryKey: [...worldsKey, "revisions", name, revision],
    queryFn: ({ signal }) => presage.worlds.listRevisions(name, { signal }),
    // A revision never changes.
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** How well a world's examples cover the requests of its newest run. */
export function worldCoverageQuery(presage: Presage, world: World) {
  return queryOptions({
    queryKey: [...worldsKey, "coverage", referenceOf(world)],
    queryFn: ({ signal }) => presage.worlds.coverage(referenceOf(world), {}, { signal }),
  });
}

/** The prompt that a world would send for a step, and the examples in it. */
export function worldPreviewQuery(presage: Presage, reference: string, request: WorldPreviewRequest) {
  return queryOptions({
    queryKey: [...worldsKey, "preview", reference, request],
    queryFn: ({ signal }) => presage.worlds.preview(reference, request, { signal }),
  });
}

const nameIn = (reference: string | undefined) => reference?.split("@")[0];

/** Whether a run's target is the given world. */
export function isThrough(name: string, { target }: Pick<ListedRun, "target">): boolean {
  return "world" in target && nameIn(target.world) === name;
}

/** The runs of a world, and the ones that `presage worlds evaluate` compares them with, newest first. */
export function runsOfWorldQuery(presage: Presage, name: string) {
  return {
    ...allRunsQuery(presage),
    select: (runs: readonly ListedRun[]) =>
      runs.filter((run) => isThrough(name, run) || nameIn(run.tags?.world) === name),
  };
}

/** Creates a world, or adds a revision to one. */
export function useSaveWorld({ onSuccess }: { onSuccess(): void }) {
  const presage = usePresage();
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: (save: { request: WorldCreateRequest } | { name: string; changes: WorldConfig }) =>
      "request" in save
        ? presage.worlds.create(save.request)
        : presage.worlds.revise(save.name, save.changes),
    onSuccess(world) {
      onSuccess();
      queryClient.setQueryData(worldQuery(presage, world.name).queryKey, world);
      void queryClient.invalidateQueries({ queryKey: [...worldsKey, "all"] });
    },
  });
}

/** Hides a world from lists, or shows it again. */
export function useArchiveWorld(name: string) {
  return useChange(worldsKey, ({ worlds }, archived: boolean) => worlds.revise(name, { archived }));
}

export function useDeleteWorld(name: string) {
  const presage = usePresage();
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: () => presage.worlds.delete(name),
    onSuccess() {
      // A world with the same name and revisions may be created later.
      queryClient.removeQueries({
        queryKey: worldsKey,
        predicate: ({ queryKey }) => nameIn(String(queryKey[2])) === name,
      });
      void queryClient.invalidateQueries({ queryKey: [...worldsKey, "all"] });
    },
  });
}
