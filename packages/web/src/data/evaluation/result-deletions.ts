import type { Presage, ResultFilter } from "@presage/sdk";
import { queryOptions, useMutation } from "@tanstack/react-query";
import { usePresage } from "../use-presage.ts";

const queryKey = ["result deletions"];
const pollMs = 500;

/** How many results a deletion would take, and how many stay with their run. Counted anew each time. */
export function deletableCountQuery(presage: Presage, filter: ResultFilter) {
  return queryOptions({
    queryKey: [...queryKey, "count", filter],
    queryFn: ({ signal }) => presage.results.countDeletable(filter, { signal }),
    staleTime: 0,
    gcTime: 0,
  });
}

/** How far a deletion is, until it has ended. */
export function deletionQuery(presage: Presage, id: string) {
  return queryOptions({
    queryKey: [...queryKey, "one", id],
    queryFn: ({ signal }) => presage.results.getDeletion(id, { signal }),
    refetchInterval: ({ state: { data } }) => (data?.status === "finished" ? false : pollMs),
  });
}

/** Deletes in the background what was counted. */
export function useDeleteResults(filter: ResultFilter) {
  const presage = usePresage();
  return useMutation({
    mutationFn: (expectedCount: number) => presage.results.deleteMatching(filter, expectedCount),
  });
}
