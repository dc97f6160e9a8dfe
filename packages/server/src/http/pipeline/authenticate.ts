import { type Caller, notAuthenticated } from "../../identity/caller.ts";
import { type VerifiedSession, verifySession } from "../../identity/sessions/verify-session.ts";
import type { Services } from "../services.ts";
import { checkCsrf } from "./check-csrf.ts";
import type { SessionCookie } from "./session-cookie.ts";

export type SessionServices = Pick<Services, "store" | "sessionTokens" | "sessionRules" | "sessionCookie">;

/** The caller of a request, or a refusal. A key in a header takes precedence over the cookie. */
export async function authenticate(
  services: SessionServices & Pick<Services, "keyVerifier">,
  request: Request,
): Promise<Caller> {
  const [key, ...others] = presentedKeys(request.headers);
  if (key === undefined) return await authenticateSession(services, request);
  const caller = others.length > 0 ? undefined : await services.keyVerifier.verify(key);
  if (caller === undefined) throw notAuthenticated();
  return caller;
}

async function authenticateSession(services: SessionServices, request: Request): Promise<Caller> {
  const session = await findSession(services, request.headers);
  if (session === undefined) throw notAuthenticated();
  checkCsrf(request, session.csrfToken);
  return session.caller;
}

/** The live session whose cookie a request has. */
export async function findSession(
  services: SessionServices,
  headers: Headers,
): Promise<VerifiedSession | undefined> {
  const token = services.sessionCookie.read(headers);
  return token === undefined ? undefined : await verifySession(services, token);
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
