import type { AuditEvent, AuditEventListQuery, Presage } from "@presage/sdk";
import { infiniteQueryOptions } from "@tanstack/react-query";
import { flattenPages } from "./flatten-pages.ts";

const pageSize = "100";

export type AuditFilter = Pick<AuditEventListQuery, "action" | "actor_user_id" | "object_id">;

/** Who changed what, newest first, page by page. */
export function auditEventsQuery(presage: Presage, filter: AuditFilter) {
  return infiniteQueryOptions({
    queryKey: ["audit-events", filter],
    queryFn: ({ pageParam, signal }) =>
      presage.auditEvents.list({ ...filter, limit: pageSize, after: pageParam }, { signal }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next }): string | undefined => next ?? undefined,
    select: flattenPages<AuditEvent>,
  });
}
