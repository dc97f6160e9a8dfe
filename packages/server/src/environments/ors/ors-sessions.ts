import { orsText } from "@presage/contract";
import type { Services } from "../../app/services.ts";
import { eventStreamHeaders } from "../../http/event-stream-headers.ts";
import { requesterOf } from "../../http/requester-of.ts";
import type { CallWithCaller, Route } from "../../http/route.ts";
import { createSession } from "./create-session.ts";
import { deleteSession, pingSession, storedIdOf } from "./find-session.ts";
import { openSession } from "./open-session.ts";
import { toTools } from "./ors-catalog.ts";
import {
  apiKeyIdOf,
  readEnvironmentName,
  readSessionId,
  readWantedSession,
  toPlay,
  withEnvironment,
} from "./read-ors-request.ts";
import { toEvent } from "./result-events.ts";

/** Sessions of the Open Reward Standard: each plays one episode, which has the same id. */
export function orsSessionRoutes({ environments, settings }: Services): Route[] {
  const open = (call: CallWithCaller) =>
    openSession(environments, requesterOf(call), {
      sessionId: readSessionId(call),
      environment: readEnvironmentName(call),
      apiKeyId: apiKeyIdOf(call),
    });

  return [
    // Nothing is stored: clients make a session for every question about tasks, and most are never created.
    toPlay("POST", "/create_session", ({ caller }) => {
      const id = environments.ors.ids.newSession(caller.accountId);
      return new Response(toEvent("task_id", id) + toEvent("end", ""), { headers: eventStreamHeaders });
    }),
    toPlay("POST", "/delete_session", (call) => {
      const sid = readSessionId(call);
      storedIdOf(environments, requesterOf(call), sid);
      return Response.json({ sid });
    }),
    toPlay("POST", "/create", async (call) => {
      const sid = readSessionId(call);
      const wanted = await readWantedSession(call, settings.maxShortBodyBytes);
      const apiKeyId = apiKeyIdOf(call);
      await createSession(environments, requesterOf(call), { sessionId: sid, apiKeyId, ...wanted });
      return Response.json({ sid });
    }),
    toPlay("POST", "/delete", async (call) => {
      const sid = readSessionId(call);
      await deleteSession(environments, requesterOf(call), sid);
      return Response.json({ sid });
    }),
    toPlay("POST", "/ping", async (call) => {
      await pingSession(environments, requesterOf(call), readSessionId(call));
      return Response.json({ status: "ok" });
    }),
    ...withEnvironment("GET", "/prompt", async (call) => {
      const { task } = (await open(call)).episode;
      const text = task.prompt ? `${task.prompt}\n\n${task.initial_state}` : task.initial_state;
      return Response.json([orsText(text)]);
    }),
    ...withEnvironment("GET", "/task_tools", async (call) =>
      Response.json(toTools((await open(call)).episode)),
    ),
  ];
}
