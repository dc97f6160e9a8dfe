import type { KeyScope, Role } from "@presage/contract";
import type { Actor } from "../platform/audit.ts";
import { ServiceError } from "../platform/errors.ts";
import { type KeyLimits, type LimitHolders, noKeyLimits } from "../platform/limits/admission.ts";

/** The user behind a request, and how they authenticated. */
export interface Caller {
  userId: string;
  accountId: string;
  role: Role;
  proof: Proof;
}

export type Proof =
  | {
      kind: "key";
      keyId: string;
      keyName: string;
      limits: KeyLimits;
      /** What it may do, within the user's role; null: all that the role may. */
      scopes: readonly KeyScope[] | null;
      /** Which predictions are kept; null: the server's setting. */
      capture: string | null;
    }
  | { kind: "session"; sessionId: string }
  /** A command on the server's machine, with the key of this start. */
  | { kind: "command_line"; scopes: readonly KeyScope[] };

/** Whose limits a request counts against: each key has its own, the sessions of a user share them. */
export function limitHolders({ userId, accountId, proof }: Caller): LimitHolders {
  return proof.kind === "key"
    ? { userId, accountId, keyOrUserId: proof.keyId, keyLimits: proof.limits }
    : { userId, accountId, keyOrUserId: userId, keyLimits: noKeyLimits };
}

/** A caller in the audit log. */
export function actorOf({ userId, proof }: Caller, requestId: string): Actor {
  if (proof.kind === "command_line")
    return { kind: "command_line", userId: null, id: null, name: null, requestId };
  return proof.kind === "key"
    ? { kind: "api_key", userId, id: proof.keyId, name: proof.keyName, requestId }
    : { kind: "session", userId, id: proof.sessionId, name: null, requestId };
}

/** The same text for every refusal: it reveals nothing about which keys and sessions exist. */
export function notAuthenticated(): ServiceError {
  return new ServiceError("unauthenticated", "Authentication required: send an API key or sign in.");
}
