import { SessionListQuery, SessionListResponse, SessionPath, SignOutResponse } from "@presage/contract";
import type { ZodOpenApiPathsObject } from "zod-openapi";
import type { Services } from "../app/services.ts";
import { errorResponse, operation, response } from "../http/describe.ts";
import { readKeysetPage, readPath, readQuery, toCursor } from "../http/request.ts";
import { accessChangerOf, type Route, requesterOf, withCaller } from "../http/route.ts";
import { ServiceError } from "../platform/errors.ts";
import { toIsoInstant } from "../platform/storage/columns.ts";
import { endSession, listSessions, signOut } from "./sessions.ts";

export const sessionPaths: ZodOpenApiPathsObject = {
  "/v1/sessions": {
    get: operation("listSessions", "dashboard", "List the browsers in which the calling user is signed in", {
      description: "Lists the calling user's sessions that have not ended.",
      requestParams: { query: SessionListQuery },
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
    }),
  },
  "/v1/sessions/{session_id}": {
    delete: operation("endSession", "dashboard", "Sign a browser out", {
      description: "Ends one of the calling user's sessions. That browser has to sign in again.",
      requestParams: { path: SessionPath },
      responses: {
        "204": { description: "The session has ended; ending an ended session changes nothing" },
        "404": errorResponse("The user has no such session", "There is no such session."),
      },
    }),
  },
  "/auth/sign-out": {
    post: operation("signOut", "dashboard", "End the calling session", {
      description:
        "Ends the session of the request and deletes its cookie. A request with an API key is refused with 403.",
      responses: {
        "200": response("The session has ended", SignOutResponse, {
          redirect_to: "/sign-in?signed_out",
        }),
      },
    }),
  },
};

const signedOutPath = "/sign-in?signed_out";

export function sessionRoutes(services: Services): Route[] {
  return [
    withCaller("GET", "/v1/sessions", "own-access", async (call) => {
      const { userId, proof } = call.caller;
      const page = readKeysetPage(readQuery(call, SessionListQuery));
      const { rows, next } = await listSessions(services.identity, requesterOf(call), userId, page);
      const data = rows.map(({ id, user_agent, created_at, last_seen_at, expires_at }) => ({
        id,
        user_agent,
        created_at: toIsoInstant(created_at),
        last_seen_at: toIsoInstant(last_seen_at),
        expires_at: toIsoInstant(expires_at),
        is_current: proof.kind === "session" && proof.sessionId === id,
      }));
      return Response.json({ data, next: toCursor(next) } satisfies SessionListResponse);
    }),
    withCaller("DELETE", "/v1/sessions/:session_id", "own-access", async (call) => {
      const { session_id } = readPath(call, SessionPath);
      await endSession(services.identity, accessChangerOf(call), session_id.toLowerCase());
      return new Response(null, { status: 204 });
    }),
    withCaller("POST", "/auth/sign-out", "nothing", async (call) => {
      const { proof } = call.caller;
      if (proof.kind !== "session") {
        throw new ServiceError("forbidden", "An API key cannot sign out. To stop its use, revoke it.");
      }
      const redirectTo = await signOut(services.identity, accessChangerOf(call), proof.sessionId);
      const response: SignOutResponse = { redirect_to: redirectTo ?? signedOutPath };
      const headers = { "set-cookie": services.sessionCookie.clear(), "clear-site-data": '"cache"' };
      return Response.json(response, { headers });
    }),
  ];
}
