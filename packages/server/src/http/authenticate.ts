import { ServiceError } from "../errors.ts";
import type { KeyVerifier } from "../identity/api-keys/verify-api-key.ts";
import type { Caller } from "../identity/caller.ts";
import type { VerifiedSession } from "../identity/sessions/verify-session.ts";
import { checkCsrf } from "./check-csrf.ts";

/** One text for every refusal: a caller learns nothing about which keys and sessions exist. */
const refusal = "A valid API key, as X-API-KEY or as a bearer token, or a session is needed.";

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
  if (caller === undefined) throw new ServiceError("unauthenticated", refusal);
  return caller;
}

async function authenticateSession({ findSession }: Credentials, request: Request): Promise<Caller> {
  const session = await findSession(request.headers);
  if (session === undefined) throw new ServiceError("unauthenticated", refusal);
  checkCsrf(request, session.csrfToken);
  return session.caller;
}

/** The keys of both headers, without repetition. */
function presentedKeys(headers: Headers): string[] {
  const apiKey = headers.get("x-api-key");
  const authorization = headers.get("authorization");
  const bearer = authorization === null ? undefined : /^Bearer +(.*)$/i.exec(authorization)?.[1];
  if (apiKey === null) return bearer === undefined ? [] : [bearer];
  return bearer === undefined || bearer === apiKey ? [apiKey] : [apiKey, bearer];
}
