import { randomBytes } from "node:crypto";
import type { Role } from "@presage/contract";
import {
  type CookieSettings,
  cookieName,
  findSession,
  isSameOrigin,
  readCookies,
  type SessionServices,
  writeCookie,
} from "../http/authenticate.ts";
import { type Call, requestAddress } from "../http/call.ts";
import fonts from "../http/fonts.css" with { type: "text" };
import styles from "../http/pages.css" with { type: "text" };
import { pageResponse, scriptPath, stylesPath } from "../http/pages.ts";
import { readJsonBody } from "../http/request.ts";
import { open, openFile, openPage, openRedirect, type Route } from "../http/route.ts";
import { readReturnTo } from "../http/serve-path.ts";
import script from "../http/sign-in.js" with { type: "text" };
import { recordChange } from "../platform/audit.ts";
import { ServiceError, SignInError } from "../platform/errors.ts";
import { reopenAccount, selectClosed } from "../platform/storage/closed-accounts-store.ts";
import { microsPerMs, nowMicros } from "../platform/storage/columns.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import { commandName } from "../platform/words.ts";
import type { AttemptSeal, Identity, OpenidProvider, SignInAttempt } from "./openid.ts";
import { admitSession, type SessionBrowser, type SignInServices, startSession } from "./sessions.ts";
import { deleteExpired, insertSignInToken, markSignInTokenUsed } from "./sessions-store.ts";
import { selectUser, upsertUserWithAccount } from "./users-store.ts";
import type { KeyDigest } from "./verify-api-key.ts";

/** How people sign in: with a printed link, or with their identity provider. */
export type SignIn = LocalSignIn | OpenidSignIn;

interface LocalSignIn {
  kind: "local";
  tokenDigest: KeyDigest;
}

export interface OpenidSignIn {
  kind: "openid";
  issuer: string;
  /** The role of users who sign in for the first time. */
  newUserRole: Role;
  /** The origin to which the provider redirects browsers. */
  publicUrl: string;
  provider: OpenidProvider;
  attempts: ReturnType<typeof createAttemptCookie>;
}

type Services = SessionServices & SignInServices;

/** How a new user joins an account. */
interface Admittance {
  newUserRole: Role;
  /** The configured issuer: one that serves several tenants differs from the person's. */
  issuer: string;
  requestId: string;
}

/** A token is 43 characters. */
const maxBodyBytes = 1_000;

/** Enough of a state to tell the tabs of one browser apart. */
const statePartLength = 16;

/**
 * A browser that never returns from the provider must not collect more cookies than a server accepts: Bun refuses 16 KB of headers,
 * and an attempt that leads to a long address takes 3 KB.
 */
const maxAttempts = 3;

const tokenBytes = 32;
const validForMs = 12 * 60 * 60_000;
const deletedAtOnce = 20;

export function signInRoutes(services: Services & { signIn: SignIn }): Route[] {
  const { signIn } = services;
  return [
    openFile(stylesPath, () => asset(fonts + styles, "text/css")),
    openFile(scriptPath, () => asset(script, "text/javascript")),
    ...(signIn.kind === "local" ? localSignInRoutes(services, signIn) : openidSignInRoutes(services, signIn)),
  ];
}

/** Sign-in with the link that the server prints. The page's script sends the token, which is in the link's fragment. */
function localSignInRoutes(services: Services, { tokenDigest }: LocalSignIn): Route[] {
  return [
    openPage("/sign-in", () => localSignInPage()),
    open("POST", "/auth/local", async ({ request, exchange }) => {
      if (!isSameOrigin(request.headers)) {
        throw new ServiceError("forbidden", "Only the sign-in page may send this request.");
      }
      const token = tokenOf((await readJsonBody(request, maxBodyBytes)).plain) ?? "";
      const body = { redirect_to: readReturnTo(requestAddress(request)) };
      const headers = { "cache-control": "no-store" };
      try {
        const setCookie = await rotateSession(services, { request, exchange }, (browser) =>
          useSignInToken(services, tokenDigest, token, browser),
        );
        return Response.json(body, { headers: { ...headers, "set-cookie": setCookie } });
      } catch (error) {
        const isRefused = error instanceof ServiceError && error.code === "unauthenticated";
        // Opening the link again in a browser that is signed in simply continues.
        if (!isRefused || (await findSession(services, request.headers)) === undefined) throw error;
        return Response.json(body, { headers });
      }
    }),
  ];
}

/** Sign-in with an OpenID provider: `/auth/sign-in` redirects the browser there, and it returns to `/auth/callback`. */
function openidSignInRoutes(
  services: Services,
  { issuer, newUserRole, publicUrl, attempts, provider }: OpenidSignIn,
): Route[] {
  return [
    openPage("/sign-in", ({ request }) => {
      const url = requestAddress(request);
      // A browser that used another name of this host would return without its cookie.
      const href = `${publicUrl}/auth/sign-in?return_to=${encodeURIComponent(readReturnTo(url))}`;
      return openidSignInPage(issuer, href, url.searchParams.has("signed_out"));
    }),
    openRedirect("/auth/sign-in", async ({ request }) => {
      const { address, attempt } = await provider.begin(readReturnTo(requestAddress(request)));
      return redirect(address.href, await attempts.set(request.headers, attempt));
    }),
    openRedirect("/auth/callback", async ({ request, exchange }) => {
      const { search, searchParams } = requestAddress(request);
      const state = searchParams.get("state") ?? "";
      const attempt = await attempts.read(request.headers, state);
      if (attempt === undefined) {
        throw new SignInError(
          "broken_attempt",
          "unknown_attempt",
          "This sign-in was not started in this browser, was already used, or took longer than ten minutes.",
        );
      }
      const { identity, idToken } = await provider.complete(attempt, search);
      const { requestId } = exchange;
      const user = await provisionUser(services.store.database, identity, { newUserRole, issuer, requestId });
      const setCookie = await rotateSession(services, { request, exchange }, (browser) =>
        startSession(services, { ...user, idToken }, browser),
      );
      return redirect(attempt.returnTo, [setCookie, attempts.clear(state)]);
    }),
  ];
}

/** Stores sign-in attempts in the browser; each tab has its own cookie. */
export function createAttemptCookie(settings: CookieSettings, seal: AttemptSeal) {
  const stem = cookieName("presage_sign_in", settings);
  const nameFor = (state: string) => `${stem}_${state.slice(0, statePartLength)}`;
  const clearByName = (name: string) => writeCookie({ name, value: "", maxAge: 0 }, settings);
  return {
    /** `Set-Cookie` headers that store an attempt, and delete old ones if there are too many. */
    async set(headers: Headers, attempt: SignInAttempt): Promise<string[]> {
      const stored = [...readCookies(headers).keys()].filter((name) => name.startsWith(stem));
      const name = nameFor(attempt.state);
      const cookie = writeCookie(
        { name, value: await seal.close(attempt), maxAge: seal.lifetimeS },
        settings,
      );
      return [cookie, ...(stored.length < maxAttempts ? [] : stored.map(clearByName))];
    },
    async read(headers: Headers, state: string): Promise<SignInAttempt | undefined> {
      const sealed = readCookies(headers).get(nameFor(state));
      return sealed === null ? undefined : await seal.open(sealed);
    },
    clear: (state: string) => clearByName(nameFor(state)),
  };
}

/** Creates a token that signs in one browser as this user, once. It is not stored. */
export async function createSignInToken(
  database: Database,
  digestOf: KeyDigest,
  userId: string,
): Promise<string> {
  const token = randomBytes(tokenBytes).toString("base64url");
  const now = nowMicros();
  const expires_at = now + validForMs * microsPerMs;
  const row = { digest: digestOf(token), user_id: userId, created_at: now, expires_at, used_at: null };
  await insertSignInToken(database, row);
  // If this fails, a later token deletes the expired ones.
  await deleteExpired(database, "sign_in_tokens", now, deletedAtOnce).catch(() => {});
  return token;
}

/** Uses up a sign-in link's token and signs in its user. Returns the session's token. */
async function useSignInToken(
  services: SignInServices,
  digestOf: KeyDigest,
  token: string,
  browser: SessionBrowser,
): Promise<string> {
  return await admitSession(
    services,
    "local sign-in",
    async (transaction) => {
      const userId = await markSignInTokenUsed(transaction, digestOf(token), nowMicros());
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

/**
 * Creates the user at the first sign-in and updates them at later ones. An account that is being erased reopens for whoever joins
 * it, and does not record who leaves it.
 */
export async function provisionUser(
  database: Database,
  { issuer, subject, email, name, accountName }: Identity,
  { newUserRole, issuer: configured, requestId }: Admittance,
): Promise<{ userId: string; accountId: string }> {
  const user = {
    id: Bun.randomUUIDv7(),
    account_id: Bun.randomUUIDv7(),
    oidc_issuer: issuer,
    oidc_subject: subject,
    email,
    name,
    created_at: nowMicros(),
    role: newUserRole,
  };
  return await database.transaction().execute(async (transaction) => {
    const joined = await upsertUserWithAccount(transaction, user, {
      accountName,
      newUserRole,
      issuer: configured,
    });
    const { userId, accountId, role, change, leftAccountId } = joined;
    if (change !== undefined) {
      const actor = { kind: "sign_in", userId, id: null, name: null, requestId } as const;
      const action = change === "created" ? "user.create" : "user.change_account";
      await reopenAccount(transaction, accountId);
      await recordChange(transaction, { accountId, actor }, action, userId, { role });
      if (leftAccountId !== undefined && (await selectClosed(transaction, [leftAccountId])).size === 0)
        await recordChange(transaction, { accountId: leftAccountId, actor }, action, userId, { left: true });
    }
    return { userId, accountId };
  });
}

/** Starts a new session for a browser and ends its previous one. Returns the cookie to set. */
async function rotateSession(
  services: SessionServices,
  { request: { headers }, exchange }: Pick<Call, "request" | "exchange">,
  start: (browser: SessionBrowser) => Promise<string>,
): Promise<string> {
  const caller = (await findSession(services, headers))?.caller;
  const earlier = caller && { userId: caller.userId, sessionId: caller.proof.sessionId };
  return services.sessionCookie.set(
    await start({ userAgent: headers.get("user-agent"), earlier, requestId: exchange.requestId }),
  );
}

/** The page for the link that the server printed. Its script does the work, because only it can see the token. */
function localSignInPage(): Response {
  const body = `<h1>Sign in</h1>
<p id="status" role="status">Open the link that the server printed when it started. It works once.</p>
<div id="help">
<p>To get a new link, run this where the server runs:</p>
<div class="command">
<pre><code id="command">${commandName} sign-in</code></pre>
<button id="copy" type="button" hidden>Copy</button>
</div>
</div>
<noscript><p>Signing in needs JavaScript.</p></noscript>`;
  return pageResponse({ title: "Sign in", body, hasScript: true });
}

/** The page whose button opens the address at the identity provider. */
function openidSignInPage(issuer: string, href: string, isSignedOut: boolean): Response {
  const title = isSignedOut ? "You are signed out" : "Sign in";
  const body = `<h1>${title}</h1>
<p>With your account at <strong>${Bun.escapeHTML(new URL(issuer).host)}</strong>.</p>
<p><a class="button" href="${Bun.escapeHTML(href)}">${isSignedOut ? "Sign in again" : "Sign in"}</a></p>`;
  return pageResponse({ title, body });
}

function asset(content: string, contentType: string): Response {
  const headers = {
    "content-type": `${contentType}; charset=utf-8`,
    "cache-control": "public, max-age=3600",
  };
  return new Response(content, { headers });
}

function tokenOf(body: unknown): string | undefined {
  if (typeof body !== "object" || body === null || !("token" in body)) return undefined;
  return typeof body.token === "string" ? body.token : undefined;
}

function redirect(location: string, cookies: string[]): Response {
  const headers = new Headers({ location, "cache-control": "no-store" });
  for (const cookie of cookies) headers.append("set-cookie", cookie);
  return new Response(null, { status: 303, headers });
}
