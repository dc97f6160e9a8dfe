import {
  SessionListQuery,
  type SessionListResponse,
  SessionPath,
  type SignOutResponse,
} from "@presage/contract";
import { ServiceError } from "../../../errors.ts";
import type { Caller } from "../../../identity/caller.ts";
import type { Session } from "../../../identity/sessions/sessions-store.ts";
import type { KeysetPage, ListPart } from "../../../storage/keyset.ts";
import { toIsoInstant } from "../../../storage/micros.ts";
import type { Asker } from "../../../storage/reader.ts";
import { type Route, withCaller } from "../../pipeline/route.ts";
import type { SessionCookie } from "../../pipeline/session-cookie.ts";
import { askerOf } from "../../request/asker-of.ts";
import { readKeysetPage, toCursor } from "../../request/list-cursor.ts";
import { readPath, readQuery } from "../../request/read-request.ts";

const signedOutPath = "/sign-in?signed_out";

export interface SessionsArea {
  cookie: Pick<SessionCookie, "take">;
  listSessions(asker: Asker, userId: string, page: KeysetPage): Promise<ListPart<Session>>;
  endSession(caller: Caller, signal: AbortSignal, sessionId: string): Promise<void>;
  /** Ends the session that asks, and says where its browser signs out of the identity provider as well, if there is such a place. */
  signOut(caller: Caller, signal: AbortSignal, sessionId: string): Promise<string | undefined>;
}

export function sessionRoutes({ cookie, listSessions, endSession, signOut }: SessionsArea): Route[] {
  return [
    withCaller("GET", "/v1/sessions", async (call) => {
      const { userId, proof } = call.caller;
      const page = readKeysetPage(readQuery(call, SessionListQuery));
      const { rows, next } = await listSessions(askerOf(call), userId, page);
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
    withCaller("DELETE", "/v1/sessions/:session_id", async (call) => {
      const { session_id } = readPath(call, SessionPath);
      await endSession(call.caller, call.request.signal, session_id.toLowerCase());
      return new Response(null, { status: 204 });
    }),
    withCaller("POST", "/auth/sign-out", async ({ caller, request }) => {
      const { proof } = caller;
      if (proof.kind !== "session") {
        throw new ServiceError(
          "forbidden",
          "A key cannot sign out. Revoke it, if it is not to be used again.",
        );
      }
      const redirectTo = await signOut(caller, request.signal, proof.sessionId);
      const answer: SignOutResponse = { redirect_to: redirectTo ?? signedOutPath };
      const headers = { "set-cookie": cookie.take(), "clear-site-data": '"cache"' };
      return Response.json(answer, { headers });
    }),
  ];
}
