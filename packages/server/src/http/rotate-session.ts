import type { NewSession } from "../identity/sessions/start-session.ts";
import type { VerifiedSession } from "../identity/sessions/verify-session.ts";
import type { SessionCookie } from "./session-cookie.ts";

export interface SessionKeeper {
  cookie: SessionCookie;
  findSession(headers: Headers): Promise<VerifiedSession | undefined>;
  startSession(session: NewSession): Promise<string>;
  endSession(userId: string, sessionId: string): Promise<void>;
}

/** Signs a browser in by a session of its own and ends the one that it had. Returns the cookie to set. */
export async function rotateSession(
  { cookie, findSession, startSession, endSession }: SessionKeeper,
  { headers }: Request,
  user: { userId: string; idToken: string | null },
): Promise<string> {
  const earlier = await findSession(headers);
  const token = await startSession({ ...user, userAgent: headers.get("user-agent") });
  if (earlier !== undefined) {
    const { userId, proof } = earlier.caller;
    await endSession(userId, proof.sessionId);
  }
  return cookie.give(token);
}
