import type { AuditAction } from "@presage/contract";
import type { Selectable } from "kysely";
import { isAfter, type KeysetPage, type ListPart, toListPart } from "./storage/keyset.ts";
import type { Micros } from "./storage/micros.ts";
import { selectNames } from "./storage/names-store.ts";
import type { AuditEventsTable } from "./storage/schema/audit.ts";
import type { Database } from "./storage/schema/tables.ts";

/** An event with its actor's e-mail address, and the names of what it has the ids of, as they are now. */
export type StoredAuditEvent = Omit<Selectable<AuditEventsTable>, "account_id"> & {
  email: string | null;
  names: Record<string, string | null>;
};

export interface AuditFilter {
  action?: AuditAction;
  actorUserId?: string;
  objectId?: string;
  from?: Micros;
  to?: Micros;
}

export async function insertAuditEvent(transaction: Database, row: AuditEventsTable): Promise<void> {
  await transaction.insertInto("audit_events").values(row).execute();
}

/** Of an event whose change is still in progress. */
export async function updateAuditDetail(transaction: Database, id: string, detail: object): Promise<void> {
  await transaction
    .updateTable("audit_events")
    .set({ detail: JSON.stringify(detail) })
    .where("id", "=", id)
    .execute();
}

/** A page of an account's events, newest first. */
export async function selectAuditEvents(
  reader: Database,
  accountId: string,
  { action, actorUserId, objectId, from, to }: AuditFilter,
  { limit, after }: KeysetPage,
): Promise<ListPart<StoredAuditEvent>> {
  let page = reader.selectFrom("audit_events").selectAll().where("account_id", "=", accountId);
  if (action !== undefined) page = page.where("action", "=", action);
  if (actorUserId !== undefined) page = page.where("actor_user_id", "=", actorUserId);
  if (objectId !== undefined) page = page.where("object_id", "=", objectId);
  if (from !== undefined) page = page.where("created_at", ">=", from);
  if (to !== undefined) page = page.where("created_at", "<", to);
  if (after !== undefined) page = page.where(isAfter(after));
  page = page
    .orderBy("created_at", "desc")
    .orderBy("id", "desc")
    .limit(limit + 1);
  const rows = await reader
    .selectFrom(page.as("event"))
    .leftJoin("users", "users.id", "event.actor_user_id")
    .select([
      "event.id",
      "event.created_at",
      "event.action",
      "event.object_id",
      "event.actor_kind",
      "event.actor_user_id",
      "event.actor_id",
      "event.actor_name",
      "event.request_id",
      "event.detail",
      "users.email",
    ])
    .orderBy("event.created_at", "desc")
    .orderBy("event.id", "desc")
    .execute();
  const names = await selectNames(reader, accountId, rows.flatMap(idsOf));
  const named = rows.map((row) => ({
    ...row,
    names: Object.fromEntries(idsOf(row).map((id) => [id, names.get(id) ?? null])),
  }));
  return toListPart(named, limit);
}

/** The ids in an event: its object's, its actor's and those in its detail. */
function idsOf({ object_id, actor_user_id, detail }: Omit<StoredAuditEvent, "names">) {
  const ofDetail = Object.entries(JSON.parse(detail) as object).flatMap(([name, value]) =>
    name.endsWith("_id") ? value : [],
  );
  return [object_id, actor_user_id, ...ofDetail].filter((id) => typeof id === "string");
}

/** The oldest events of an account from before a time. */
export async function selectOldAuditEvents(
  database: Database,
  accountId: string,
  before: Micros,
  limit: number,
): Promise<string[]> {
  const rows = await database
    .selectFrom("audit_events")
    .select("id")
    .where("account_id", "=", accountId)
    .where("created_at", "<", before)
    .orderBy("created_at")
    .orderBy("id")
    .limit(limit)
    .execute();
  return rows.map(({ id }) => id);
}

export async function deleteAuditEvents(transaction: Database, ids: readonly string[]): Promise<number> {
  const { numDeletedRows } = await transaction
    .deleteFrom("audit_events")
    .where("id", "in", ids)
    .executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}
