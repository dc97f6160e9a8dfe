import { SessionListQuery, SessionListResponse, SessionPath, SignOutResponse } from "@presage/contract";
import type { ZodOpenApiPathsObject } from "zod-openapi";
import { errorResponse, operation, response } from "../http/describe.ts";

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
