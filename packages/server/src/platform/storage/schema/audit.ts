import type { AuditAction, AuditActorKind } from "@presage/contract";
import type { Micros } from "../micros.ts";

/**
 * Who changed what. Rows are never changed, except for the detail of a change that goes on over several transactions. They are deleted by
 * their age, or with their account.
 */
export interface AuditEventsTable {
  id: string;
  account_id: string;
  created_at: Micros;
  action: AuditAction;
  object_id: string;
  actor_kind: AuditActorKind;
  /** Null for the command line. */
  actor_user_id: string | null;
  /** Of the key or session. */
  actor_id: string | null;
  /** The key's name then, or the operating system's user. */
  actor_name: string | null;
  request_id: string | null;
  /** JSON. */
  detail: string;
}
