import type { Presage } from "@presage/sdk";
import { queryOptions } from "@tanstack/react-query";

export function modelsQuery(presage: Presage) {
  return queryOptions({
    queryKey: ["models"],
    queryFn: ({ signal }) => presage.models.list({ signal }),
    staleTime: 60_000,
  });
}
