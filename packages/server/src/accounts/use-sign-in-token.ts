import { ServiceError } from "../platform/errors.ts";
import { nowMicros } from "../platform/storage/micros.ts";
import type { IdentityServices } from "./identity-services.ts";
import { markUsed } from "./sign-in-tokens-store.ts";
import { admitSession, type SessionBrowser } from "./start-session.ts";
import { selectUser } from "./users-store.ts";
import type { KeyDigest } from "./verify-api-key.ts";

/** Uses up a sign-in link's token and signs in its user. Returns the session's token. */
export async function useSignInToken(
  services: Pick<IdentityServices, "store" | "sessionTokens" | "sessionRules">,
  digestOf: KeyDigest,
  token: string,
  browser: SessionBrowser,
): Promise<string> {
  return await admitSession(
    services,
    "local sign-in",
    async (transaction) => {
      const userId = await markUsed(transaction, digestOf(token), nowMicros());
      const user = userId === undefined ? undefined : await selectUser(transaction, userId);
      if (user !== undefined) return { userId: user.id, accountId: user.account_id, idToken: null };
      throw new ServiceError(
        "unauthenticated",
        "This sign-in link was already used or is older than 12 hours.",
      );
    },
    browser,
  );
}
