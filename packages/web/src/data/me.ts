import type { Presage } from "@presage/sdk";
import { queryOptions } from "@tanstack/react-query";

export const meQueryKey = ["me"];

export function meQuery(presage: Presage) {
  return queryOptions({
    queryKey: meQueryKey,
    queryFn: ({ signal }) => presage.me({ signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });
}
