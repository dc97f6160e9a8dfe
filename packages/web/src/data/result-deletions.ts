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

/** How many results would be deleted, and how many stay with their run. Always a fresh count. */
export function deletableCountQuery(presage: Presage, filter: ResultFilter) {
  return queryOptions({
    queryKey: [...queryKey, "count", filter],
    queryFn: ({ signal }) => presage.results.countDeletable(filter, { signal }),
    staleTime: 0,
    gcTime: 0,
  });
}

/** How far a deletion is, until it has ended. */
function deletionQuery(presage: Presage, id: string) {
  return queryOptions({
    queryKey: [...queryKey, "one", id],
    queryFn: ({ signal }) => presage.results.getDeletion(id, { signal }),
    refetchInterval: ({ state: { data } }) => (data?.status === "finished" ? false : pollMs),
  });
}

export interface ResultDeletion {
  /** Absent until the server has begun. */
  begun: EvaluationResultDeletion | undefined;
  /** How many are deleted so far. */
  deleted: number;
  /** Asked for, and not finished. */
  isBusy: boolean;
  /** Why it did not begin. */
  refusal: Error | null;
  /** Why it is not known how far it is. */
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
 * Deletes in the background what was counted, and loads the lists again when that is finished, also for whoever has left the page.
 * It belongs to the page rather than to the dialog, as the deletion continues when the dialog is closed.
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

/** Lists are kept for whoever comes back to their page. */
function refreshOnceDeleted(presage: Presage, queryClient: QueryClient, id: string): void {
  const stopWatching = new QueryObserver(queryClient, deletionQuery(presage, id)).subscribe(({ data }) => {
    if (data?.status !== "finished") return;
    stopWatching();
    refreshResults(queryClient);
  });
}
