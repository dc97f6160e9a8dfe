import type { Presage } from "@presage/sdk";
import { queryOptions } from "@tanstack/react-query";

export function deploymentsQuery(presage: Presage) {
  return queryOptions({
    queryKey: ["deployments"],
    queryFn: ({ signal }) => presage.deployments.list({ signal }),
    staleTime: 5_000,
  });
}
