import {
  AuditEventListQuery,
  AuditEventListResponse,
  type AuditEvent as EventBody,
  readInstant,
} from "@presage/contract";
import { response } from "../http/describe.ts";
import { readKeysetPage, toCursor } from "../http/request.ts";
import { reply, route } from "../http/route.ts";
import { type AuditFilter, type StoredAuditEvent, selectAuditEvents } from "../platform/audit.ts";
import { toIsoInstant } from "../platform/storage/columns.ts";
import type { Store } from "../platform/storage/store.ts";
import { defined } from "../platform/words.ts";

const listAuditEvents = route("GET", "/v1/audit-events", {
  needs: "manage",
  id: "listAuditEvents",
  summary: "List who changed what",
  description:
    "Lists the changes in the caller's account through the API, the dashboard or the command line: who changed what, and when. For owners. Predictions, evaluations and steps of episodes are recorded elsewhere.",
  query: AuditEventListQuery,
  responses: {
    "200": response("The events, newest first", AuditEventListResponse, {
      data: [
        {
          id: "01a2015d-17f6-75b4-a7a7-ccd9f62a3a60",
          created_at: "2026-11-22T03:46:47.926Z",
          action: "api_key.create",
          object_id: "01a2015d-17f6-75b4-a7a7-ccd9f62a3a59",
          actor: {
            kind: "session",
            user_id: "01a2015d-17ca-76a5-aa4f-c26a65d9cd6e",
            email: "sam@example.com",
            id: "01a2015d-17cc-778e-bb65-bb9788f05399",
            name: null,
          },
          request_id: "6d3f2a4e-5a53-4b1f-9a55-6a5a1c0e9f11",
          detail: { name: "training cluster", scopes: ["predict"] },
          names: {
            "01a2015d-17f6-75b4-a7a7-ccd9f62a3a59": "training cluster",
            "01a2015d-17ca-76a5-aa4f-c26a65d9cd6e": "Sam",
          },
        },
      ],
      next: null,
    }),
  },
  async handle({ store }: { store: Store }, { requester, query }) {
    const { action, actor_user_id, object_id, from, to } = query;
    const filter: AuditFilter = defined({
      action,
      actorUserId: actor_user_id?.toLowerCase(),
      objectId: object_id,
      from: from === undefined ? undefined : readInstant(from),
      to: to === undefined ? undefined : readInstant(to),
    });
    const reader = store.briefReader(requester);
    const page = readKeysetPage(query);
    const { rows, next } = await selectAuditEvents(reader, requester.accountId, filter, page);
    return reply(200, { data: rows.map(toAuditEvent), next: toCursor(next) });
  },
});

export const auditEventRoutes = [listAuditEvents];

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
