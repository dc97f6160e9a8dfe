import type { AuditAction } from "@presage/contract";
import type { Changer } from "./actor.ts";
import { insertAuditEvent } from "./audit-events-store.ts";
import { refuseClosedAccounts } from "./storage/closed-accounts-store.ts";
import { nowMicros } from "./storage/micros.ts";
import type { Database } from "./storage/schema/tables.ts";

/** Names, scopes, counts: no texts of requests, and no secrets. */
export type ChangeDetail = Readonly<
  Record<string, string | number | boolean | null | undefined | readonly string[]>
>;

export interface Change {
  action: AuditAction;
  objectId: string;
  detail?: ChangeDetail;
}

/**
 * Records a change in its own transaction: neither is stored without the other. Refuses accounts closed since the request began, except
 * for the command line, which erases them. Returns the event's id.
 */
export async function recordChange(
  transaction: Database,
  { accountId, actor }: Pick<Changer, "accountId" | "actor">,
  { action, objectId, detail = {} }: Change,
): Promise<string> {
  if (actor.kind !== "command_line") await refuseClosedAccounts(transaction, [accountId]);
  const id = Bun.randomUUIDv7();
  await insertAuditEvent(transaction, {
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
  });
  return id;
}
