import { randomBytes } from "node:crypto";
import { createKeyDigest, type KeyDigest } from "./verify-api-key.ts";

const tokenBytes = 32;
/** Tokens contain no colon, so no CSRF token equals a session's digest. */
const csrfLabel = "csrf:";

export interface SessionTokens {
  /** 256 random bits. */
  generate(): string;
  /** The form in which a token is stored. */
  digestOf: KeyDigest;
  /** The token of the session's pages. It does not reveal the session's token, which pages cannot read. */
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
