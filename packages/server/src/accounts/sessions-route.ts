import { SessionListQuery, SessionListResponse, SessionPath, SignOutResponse } from "@presage/contract";
import { accessChangerOf } from "../http/call.ts";
import type { SessionCookie } from "../http/caller.ts";
import { errorResponse, response } from "../http/describe.ts";
import { readKeysetPage, toCursor } from "../http/request.ts";
import { reply, route } from "../http/route.ts";
import { ServiceError } from "../platform/errors.ts";
import { toIsoInstant } from "../platform/storage/columns.ts";
import type { AccessServices } from "./change-access.ts";
import type { OpenidProvider } from "./openid.ts";
import { endSession, listSessions, signOut } from "./sessions.ts";

const signedOutPath = "/sign-in?signed_out";

const listOwnSessions = route("GET", "/v1/sessions", {
  needs: "own-access",
  id: "listSessions",
  summary: "List the browsers in which the calling user is signed in",
  description: "Lists the calling user's sessions that have not ended.",
  query: SessionListQuery,
  allowsUnknown: true,
  responses: {
    "200": response("The sessions, newest first", SessionListResponse, {
      data: [
        {
          id: "01a2015d-18b1-7c1e-9d37-5e0c6b1f42aa",
          user_agent: "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/142.0.0.0 Safari/537.36",
          created_at: "2026-11-22T03:46:47.926Z",
          last_seen_at: "2026-11-22T09:12:05.310Z",
          expires_at: "2026-12-22T03:46:47.926Z",
          is_current: true,
        },
      ],
      next: null,
    }),
  },
  async handle(services: AccessServices, { call, requester, query }) {
    const { userId, proof } = call.caller;
    const { rows, next } = await listSessions(services, requester, userId, readKeysetPage(query));
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
    const redirectTo = await signOut(services, accessChangerOf(call), proof.sessionId);
    const headers = { "set-cookie": services.sessionCookie.clear(), "clear-site-data": '"cache"' };
    return reply(200, { redirect_to: redirectTo ?? signedOutPath }, headers);
  },
});

export const sessionRoutes = [listOwnSessions, endOwnSession, signOutHere];
