import { ServiceError } from "../errors.ts";
import { type KeyLimits, type LimitHolders, noKeyLimits } from "../limits/admission.ts";

/** The user behind a request, and how they authenticated. */
export interface Caller {
  userId: string;
  accountId: string;
  proof: Proof;
}

export type Proof =
  | {
      kind: "key";
      keyId: string;
      keyName: string;
      limits: KeyLimits;
      /** Which predictions are kept; null: the server's setting. */
      capture: string | null;
    }
  | { kind: "session"; sessionId: string };

/** Whose limits a request counts against: each key has its own, the sessions of a user share them. */
export function limitHolders({ userId, accountId, proof }: Caller): LimitHolders {
  return proof.kind === "key"
    ? { userId, accountId, keyOrUserId: proof.keyId, keyLimits: proof.limits }
    : { userId, accountId, keyOrUserId: userId, keyLimits: noKeyLimits };
}

/** The same text for every refusal: it reveals nothing about which keys and sessions exist. */
export function notAuthenticated(): ServiceError {
  return new ServiceError("unauthenticated", "Authentication required: send an API key or sign in.");
}
