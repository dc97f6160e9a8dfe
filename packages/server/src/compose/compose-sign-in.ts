import type { Config, OidcConfig } from "../config.ts";
import { type CookieSettings, createSessionCookie } from "../http/pipeline/session-cookie.ts";
import type { SessionsArea } from "../http/resources/sessions/sessions.ts";
import { createAttemptCookie } from "../http/resources/sign-in/attempt-cookie.ts";
import type { SessionKeeper } from "../http/resources/sign-in/rotate-session.ts";
import type { SignIn } from "../http/resources/sign-in/sign-in.ts";
import { createKeyDigest } from "../identity/api-keys/key-digest.ts";
import type { Caller } from "../identity/caller.ts";
import { type Hold, holdLiveCaller } from "../identity/hold-live-caller.ts";
import type { OpenidProvider } from "../identity/openid/openid-provider.ts";
import { rememberUser } from "../identity/openid/remember-user.ts";
import { endSession } from "../identity/sessions/end-session.ts";
import { listSessions } from "../identity/sessions/list-sessions.ts";
import type { SessionRules } from "../identity/sessions/session-rules.ts";
import { createSessionTokens, type SessionTokens } from "../identity/sessions/session-tokens.ts";
import { selectIdToken } from "../identity/sessions/sessions-store.ts";
import { startSession } from "../identity/sessions/start-session.ts";
import { verifySession } from "../identity/sessions/verify-session.ts";
import { createSignInToken } from "../identity/sign-in-tokens/create-sign-in-token.ts";
import { useSignInToken } from "../identity/sign-in-tokens/use-sign-in-token.ts";
import { localIssuer } from "../identity/users/ensure-owner.ts";
import type { User } from "../identity/users/users-store.ts";
import type { OpenedDatabase } from "../storage/open-database.ts";
import type { Asker, Writer } from "../storage/reader.ts";
import type { Database } from "../storage/schema/tables.ts";
import { sharedSecret } from "../storage/settings-store.ts";

/** Tells the databases of one host apart, and nothing more. */
const suffixLength = 8;

export interface ComposedSignIn {
  signIn: SignIn;
  sessions: SessionKeeper & SessionsArea;
  holdOf(caller: Caller): Hold;
  /** For what begins with the hold: one at a time of each user. */
  writerOf(caller: Caller, signal: AbortSignal): Database;
}

/** Which sessions count, and for how long. */
export function sessionRules({ oidc, session }: Config["identity"]): SessionRules {
  return { issuer: oidc?.issuer ?? localIssuer, ...session };
}

/** How people sign in and stay so. `publicUrl` is the address that their browsers use. */
export async function composeSignIn(
  { identity }: Config,
  { database, writer, briefReader }: Pick<OpenedDatabase, "database" | "writer" | "briefReader">,
  publicUrl: string,
): Promise<ComposedSignIn> {
  const rules = sessionRules(identity);
  const secret = await sharedSecret(database, "session_digest");
  const tokens = createSessionTokens(secret);
  const cookies: CookieSettings = {
    suffix: new Bun.CryptoHasher("sha256", secret).update("cookie:").digest("hex").slice(0, suffixLength),
    isSecure: publicUrl.startsWith("https:"),
  };
  const holdOf =
    (caller: Caller): Hold =>
    (transaction) =>
      holdLiveCaller(transaction, rules, caller);
  // The users are held, and so it is they who take turns, not their accounts.
  const writerOf = ({ userId }: Caller, signal: AbortSignal) => writer({ accountId: userId, signal });
  const cookie = createSessionCookie({ ...cookies, maxAgeMs: rules.maxMs });
  const { signIn, provider } =
    identity.oidc === undefined
      ? { signIn: await composeLocalSignIn(database, writer, tokens, rules), provider: undefined }
      : await composeOpenidSignIn(identity.oidc, database, publicUrl, cookies);
  return {
    signIn,
    holdOf,
    writerOf,
    sessions: {
      cookie,
      async findSession(headers) {
        const token = cookie.read(headers);
        return token === undefined ? undefined : await verifySession(database, tokens, rules, token);
      },
      startSession: (signedIn, browser) =>
        startSession(writer(unhurried(signedIn.userId)), tokens, rules, async () => signedIn, browser),
      listSessions: (asker, userId, page) => listSessions(briefReader(asker), rules, userId, page),
      endSession: (caller, signal, sessionId) =>
        endSession(writerOf(caller, signal), holdOf(caller), caller.userId, sessionId),
      async signOut(caller, signal, sessionId) {
        const idToken = provider === undefined ? undefined : await selectIdToken(database, sessionId);
        await endSession(writerOf(caller, signal), holdOf(caller), caller.userId, sessionId);
        return (await provider?.endSessionAddress(idToken))?.href;
      },
    },
  };
}

/** Makes the path that signs the owner in once, in local mode. Its fragment is what no server and no log sees. */
export async function createSignInPath({
  database,
  owner,
}: {
  database: Database;
  owner: User;
}): Promise<string> {
  const token = await createSignInToken(database, await signInDigest(database), owner.id);
  return `/sign-in#${token}`;
}

async function composeLocalSignIn(
  database: Database,
  writer: Writer,
  tokens: SessionTokens,
  rules: SessionRules,
): Promise<SignIn> {
  const digestOf = await signInDigest(database);
  return {
    kind: "local",
    useToken(token, browser) {
      const admit = async (transaction: Database) => ({
        userId: await useSignInToken(transaction, digestOf, token),
        idToken: null,
      });
      return startSession(writer(unhurried("local sign-in")), tokens, rules, admit, browser);
    },
  };
}

/** Whoever signs in is waited for: the page that a browser leaves meanwhile is this one. */
function unhurried(holder: string): Asker {
  return { accountId: holder, signal: new AbortController().signal };
}

async function signInDigest(database: Database) {
  return createKeyDigest(await sharedSecret(database, "sign_in_token_digest"));
}

async function composeOpenidSignIn(
  { allowedDomains, accountClaim, ...oidc }: OidcConfig,
  database: Database,
  publicUrl: string,
  cookies: CookieSettings,
): Promise<{ signIn: SignIn; provider: OpenidProvider }> {
  // What only this mode needs is loaded only here.
  const [{ createOpenidProvider }, { createAttemptSeal }] = await Promise.all([
    import("../identity/openid/openid-provider.ts"),
    import("../identity/openid/seal-attempt.ts"),
  ]);
  const provider = createOpenidProvider({
    ...oidc,
    callbackUrl: `${publicUrl}/auth/callback`,
    signedOutUrl: `${publicUrl}/sign-in?signed_out`,
    rules: { allowedDomains, accountClaim },
  });
  const seal = createAttemptSeal(await sharedSecret(database, "sign_in_attempt"));
  const signIn: SignIn = {
    kind: "openid",
    issuer: oidc.issuer,
    publicUrl,
    provider,
    attempts: createAttemptCookie(cookies, seal),
    rememberUser: (identity) => rememberUser(database, identity),
  };
  return { signIn, provider };
}
