import { randomBytes } from "node:crypto";
import { createKeyDigest, type KeyDigest } from "../api-keys/key-digest.ts";

const tokenBytes = 32;
/** No token has a colon, so that no CSRF token is the digest of a session. */
const csrfLabel = "csrf:";

export interface SessionTokens {
  /** 256 random bits. */
  generate(): string;
  /** What of a token is stored. */
  digestOf: KeyDigest;
  /** What a page of the session proves itself by. It says nothing of the token, which the page cannot read. */
  csrfTokenOf(token: string): string;
}

export function createSessionTokens(secret: string): SessionTokens {
  const digestOf = createKeyDigest(secret);
  return {
    generate: () => randomBytes(tokenBytes).toString("base64url"),
    digestOf,
    csrfTokenOf: (token) => digestOf(csrfLabel + token),
  };
}
