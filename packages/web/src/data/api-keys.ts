import type { Presage } from "@presage/sdk";
import { queryOptions } from "@tanstack/react-query";

export function apiKeysQuery(presage: Presage) {
  return queryOptions({
    queryKey: ["api-keys"],
    queryFn: ({ signal }) => presage.apiKeys.list({ signal }),
  });
}
