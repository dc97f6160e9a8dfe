import { randomBytes } from "node:crypto";
import { SessionListQuery, SessionListResponse, SessionPath, SignOutResponse } from "@presage/contract";
import { accessChangerOf } from "../http/call.ts";
import type { AccessChanger, LiveSession, SessionCookie } from "../http/caller.ts";
import { errorResponse, response } from "../http/describe.ts";
import { readKeysetPage, toCursor } from "../http/request.ts";
import { reply, route } from "../http/route.ts";
import { recordChange } from "../platform/audit.ts";
import { notFound, ServiceError } from "../platform/errors.ts";
import { neverAborted } from "../platform/limits/deadline.ts";
import { type Micros, microsPerMs, nowMicros, toIsoInstant } from "../platform/storage/columns.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import { type AccessServices, changeAccess } from "./change-access.ts";
import examples from "./examples.json" with { type: "json" };
import type { OpenidProvider } from "./openid.ts";
import {
  deleteExpired,
  insertSession,
  livenessNow,
  markEnded,
  markSeen,
  selectIdToken,
  selectLiveSession,
  selectLiveSessions,
} from "./sessions-store.ts";
import { lockUsers, selectUser } from "./users-store.ts";
import { createKeyDigest } from "./verify-api-key.ts";

const signedOutPath = "/sign-in?signed_out";

const listOwnSessions = route("GET", "/v1/sessions", {
  needs: "own-access",
  id: "listSessions",
  summary: "List the browsers in which the calling user is signed in",
  description: "Lists the calling user's sessions that have not ended.",
  query: SessionListQuery,
  allowsUnknown: true,
  responses: {
    "200": response("The sessions, newest first", SessionListResponse, examples.sessions),
  },
  async handle({ store, sessionRules }: AccessServices, { call, requester, query }) {
    const { userId, proof } = call.caller;
    const [reader, live] = [store.briefReader(requester), livenessNow(sessionRules)];
    const { rows, next } = await selectLiveSessions(reader, userId, live, readKeysetPage(query));
    const data = rows.map(({ id, user_agent, created_at, last_seen_at, expires_at }) => ({
      id,
      user_agent,
      created_at: toIsoInstant(created_at),
      last_seen_at: toIsoInstant(last_seen_at),
      expires_at: toIsoInstant(expires_at),
      is_current: proof.kind === "session" && proof.sessionId === id,
    }));
    return reply(200, { data, next: toCursor(next) });
  },
});

const endOwnSession = route("DELETE", "/v1/sessions/:session_id", {
  needs: "own-access",
  id: "endSession",
  summary: "Sign a browser out",
  description: "Ends one of the calling user's sessions. That browser has to sign in again.",
  params: SessionPath,
  responses: {
    "204": { description: "The session has ended; ending an ended session changes nothing" },
    "404": errorResponse("The user has no such session", "There is no such session."),
  },
  async handle(services: AccessServices, { call, params }) {
    await endSession(services, accessChangerOf(call), params.session_id.toLowerCase());
    return reply(204, undefined);
  },
});

const signOutHere = route("POST", "/auth/sign-out", {
  needs: "nothing",
  id: "signOut",
  summary: "End the calling session",
  description:
    "Ends the session of the request and deletes its cookie. A request with an API key is refused with 403.",
  responses: {
    "200": response("The session has ended", SignOutResponse, { redirect_to: signedOutPath }),
  },
  async handle(
    services: AccessServices & { openidProvider: OpenidProvider | undefined; sessionCookie: SessionCookie },
    { call },
  ) {
    const { proof } = call.caller;
    if (proof.kind !== "session")
      throw new ServiceError("forbidden", "An API key cannot sign out. To stop its use, revoke it.");
    const { store, openidProvider, sessionCookie } = services;
    const idToken = openidProvider && (await selectIdToken(store.database, proof.sessionId));
    await endSession(services, accessChangerOf(call), proof.sessionId);
    // The identity provider's sign-out address, if it has one.
    const address = await openidProvider?.endSessionAddress(idToken);
    const headers = { "set-cookie": sessionCookie.clear(), "clear-site-data": '"cache"' };
    return reply(200, { redirect_to: address?.href ?? signedOutPath }, headers);
  },
});

export const sessionRoutes = [listOwnSessions, endOwnSession, signOutHere];

/** Ends one of the caller's sessions. All processes refuse it immediately. */
async function endSession(services: AccessServices, changer: AccessChanger, sessionId: string) {
  const isEnded = await changeAccess(services, changer, async (transaction) => {
    const endedAt = nowMicros();
    const session = await markEnded(transaction, changer.caller.userId, sessionId, endedAt);
    // Only the first end is recorded.
    if (session?.ended_at === endedAt) await recordChange(transaction, changer, "session.end", sessionId);
    return session !== undefined;
  });
  if (!isEnded) throw notFound("session");
}

const tokenBytes = 32;
/** Tokens contain no colon, so no CSRF token equals a session's digest. */
const csrfLabel = "csrf:";

export type SessionTokens = ReturnType<typeof createSessionTokens>;

export function createSessionTokens(secret: string) {
  const digestOf = createKeyDigest(secret);
  return {
    /** 256 random bits. */
    generate: () => randomBytes(tokenBytes).toString("base64url"),
    /** The form in which a token is stored. */
    digestOf,
    /** The CSRF token of the session's pages. It does not reveal the session token, which pages cannot read. */
    csrfTokenOf: (token: string) => digestOf(csrfLabel + token),
  };
}

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

interface SignedIn {
  userId: string;
  accountId: string;
  idToken: string | null;
}

export interface SignInServices extends AccessServices {
  sessionTokens: SessionTokens;
}

/** Signs a user in and returns the session's token, which is not stored. */
export async function startSession(
  services: SignInServices,
  signedIn: SignedIn,
  browser: SessionBrowser,
): Promise<string> {
  return await admitSession(services, signedIn.userId, async () => signedIn, browser);
}

/** Like `startSession`, for the user that `admit` returns; `admit` throws to refuse. Calls with the same `turn` run one at a time. */
export async function admitSession(
  { store, sessionTokens, sessionRules }: SignInServices,
  turn: string,
  admit: (transaction: Database) => Promise<SignedIn>,
  { userAgent, earlier, requestId }: SessionBrowser,
): Promise<string> {
  const token = sessionTokens.generate();
  const now = nowMicros();
  // Finished even if the browser disconnects, as browsers do when they load the next page.
  const database = store.writer({ accountId: turn, signal: neverAborted });
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
    await recordChange(transaction, { accountId, actor }, "session.start", id);
    if (earlier !== undefined) await endEarlier(transaction, earlier, now, requestId);
  });
  // If this fails, a later sign-in deletes the expired sessions.
  await deleteExpired(database, "sessions", now, deletedAtOnce).catch(() => {});
  return token;
}

/** Recorded for the earlier session's own user and account, who may not be the one signing in. */
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
  await recordChange(transaction, { accountId: user.account_id, actor }, "session.end", sessionId);
}

/** `last_seen_at` is written when it is older than this; sooner with a short idle limit, or sessions in use would end. */
const seenPrecisionMs = 60_000;
const seenPrecisionShare = 0.1;

/** The session of a token, or undefined. Looked up each time, so that ended sessions are refused immediately. */
export async function verifySession(
  { store, sessionTokens, sessionRules }: SignInServices,
  token: string,
  onFailure: (error: unknown) => void,
): Promise<LiveSession | undefined> {
  const live = livenessNow(sessionRules);
  const record = await selectLiveSession(store.database, sessionTokens.digestOf(token), live);
  if (record === undefined) return undefined;
  const precisionMs = Math.min(seenPrecisionMs, sessionRules.idleMs * seenPrecisionShare);
  if (record.last_seen_at <= live.now - precisionMs * microsPerMs) {
    // A database that can only be read still serves reads.
    await markSeen(store.database, record.id, live.now).catch(onFailure);
  }
  return {
    caller: {
      userId: record.user_id,
      accountId: record.account_id,
      role: record.role,
      proof: { kind: "session", sessionId: record.id },
    },
    csrfToken: sessionTokens.csrfTokenOf(token),
  };
}
