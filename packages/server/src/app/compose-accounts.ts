import { ensureFirstKey } from "../accounts/api-keys.ts";
import { selectKeyRecord, writeLastUses } from "../accounts/api-keys-store.ts";
import { createSessionTokens } from "../accounts/sessions.ts";
import type { SessionRules } from "../accounts/sessions-store.ts";
import {
  createAttemptCookie,
  createSignInToken,
  type OpenidSignIn,
  type SignIn,
} from "../accounts/sign-in-route.ts";
import { localIssuer, type User } from "../accounts/users-store.ts";
import {
  collectLastUses,
  createKeyDigest,
  createKeyVerifier,
  type KeyVerifier,
} from "../accounts/verify-api-key.ts";
import type { Config, OidcConfig } from "../config/config.ts";
import { type CookieSettings, createSessionCookie } from "../http/authenticate.ts";
import type { Log } from "../platform/observability/logger.ts";
import type { Metrics } from "../platform/observability/metrics.ts";
import { usualIntervalMs } from "../platform/storage/batches.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import { sharedSecret } from "../platform/storage/settings-store.ts";
import type { OpenedDatabase } from "../platform/storage/store.ts";
import type { Services } from "./services.ts";
import { logFailure, type OpenedStore } from "./storage.ts";

/** Finds the caller of a key, and records when the key was last used. */
export function composeKeyVerifier(
  { patience }: Pick<Config, "patience">,
  log: Log,
  { database, keyDigest }: OpenedStore,
  metrics: Metrics,
): { keyVerifier: KeyVerifier; stop(): Promise<void> } {
  const { record, stop } = collectLastUses({
    intervalMs: usualIntervalMs * patience,
    write: (batch) => writeLastUses(database, batch),
    onFailure: (error, isFirst) =>
      logFailure(log, error, "could not write last-used times of API keys; will retry", isFirst),
  });
  metrics.keyVerifications(["unavailable"], 0);
  const keyVerifier = createKeyVerifier({
    digestOf: keyDigest,
    find: (digest) => selectKeyRecord(database, digest),
    recordUse: record,
    count: (outcome) => metrics.keyVerifications([outcome]),
  });
  return { keyVerifier, stop };
}

/** Creates the key for the first request: the bootstrap key, or in local mode one that is printed once. */
export async function composeFirstKey(
  config: Config,
  { database, owner, keyDigest }: OpenedStore,
): Promise<string | undefined> {
  const { bootstrapKey, oidc } = config.identity;
  if (bootstrapKey === undefined && oidc !== undefined) return undefined;
  return await ensureFirstKey(database, keyDigest, owner.id, bootstrapKey);
}

/** Distinguishes the cookies of several servers on one host. */
const suffixLength = 8;

/** The rules by which sessions are valid, and for how long. */
export function sessionRules({ oidc, session }: Config["identity"]): SessionRules {
  return { issuer: oidc?.issuer ?? localIssuer, ...session };
}

/** Sign-in and sessions. `publicUrl` is the address that browsers use. */
export async function composeSignIn(
  { identity }: Config,
  { database }: Pick<OpenedDatabase, "database">,
  publicUrl: string,
): Promise<
  Pick<Services, "signIn" | "sessionCookie"> & {
    sessions: Pick<Services, "sessionTokens" | "sessionRules" | "openidProvider">;
  }
> {
  const rules = sessionRules(identity);
  const secret = await sharedSecret(database, "session_digest");
  const cookies: CookieSettings = {
    suffix: new Bun.CryptoHasher("sha256", secret).update("cookie:").digest("hex").slice(0, suffixLength),
    isSecure: publicUrl.startsWith("https:"),
  };
  const signIn: SignIn =
    identity.oidc === undefined
      ? { kind: "local", tokenDigest: await signInDigest(database) }
      : await composeOpenidSignIn(identity.oidc, database, publicUrl, cookies);
  return {
    signIn,
    sessionCookie: createSessionCookie({ ...cookies, maxAgeMs: rules.maxMs }),
    sessions: {
      sessionTokens: createSessionTokens(secret),
      sessionRules: rules,
      openidProvider: signIn.kind === "openid" ? signIn.provider : undefined,
    },
  };
}

/** Creates the one-time sign-in path of local mode. Browsers do not send its fragment, so no server or log sees it. */
export async function createSignInPath({
  database,
  owner,
}: {
  database: Database;
  owner: Pick<User, "id">;
}): Promise<string> {
  const token = await createSignInToken(database, await signInDigest(database), owner.id);
  return `/sign-in#${token}`;
}

async function signInDigest(database: Database) {
  return createKeyDigest(await sharedSecret(database, "sign_in_token_digest"));
}

async function composeOpenidSignIn(
  { allowedDomains, accountClaim, newUserRole, ...oidc }: OidcConfig,
  database: Database,
  publicUrl: string,
  cookies: CookieSettings,
): Promise<OpenidSignIn> {
  // Loaded here because only this mode needs it.
  const { createAttemptSeal, createOpenidProvider } = await import("../accounts/openid.ts");
  const provider = createOpenidProvider({
    ...oidc,
    callbackUrl: `${publicUrl}/auth/callback`,
    signedOutUrl: `${publicUrl}/sign-in?signed_out`,
    rules: { allowedDomains, accountClaim },
  });
  const seal = createAttemptSeal(await sharedSecret(database, "sign_in_attempt"));
  return {
    kind: "openid",
    issuer: oidc.issuer,
    newUserRole,
    publicUrl,
    provider,
    attempts: createAttemptCookie(cookies, seal),
  };
}
