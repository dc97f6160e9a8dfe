import type { EvaluationResultDeletion, Presage, ResultFilter } from "@presage/sdk";
import {
  type QueryClient,
  QueryObserver,
  queryOptions,
  useMutation,
  useQuery,
  useQueryClient,
} from "@tanstack/react-query";
import { useEffect, useEffectEvent } from "react";
import { usePresage } from "./client.ts";
import { refreshResults } from "./results.ts";

const queryKey = ["result deletions"];
const pollMs = 500;

/** The number of results that would be deleted, and the number that stay with their run. Always counted anew. */
export function deletableCountQuery(presage: Presage, filter: ResultFilter) {
  return queryOptions({
    queryKey: [...queryKey, "count", filter],
    queryFn: ({ signal }) => presage.results.countDeletable(filter, { signal }),
    staleTime: 0,
    gcTime: 0,
  });
}

/** The progress of a deletion, until it is finished. */
function deletionQuery(presage: Presage, id: string) {
  return queryOptions({
    queryKey: [...queryKey, "one", id],
    queryFn: ({ signal }) => presage.results.getDeletion(id, { signal }),
    refetchInterval: ({ state: { data } }) => (data?.status === "finished" ? false : pollMs),
  });
}

export interface ResultDeletion {
  /** Absent until the server has started. */
  begun: EvaluationResultDeletion | undefined;
  /** The number of results deleted so far. */
  deleted: number;
  /** Requested, but not finished. */
  isBusy: boolean;
  /** Why the deletion did not start. */
  refusal: Error | null;
  /** Why the progress is not known. */
  progressError: Error | null;
  begin(request: DeletionRequest): void;
  /** Forgets a refusal. */
  reset(): void;
}

interface DeletionRequest {
  filter: ResultFilter;
  expectedCount: number;
}

/**
 * Deletes the counted results in the background, and reloads the lists when that is finished, even if the user has left the page.
 * The state belongs to the page rather than to the dialog, as the deletion continues when the dialog is closed.
 */
export function useResultDeletion({ onFinished }: { onFinished(): void }): ResultDeletion {
  const presage = usePresage();
  const queryClient = useQueryClient();
  const { data, error, isPending, mutate, reset } = useMutation({
    mutationFn: ({ filter, expectedCount }: DeletionRequest) =>
      presage.results.deleteMatching(filter, expectedCount),
    onSuccess: ({ id }) => refreshOnceDeleted(presage, queryClient, id),
  });
  const progress = useQuery({ ...deletionQuery(presage, data?.id ?? ""), enabled: data !== undefined });
  const isFinished = data !== undefined && progress.data?.status === "finished";
  const finish = useEffectEvent(() => {
    reset();
    onFinished();
  });
  useEffect(() => {
    if (isFinished) finish();
  }, [isFinished]);
  return {
    begun: data,
    deleted: progress.data?.deleted ?? 0,
    isBusy: isPending || data !== undefined,
    refusal: error,
    progressError: progress.error,
    begin: mutate,
    reset,
  };
}

/** Reloads the lists even without their page, since they are cached for when the user returns. */
function refreshOnceDeleted(presage: Presage, queryClient: QueryClient, id: string): void {
  const stopWatching = new QueryObserver(queryClient, deletionQuery(presage, id)).subscribe(({ data }) => {
    if (data?.status !== "finished") return;
    stopWatching();
    refreshResults(queryClient);
  });
}
