import type { Presage } from "@presage/sdk";
import { queryOptions } from "@tanstack/react-query";

/** The names of all apps that have results. */
export function appsQuery(presage: Presage) {
  return queryOptions({
    queryKey: ["apps"],
    queryFn: async ({ signal }) => (await presage.apps.list({ signal })).map(({ name }) => name),
  });
}
