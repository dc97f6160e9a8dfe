import type { KeyVerifier } from "../../identity/api-keys/verify-api-key.ts";
import type { Caller } from "../../identity/caller.ts";
import { notAuthenticated } from "../../identity/not-authenticated.ts";
import type { VerifiedSession } from "../../identity/sessions/verify-session.ts";
import { checkCsrf } from "./check-csrf.ts";
import type { SessionCookie } from "./session-cookie.ts";

export interface Credentials {
  keys: KeyVerifier;
  /** The session whose cookie a request carries. */
  findSession(headers: Headers): Promise<VerifiedSession | undefined>;
}

/** Says who makes a call, or refuses it. A key in a header counts before the cookie. */
export async function authenticate(credentials: Credentials, request: Request): Promise<Caller> {
  const [key, ...others] = presentedKeys(request.headers);
  if (key === undefined) return await authenticateSession(credentials, request);
  const caller = others.length > 0 ? undefined : await credentials.keys.verify(key);
  if (caller === undefined) throw notAuthenticated();
  return caller;
}

async function authenticateSession({ findSession }: Credentials, request: Request): Promise<Caller> {
  const session = await findSession(request.headers);
  if (session === undefined) throw notAuthenticated();
  checkCsrf(request, session.csrfToken);
  return session.caller;
}

/** The secret with which an authenticated call was made: the key, or the session's token. */
export function credentialOf(headers: Headers, cookie: Pick<SessionCookie, "read">): string {
  const credential = presentedKeys(headers)[0] ?? cookie.read(headers);
  if (credential === undefined) throw notAuthenticated();
  return credential;
}

/** The keys of both headers, without repetition. */
function presentedKeys(headers: Headers): string[] {
  const apiKey = headers.get("x-api-key");
  const authorization = headers.get("authorization");
  const bearer = authorization === null ? undefined : /^Bearer +(.*)$/i.exec(authorization)?.[1];
  if (apiKey === null) return bearer === undefined ? [] : [bearer];
  return bearer === undefined || bearer === apiKey ? [apiKey] : [apiKey, bearer];
}
