import type { LivePredictionFilter, Presage, StoredPredictionFilter } from "@presage/sdk";
import { keepPreviousData, queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { pagedQuery, usePresage } from "./client.ts";

const listKey = ["stored predictions"];
const pageSize = 100;
const excerptCharacters = 200;
const freshForMs = 30_000;
/** Someone who opens hundreds should keep only the last ones in memory. */
const detailCacheMs = 30_000;

/** Matching predictions, newest first, page by page. Loaded pages are not loaded again, so that rows stay where they are. */
export function storedPredictionsQuery(presage: Presage, filter: StoredPredictionFilter) {
  return {
    ...pagedQuery([...listKey, "pages", filter], ({ after, signal }) =>
      presage.storedPredictions.list(
        { ...filter, limit: pageSize, after, text_limit: excerptCharacters },
        { signal },
      ),
    ),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: freshForMs,
  };
}

export type StoredPredictionCount = Awaited<ReturnType<Presage["storedPredictions"]["count"]>>;

/** How many match, up to 10,000. */
export function storedPredictionCountQuery(presage: Presage, filter: StoredPredictionFilter) {
  return queryOptions({
    queryKey: [...listKey, "count", filter],
    queryFn: ({ signal }) => presage.storedPredictions.count(filter, { signal }),
    staleTime: freshForMs,
  });
}

/** The values that the filters can take, with how many predictions have each. */
export function storedPredictionValuesQuery(presage: Presage, filter: StoredPredictionFilter) {
  return queryOptions({
    queryKey: [...listKey, "values", filter],
    queryFn: ({ signal }) => presage.storedPredictions.values(filter, { signal }),
    staleTime: freshForMs,
    placeholderData: keepPreviousData,
  });
}

/** One prediction with what was asked and answered. */
export function storedPredictionQuery(presage: Presage, id: string) {
  return queryOptions({
    queryKey: [...listKey, "one", id],
    queryFn: ({ signal }) => presage.storedPredictions.get(id, { signal }),
    gcTime: detailCacheMs,
    staleTime: Number.POSITIVE_INFINITY,
  });
}

export function useDeletePrediction({ onSuccess }: { onSuccess(): void }) {
  const presage = usePresage();
  const refresh = useRefreshPredictions();
  return useMutation({
    mutationFn: (id: string) => presage.storedPredictions.delete(id),
    onSuccess() {
      onSuccess();
      refresh();
    },
  });
}

/** Deletes those of live traffic that match and are older than a time. */
export function useDeletePredictions({ onSuccess }: { onSuccess(deleted: number): void }) {
  const presage = usePresage();
  const refresh = useRefreshPredictions();
  return useMutation({
    mutationFn: ({ before, filter }: { before: string; filter: LivePredictionFilter }) =>
      presage.storedPredictions.deleteLive(before, { filter }),
    onSuccess,
    onSettled: refresh,
  });
}

/** Loads lists and counts again, from the start. */
export function useRefreshPredictions(): () => void {
  const queryClient = useQueryClient();
  return () => {
    void queryClient.resetQueries({ queryKey: [...listKey, "pages"] });
    void queryClient.invalidateQueries({ queryKey: [...listKey, "count"] });
    void queryClient.invalidateQueries({ queryKey: [...listKey, "values"] });
  };
}
