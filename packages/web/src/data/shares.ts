import type { Presage, ShareCreateRequest } from "@presage/sdk";
import { queryOptions } from "@tanstack/react-query";
import { useChange } from "./client.ts";

const queryKey = ["shares"];

/** The links to a run, or to a comparison of runs. */
export function sharesQuery(presage: Presage, ids: readonly string[]) {
  return queryOptions({
    queryKey: [...queryKey, ...ids],
    queryFn: ({ signal }) => presage.shares.list(ids, { signal }),
  });
}

/** Creates a link. `onMade` gets its address. */
export function useCreateShare(onMade: (address: string) => void) {
  return useChange(queryKey, async (presage, request: ShareCreateRequest) => {
    // The link is not returned: the mutation cache keeps results for minutes, and must not contain it.
    const { path } = await presage.shares.create(request);
    onMade(location.origin + path);
  });
}

export function useRevokeShare() {
  return useChange(queryKey, (presage, id: string) => presage.shares.revoke(id));
}
