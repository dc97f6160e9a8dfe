import {
  ErrorResponse,
  SessionListQuery,
  SessionListResponse,
  SessionPath,
  SignOutResponse,
} from "@presage/contract";
import type { ZodOpenApiPathsObject } from "zod-openapi";
import { invalidRequest, operation, response, unauthorized, unavailable } from "../docs/describe.ts";

export const sessionPaths: ZodOpenApiPathsObject = {
  "/v1/sessions": {
    get: operation("listSessions", "dashboard", "List the browsers in which the calling user is signed in", {
      requestParams: { query: SessionListQuery },
      responses: {
        "200": response("The sessions, newest first", SessionListResponse),
        ...unauthorized,
        ...invalidRequest,
        ...unavailable,
      },
    }),
  },
  "/v1/sessions/{session_id}": {
    delete: operation("endSession", "dashboard", "Sign a browser out", {
      requestParams: { path: SessionPath },
      responses: {
        "204": { description: "The session has ended; ending an ended session changes nothing" },
        ...unauthorized,
        "404": response("The user has no such session", ErrorResponse),
        ...invalidRequest,
        ...unavailable,
      },
    }),
  },
  "/auth/sign-out": {
    post: operation("signOut", "dashboard", "End the calling session", {
      responses: {
        "200": response("The session has ended", SignOutResponse),
        ...unauthorized,
        ...unavailable,
      },
    }),
  },
};
