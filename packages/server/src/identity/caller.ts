import { ServiceError } from "../errors.ts";

/** The user behind a request, and how they authenticated. */
export interface Caller {
  userId: string;
  accountId: string;
  proof: Proof;
}

export type Proof = { kind: "key"; keyId: string; keyName: string } | { kind: "session"; sessionId: string };

/** Whose rate limit a request counts against: each key has its own, the sessions of a user share one. */
export function rateHolder({ userId, proof }: Caller): string {
  return proof.kind === "key" ? proof.keyId : userId;
}

/** The same text for every refusal: it reveals nothing about which keys and sessions exist. */
export function notAuthenticated(): ServiceError {
  return new ServiceError("unauthenticated", "Authentication required: send an API key or sign in.");
}
