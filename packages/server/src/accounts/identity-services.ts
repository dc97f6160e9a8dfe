import type { Store } from "../platform/storage/store.ts";
import type { OpenidProvider } from "./openid.ts";
import type { SessionTokens } from "./sessions.ts";
import type { SessionRules } from "./sessions-store.ts";
import type { KeyDigest, KeyVerifier } from "./verify-api-key.ts";

/** Dependencies of the operations on users, keys and sessions. */
export interface IdentityServices {
  readonly store: Store;
  readonly keyDigest: KeyDigest;
  readonly keyVerifier: KeyVerifier;
  /** Makes the other workers forget a revoked key too; returns once they have. */
  forgetKeyElsewhere(digest: string): Promise<void>;
  readonly sessionTokens: SessionTokens;
  readonly sessionRules: SessionRules;
  /** Absent in local mode. */
  readonly openidProvider: OpenidProvider | undefined;
}
