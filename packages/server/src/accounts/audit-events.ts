import {
  AuditEventListQuery,
  type AuditEventListResponse,
  type AuditEvent as EventBody,
  readInstant,
} from "@presage/contract";
import type { Services } from "../app/services.ts";
import { readKeysetPage, toCursor } from "../http/list-cursor.ts";
import { readKnownQuery } from "../http/read-request.ts";
import { requesterOf } from "../http/requester-of.ts";
import { type Route, withCaller } from "../http/route.ts";
import {
  type AuditFilter,
  type StoredAuditEvent,
  selectAuditEvents,
} from "../platform/audit-events-store.ts";
import { defined } from "../platform/defined.ts";
import { toIsoInstant } from "../platform/storage/micros.ts";

export function auditEventRoutes({ store }: Services): Route[] {
  return [
    withCaller("GET", "/v1/audit-events", "manage", async (call) => {
      const query = readKnownQuery(call, AuditEventListQuery);
      const { action, actor_user_id, object_id, from, to } = query;
      const filter: AuditFilter = defined({
        action,
        actorUserId: actor_user_id?.toLowerCase(),
        objectId: object_id,
        from: from === undefined ? undefined : readInstant(from),
        to: to === undefined ? undefined : readInstant(to),
      });
      const requester = requesterOf(call);
      const reader = store.briefReader(requester);
      const { rows, next } = await selectAuditEvents(
        reader,
        requester.accountId,
        filter,
        readKeysetPage(query),
      );
      const response: AuditEventListResponse = { data: rows.map(toAuditEvent), next: toCursor(next) };
      return Response.json(response);
    }),
  ];
}

export function toAuditEvent(event: StoredAuditEvent): EventBody {
  const { id, created_at, action, object_id, request_id, detail } = event;
  return {
    id,
    created_at: toIsoInstant(created_at),
    action,
    object_id,
    actor: {
      kind: event.actor_kind,
      user_id: event.actor_user_id,
      email: event.email,
      id: event.actor_id,
      name: event.actor_name,
    },
    request_id,
    detail: JSON.parse(detail),
    names: event.names,
  };
}
