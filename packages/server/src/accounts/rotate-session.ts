import { findSession, type SessionServices } from "../http/authenticate.ts";
import type { Call } from "../http/route.ts";
import type { SessionBrowser } from "./start-session.ts";

/** Starts a new session for a browser and ends its previous one. Returns the cookie to set. */
export async function rotateSession(
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
