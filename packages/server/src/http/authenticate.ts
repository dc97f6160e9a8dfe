import { timingSafeEqual } from "node:crypto";
import { ServiceError } from "../platform/errors.ts";
import { type Call, isFromThisMachine } from "./call.ts";
import { type Caller, type LiveSession, notAuthenticated, type SessionCookie } from "./caller.ts";
import type { HttpServices } from "./exchange.ts";

export type SessionServices = Pick<HttpServices, "authenticator" | "sessionCookie">;

/** The authenticated caller; a promise only if something has to be looked up, which is rare for keys. */
type Authenticated = Caller | Promise<Caller>;

/** The caller of a request; throws if there is none. A key in a header takes precedence over the cookie. */
export function authenticate(services: SessionServices, call: Call): Authenticated {
  const { authenticator } = services;
  const keys = presentedKeys(call.request.headers);
  const [key] = keys;
  if (key === undefined) return authenticateSession(services, call.request);
  const isCommandLine = authenticator.commandLine.isKey(key) && keys.length === 1 && isFromThisMachine(call);
  return isCommandLine ? authenticator.commandLine.findCaller() : callerOf(authenticator, keys);
}

/** The caller with the key of a request; throws if there is none. */
export function authenticateKey(
  { authenticator }: Pick<HttpServices, "authenticator">,
  { request: { headers } }: Call,
): Authenticated {
  return callerOf(authenticator, presentedKeys(headers));
}

/** The caller of a program. Its key may be the password of Basic authentication, as which clients send a URL's userinfo. */
export function authenticateProgram(
  { authenticator }: Pick<HttpServices, "authenticator">,
  { request: { headers } }: Call,
): Authenticated {
  if (headers.has("origin")) throw new ServiceError("forbidden", "Web pages may not call this address.");
  return callerOf(authenticator, [keyOfProgram(headers)]);
}

function callerOf({ verifyKey }: HttpServices["authenticator"], keys: readonly string[]): Authenticated {
  const [key] = keys;
  const caller = key === undefined || keys.length > 1 ? undefined : verifyKey(key);
  return caller instanceof Promise ? caller.then(required) : required(caller);
}

function required(caller: Caller | undefined): Caller {
  if (caller === undefined) throw notAuthenticated();
  return caller;
}

/** The one key that a program presents, in either header or as a password. */
export function keyOfProgram(headers: Headers): string {
  const password = passwordOf(headers.get("authorization"));
  const keys = new Set([...presentedKeys(headers), ...(password === undefined ? [] : [password])]);
  const [key, ...others] = keys;
  if (key === undefined || others.length > 0) throw notAuthenticated();
  return key;
}

/** The password after the user's name. Keys are ASCII, so other bytes need not be read. */
function passwordOf(authorization: string | null): string | undefined {
  const encoded = authorization === null ? undefined : /^Basic +(.*)$/i.exec(authorization)?.[1];
  if (encoded === undefined) return undefined;
  const credentials = Buffer.from(encoded, "base64").toString("latin1");
  const colon = credentials.indexOf(":");
  return colon < 0 ? undefined : credentials.slice(colon + 1);
}

async function authenticateSession(services: SessionServices, request: Request): Promise<Caller> {
  const session = await findSession(services, request.headers);
  if (session === undefined) throw notAuthenticated();
  checkCsrf(request, session.csrfToken);
  return session.caller;
}

/** The live session of the request's cookie. */
export async function findSession(
  { authenticator, sessionCookie }: SessionServices,
  headers: Headers,
): Promise<LiveSession | undefined> {
  const token = sessionCookie.read(headers);
  return token === undefined ? undefined : await authenticator.verifySession(token);
}

/** The secret that authenticated a request: the key, or the session's token. */
export function credentialOf(headers: Headers, cookie: Pick<SessionCookie, "read">): string {
  const credential = presentedKeys(headers)[0] ?? cookie.read(headers);
  if (credential === undefined) throw notAuthenticated();
  return credential;
}

/** The distinct keys of both headers. */
function presentedKeys(headers: Headers): string[] {
  const apiKey = headers.get("x-api-key");
  const bearer = bearerOf(headers);
  if (apiKey === null) return bearer === undefined ? [] : [bearer];
  return bearer === undefined || bearer === apiKey ? [apiKey] : [apiKey, bearer];
}

/** The bearer token of a request. */
export function bearerOf(headers: Headers): string | undefined {
  return /^Bearer +(.*)$/i.exec(headers.get("authorization") ?? "")?.[1];
}

/** Refuses a request with a session that changes something, unless a page of that session sent it. */
function checkCsrf({ method, headers }: Request, csrfToken: string): void {
  if (method === "GET" || method === "HEAD") return;
  if (isSameOrigin(headers) && isSameSecret(headers.get("x-csrf-token") ?? "", csrfToken)) return;
  throw new ServiceError("forbidden", "Missing or invalid X-CSRF-Token. Reload the page and try again.");
}

/** Whether a page of this server sent the request, according to the browser. Old browsers do not say, and pass. */
export function isSameOrigin(headers: Headers): boolean {
  const site = headers.get("sec-fetch-site");
  return site === null || site === "same-origin" || site === "none";
}

/** Takes the same time however much of the secret is right: the compared digests always have the same length. */
export function isSameSecret(given: string, expected: string): boolean {
  const digest = (text: string) => new Bun.CryptoHasher("sha256").update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}

export interface CookieSettings {
  /** Identifies the database: browsers share cookies between all ports of a host, where each Presage has its own sessions. */
  suffix: string;
  /** Whether browsers use https. */
  isSecure: boolean;
}

export function createSessionCookie(settings: CookieSettings & { maxAgeMs: number }): SessionCookie {
  const name = cookieName("presage_session", settings);
  const write = (value: string, maxAge: number) => writeCookie({ name, value, maxAge }, settings);
  return {
    read: (headers) => readCookies(headers).get(name) ?? undefined,
    set: (token) => write(token, Math.floor(settings.maxAgeMs / 1000)),
    clear: () => write("", 0),
  };
}

/** Browsers accept a name with this prefix only from the host itself and only over https. */
export function cookieName(stem: string, { suffix, isSecure }: CookieSettings): string {
  return `${isSecure ? "__Host-" : ""}${stem}_${suffix}`;
}

export function readCookies(headers: Headers): Bun.CookieMap {
  return new Bun.CookieMap(headers.get("cookie") ?? "");
}

/** A cookie that no script can read, and that requests from other sites send only when a link is followed. */
export function writeCookie(
  { name, value, maxAge }: { name: string; value: string; maxAge: number },
  { isSecure }: Pick<CookieSettings, "isSecure">,
): string {
  const options = { path: "/", httpOnly: true, sameSite: "lax", secure: isSecure } as const;
  return new Bun.Cookie({ name, value, maxAge, ...options }).serialize();
}
