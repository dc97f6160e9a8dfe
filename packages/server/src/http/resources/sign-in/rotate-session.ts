import type { SessionBrowser, SignedIn } from "../../../identity/sessions/start-session.ts";
import type { VerifiedSession } from "../../../identity/sessions/verify-session.ts";
import type { SessionCookie } from "../../pipeline/session-cookie.ts";

export interface SessionKeeper {
  cookie: SessionCookie;
  findSession(headers: Headers): Promise<VerifiedSession | undefined>;
  startSession(signedIn: SignedIn, browser: SessionBrowser): Promise<string>;
}

/** Signs a browser in by a session of its own and ends the one that it had. Returns the cookie to set. */
export async function rotateSession(
  { cookie, findSession }: Pick<SessionKeeper, "cookie" | "findSession">,
  { headers }: Request,
  start: (browser: SessionBrowser) => Promise<string>,
): Promise<string> {
  const caller = (await findSession(headers))?.caller;
  const earlier = caller && { userId: caller.userId, sessionId: caller.proof.sessionId };
  return cookie.give(await start({ userAgent: headers.get("user-agent"), earlier }));
}
