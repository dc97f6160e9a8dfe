import {
  SessionListQuery,
  type SessionListResponse,
  SessionPath,
  type SignOutResponse,
} from "@presage/contract";
import type { Services } from "../app/services.ts";
import { readKeysetPage, toCursor } from "../http/list-cursor.ts";
import { readPath, readQuery } from "../http/read-request.ts";
import { accessChangerOf, requesterOf } from "../http/requester-of.ts";
import { type Route, withCaller } from "../http/route.ts";
import { ServiceError } from "../platform/errors.ts";
import { toIsoInstant } from "../platform/storage/micros.ts";
import { endSession, signOut } from "./end-session.ts";
import { listSessions } from "./list-sessions.ts";

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
