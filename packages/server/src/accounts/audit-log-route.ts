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
import examples from "./examples.json" with { type: "json" };

const listAuditEvents = route("GET", "/v1/audit-events", {
  needs: "manage",
  id: "listAuditEvents",
  summary: "List who changed what",
  description:
    "Lists the changes in the caller's account through the API, the dashboard or the command line: who changed what, and when. For owners. Predictions, evaluations and steps of episodes are recorded elsewhere.",
  query: AuditEventListQuery,
  responses: {
    "200": response("The events, newest first", AuditEventListResponse, examples.auditEvents),
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
