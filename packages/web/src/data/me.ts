import type { Presage } from "@presage/sdk";
import { queryOptions } from "@tanstack/react-query";

export function meQuery(presage: Presage) {
  return queryOptions({
    queryKey: ["me"],
    queryFn: ({ signal }) => presage.me({ signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });
}
