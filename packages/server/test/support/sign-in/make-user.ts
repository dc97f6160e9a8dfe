import type { KeyScope, Role } from "@presage/contract";
import { addApiKey } from "../../../src/accounts/api-keys.ts";
import { createSignInToken } from "../../../src/accounts/sign-in-route.ts";
import { insertUserWithAccount, localIssuer } from "../../../src/accounts/users-store.ts";
import { createKeyDigest } from "../../../src/accounts/verify-api-key.ts";
import { nowMicros } from "../../../src/platform/storage/columns.ts";
import { sharedSecret } from "../../../src/platform/storage/settings-store.ts";
import type { openStore } from "../store/open-store.ts";

type Store = Awaited<ReturnType<typeof openStore>>;

/** Another user of the owner's account, who signs in with a link. Returns the user's id. */
export async function makeUser(
  { database }: Store,
  role: Role,
  email: string | null = null,
): Promise<string> {
  const user = {
    id: Bun.randomUUIDv7(),
    account_id: Bun.randomUUIDv7(),
    oidc_issuer: localIssuer,
    oidc_subject: crypto.randomUUID(),
    email,
    name: role,
    created_at: nowMicros(),
    role,
  };
  await insertUserWithAccount(database, user, "default");
  return user.id;
}

/** A new key of a user; without scopes it may do all that the user may. */
export async function makeKey(
  { database, keyDigest }: Store,
  userId: string,
  scopes: KeyScope[] | null = null,
): Promise<Record<string, string>> {
  const newKey = { userId, name: (scopes ?? ["all"]).join(" "), expiresAt: null, scopes };
  return { "x-api-key": (await addApiKey(database, keyDigest, newKey)).key };
}

/** The address with which a user signs a browser in. */
export async function signInAddressOf({ database }: Store, url: string, userId: string): Promise<string> {
  const digest = createKeyDigest(await sharedSecret(database, "sign_in_token_digest"));
  return `${url}/sign-in#${await createSignInToken(database, digest, userId)}`;
}
