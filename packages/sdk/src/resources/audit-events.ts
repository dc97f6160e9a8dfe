import type { AuditEventListQuery, AuditEventListResponse } from "@presage/contract";
import type { CallOptions } from "../call.ts";
import type { Transport } from "../transport.ts";

/** Who changed what in the account. For owners. */
export interface AuditEvents {
  /** Lists one page, newest first: `GET /v1/audit-events`. `next` is null on the last page. */
  list(query?: AuditEventListQuery, options?: CallOptions): Promise<AuditEventListResponse>;
}

export function auditEvents({ json }: Transport): AuditEvents {
  return {
    list: (query = {}, options) =>
      json({ method: "GET", path: "/v1/audit-events", query: { ...query }, isRepeatable: true }, options),
  };
}
