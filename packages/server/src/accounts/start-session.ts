import { recordChange } from "../platform/record-change.ts";
import { type Micros, microsPerMs, nowMicros } from "../platform/storage/micros.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import type { IdentityServices } from "./identity-services.ts";
import { deleteExpiredSessions, insertSession, markEnded } from "./sessions-store.ts";
import { lockUsers, selectUser } from "./users-store.ts";

const maxUserAgentLength = 200;
/** More than one per sign-in, so that the table shrinks after a busy time. */
const deletedAtOnce = 20;

/** The browser that signs in. */
export interface SessionBrowser {
  userAgent: string | null;
  /** Its previous session, which ends. */
  earlier: { userId: string; sessionId: string } | undefined;
  requestId: string;
}

/** Who signs in. */
export interface SignedIn {
  userId: string;
  accountId: string;
  idToken: string | null;
}

/** Signs a user in and returns the session's token, which is not stored. */
export async function startSession(
  services: Pick<IdentityServices, "store" | "sessionTokens" | "sessionRules">,
  signedIn: SignedIn,
  browser: SessionBrowser,
): Promise<string> {
  return await admitSession(services, signedIn.userId, async () => signedIn, browser);
}

/** The same for the user that `admit` returns in the same transaction; it throws to refuse. Calls with the same `turn` run one at a time. */
export async function admitSession(
  { store, sessionTokens, sessionRules }: Pick<IdentityServices, "store" | "sessionTokens" | "sessionRules">,
  turn: string,
  admit: (transaction: Database) => Promise<SignedIn>,
  { userAgent, earlier, requestId }: SessionBrowser,
): Promise<string> {
  const token = sessionTokens.generate();
  const now = nowMicros();
  // Finished even if the browser disconnects, as browsers do when they load the next page.
  const database = store.writer({ accountId: turn, signal: new AbortController().signal });
  await database.transaction().execute(async (transaction) => {
    const { userId, accountId, idToken } = await admit(transaction);
    await lockUsers(transaction, earlier === undefined ? [userId] : [userId, earlier.userId]);
    const id = Bun.randomUUIDv7();
    await insertSession(transaction, {
      id,
      user_id: userId,
      issuer: sessionRules.issuer,
      digest: sessionTokens.digestOf(token),
      user_agent: userAgent?.slice(0, maxUserAgentLength) ?? null,
      id_token: idToken,
      created_at: now,
      last_seen_at: now,
      expires_at: now + sessionRules.maxMs * microsPerMs,
      ended_at: null,
    });
    const actor = { kind: "sign_in", userId, id, name: null, requestId } as const;
    await recordChange(transaction, { accountId, actor }, { action: "session.start", objectId: id });
    if (earlier !== undefined) await endEarlier(transaction, earlier, now, requestId);
  });
  // If it fails, a later sign-in deletes them.
  await deleteExpiredSessions(database, now, deletedAtOnce).catch(() => {});
  return token;
}

/** In the name and the account of its own user, who may be another one. */
async function endEarlier(
  transaction: Database,
  { userId, sessionId }: NonNullable<SessionBrowser["earlier"]>,
  now: Micros,
  requestId: string,
): Promise<void> {
  const ended = await markEnded(transaction, userId, sessionId, now);
  const user = await selectUser(transaction, userId);
  if (ended?.ended_at !== now || user === undefined) return;
  const actor = { kind: "session", userId, id: sessionId, name: null, requestId } as const;
  const change = { action: "session.end", objectId: sessionId } as const;
  await recordChange(transaction, { accountId: user.account_id, actor }, change);
}
