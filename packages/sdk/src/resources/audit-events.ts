import type { AuditEvent, AuditEventListQuery, AuditEventListResponse } from "@presage/contract";
import type { CallOptions } from "../call.ts";
import { iterateAllPages } from "../paging/list-all-pages.ts";
import type { Transport } from "../transport.ts";

/** Which changes; without any field, all. */
export type AuditEventFilter = Omit<AuditEventListQuery, "limit" | "after">;

/** Who changed what in the account. For owners. */
export interface AuditEvents {
  /** Yields all that match, newest first, page by page: `GET /v1/audit-events`. */
  iterate(filter?: AuditEventFilter, options?: CallOptions): AsyncGenerator<AuditEvent, void, undefined>;
  /** Lists one page, newest first: `GET /v1/audit-events`. `next` is null on the last page. */
  list(query?: AuditEventListQuery, options?: CallOptions): Promise<AuditEventListResponse>;
}

export function auditEvents({ json }: Transport): AuditEvents {
  const list = (query: AuditEventListQuery = {}, options?: CallOptions) =>
    json<AuditEventListResponse>({ method: "GET", path: "/v1/audit-events", query: { ...query } }, options);

  return {
    list,
    iterate: (filter, options) =>
      iterateAllPages((query) => list({ ...filter, limit: "1000", ...query }, options)),
  };
}
