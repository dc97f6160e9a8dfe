import type { Presage, ResultFilter } from "@presage/sdk";
import { queryOptions } from "@tanstack/react-query";

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
export function deletionQuery(presage: Presage, id: string) {
  return queryOptions({
    queryKey: [...queryKey, "one", id],
    queryFn: ({ signal }) => presage.results.getDeletion(id, { signal }),
    refetchInterval: ({ state: { data } }) => (data?.status === "finished" ? false : pollMs),
  });
}
