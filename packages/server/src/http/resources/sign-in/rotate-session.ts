import type { SessionBrowser } from "../../../identity/sessions/start-session.ts";
import { findSession, type SessionServices } from "../../pipeline/authenticate.ts";

/** Signs a browser in with a new session and ends the one that it had. Returns the cookie to set. */
export async function rotateSession(
  services: SessionServices,
  { headers }: Request,
  start: (browser: SessionBrowser) => Promise<string>,
): Promise<string> {
  const caller = (await findSession(services, headers))?.caller;
  const earlier = caller && { userId: caller.userId, sessionId: caller.proof.sessionId };
  return services.sessionCookie.give(await start({ userAgent: headers.get("user-agent"), earlier }));
}
