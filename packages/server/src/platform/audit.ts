import type { AuditAction, AuditActorKind } from "@presage/contract";
import { type DeletedBatch, inTimedTransaction } from "./storage/batches.ts";
import { refuseClosedAccounts } from "./storage/closed-accounts-store.ts";
import { type Micros, nowMicros } from "./storage/columns.ts";
import { isAfter, type KeysetPage, type ListPart, toListPart } from "./storage/lists.ts";
import { selectNames } from "./storage/rows.ts";
import type { AuditEventsTable } from "./storage/schema/accounts.ts";
import type { Database } from "./storage/schema/tables.ts";
import type { Requester } from "./storage/store.ts";

/** The one who makes a change. */
export interface Actor {
  kind: AuditActorKind;
  /** Null for the command line. */
  userId: string | null;
  /** The id of the key or session. */
  id: string | null;
  /** The name of the key, or of the operating system's user. */
  name: string | null;
  requestId: string | null;
}

/** The account and the actor of a change. */
export interface Author {
  accountId: string;
  actor: Actor;
}

/** A requester whose changes are recorded. */
export interface Changer extends Requester, Author {}

/** An event with its actor's e-mail address, and the current names of the objects whose ids it has. */
export type StoredAuditEvent = Omit<AuditEventsTable, "account_id"> & {
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

/** Replaces the detail of an event whose change is still in progress. */
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
    /_ids?$/.test(name) ? value : [],
  );
  return [object_id, actor_user_id, ...ofDetail].filter((id) => typeof id === "string");
}

/** Names, scopes and counts; no texts of requests and no secrets. */
type ChangeDetail = Readonly<
  Record<string, string | number | boolean | null | undefined | readonly string[]>
>;

/**
 * Records a change in the change's own transaction, so that neither is stored without the other. Refuses accounts closed since the
 * request began, except for the command line, which erases them. Returns the event's id.
 */
export async function recordChange(
  transaction: Database,
  { accountId, actor }: Author,
  action: AuditAction,
  objectId: string,
  detail: ChangeDetail = {},
): Promise<string> {
  if (actor.kind !== "command_line") await refuseClosedAccounts(transaction, [accountId]);
  const id = Bun.randomUUIDv7();
  await transaction
    .insertInto("audit_events")
    .values({
      id,
      account_id: accountId,
      created_at: nowMicros(),
      action,
      object_id: objectId,
      actor_kind: actor.kind,
      actor_user_id: actor.userId,
      actor_id: actor.id,
      actor_name: actor.name,
      request_id: actor.requestId,
      detail: JSON.stringify(detail),
    })
    .execute();
  return id;
}

/** Deletes some of an account's events from before a time, oldest first. */
export async function deleteOldAuditEvents(
  database: Database,
  { accountId, before }: { accountId: string; before: Micros },
  limit: number,
): Promise<DeletedBatch<true>> {
  const oldest = await database
    .selectFrom("audit_events")
    .select("id")
    .where("account_id", "=", accountId)
    .where("created_at", "<", before)
    .orderBy("created_at")
    .orderBy("id")
    .limit(limit)
    .execute();
  if (oldest.length === 0) return { deleted: 0, heldMs: 0, next: undefined };
  const ids = oldest.map(({ id }) => id);
  const { result, heldMs } = await inTimedTransaction(database, (transaction) =>
    transaction.deleteFrom("audit_events").where("id", "in", ids).executeTakeFirstOrThrow(),
  );
  const next = ids.length < limit ? undefined : true;
  return { deleted: Number(result.numDeletedRows), heldMs, next };
}
