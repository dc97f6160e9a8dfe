import type { AuditActorKind } from "@presage/contract";
import type { Requester } from "./storage/reader.ts";

/** Who changes something. */
export interface Actor {
  kind: AuditActorKind;
  /** Null for the command line. */
  userId: string | null;
  /** Of the key or session. */
  id: string | null;
  /** Of the key, or of the operating system's user. */
  name: string | null;
  requestId: string | null;
}

/** A requester whose changes are recorded. */
export interface Changer extends Requester {
  actor: Actor;
}
