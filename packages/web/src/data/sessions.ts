import type { Presage } from "@presage/sdk";
import { queryOptions } from "@tanstack/react-query";

export function sessionsQuery(presage: Presage) {
  return queryOptions({
    queryKey: ["sessions"],
    queryFn: ({ signal }) => presage.sessions.list({ signal }),
  });
}
