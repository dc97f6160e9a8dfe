/** The user behind a call, and what proved that it is theirs. */
export interface Caller {
  userId: string;
  accountId: string;
  proof: Proof;
}

export type Proof = { kind: "key"; keyId: string } | { kind: "session"; sessionId: string };

/** Whose rate a call counts against: a key has its own, the sessions of a user share one. */
export function rateHolder({ userId, proof }: Caller): string {
  return proof.kind === "key" ? proof.keyId : userId;
}
