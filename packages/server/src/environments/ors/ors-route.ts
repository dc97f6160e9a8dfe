import { OrsSplit, OrsTaskPlace, OrsTaskRange, orsText } from "@presage/contract";
import { type CallWithCaller, requesterOf } from "../../http/call.ts";
import { keyIdOf } from "../../http/caller.ts";
import type { HttpServices } from "../../http/exchange.ts";
import { readBody } from "../../http/request.ts";
import { eventStreamHeaders } from "../../http/response.ts";
import { type EnvironmentRevision, toolOf } from "../environment.ts";
import { findEnvironment } from "../find-environment.ts";
import { readSplit, showSplits, showTask, streamTasks } from "../tasks.ts";
import {
  createSession,
  deleteSession,
  listAllEnvironments,
  openSession,
  pingSession,
  type SessionServices,
  storedIdOf,
} from "./ors-sessions.ts";
import {
  environmentRoutes,
  playRoute,
  readEnvironmentName,
  readPolicy,
  readSessionId,
  readWantedSession,
  toEvent,
} from "./protocol.ts";

type Services = HttpServices & SessionServices;

function environmentOf(services: Services, call: CallWithCaller): Promise<EnvironmentRevision> {
  return findEnvironment(services, requesterOf(call), readEnvironmentName(call));
}

/** Lists what can be played, for clients of the Open Reward Standard. */
export const orsCatalogRoutes = [
  playRoute("GET", "/list_environments", async (services: Services, call) => {
    const names: string[] = [];
    for await (const { name } of listAllEnvironments(services, requesterOf(call))) names.push(name);
    return Response.json(names);
  }),
  ...environmentRoutes("GET", "/tools", async (services: Services, call) =>
    Response.json(toTools(await environmentOf(services, call))),
  ),
  ...environmentRoutes("GET", "/splits", async (services: Services, call) =>
    Response.json(showSplits(await environmentOf(services, call))),
  ),
  ...environmentRoutes("POST", "/tasks", async (services: Services, call) => {
    const { split } = await readBody(call, OrsSplit, services.settings.maxShortBodyBytes);
    return await streamTasks(services, call, await environmentOf(services, call), { split });
  }),
  ...environmentRoutes("POST", "/num_tasks", async (services: Services, call) => {
    const { split } = await readBody(call, OrsSplit, services.settings.maxShortBodyBytes);
    return Response.json({ num_tasks: readSplit(await environmentOf(services, call), split).count });
  }),
  ...environmentRoutes("POST", "/task", async (services: Services, call) => {
    const place = await readBody(call, OrsTaskPlace, services.settings.maxShortBodyBytes);
    const environment = await environmentOf(services, call);
    return Response.json(await showTask(services, requesterOf(call), environment, place));
  }),
  ...environmentRoutes("POST", "/task_range", async (services: Services, call) => {
    const range = await readBody(call, OrsTaskRange, services.settings.maxShortBodyBytes);
    return await streamTasks(services, call, await environmentOf(services, call), range);
  }),
];

/** The tool that agents act with. Tasks have no tools of their own. */
function toTools({ config }: Pick<EnvironmentRevision, "config">) {
  const { name, description, argument } = toolOf(config);
  const properties = { [argument]: { type: "string", description: "What to do, in words." } };
  const input_schema = { type: "object", properties, required: [argument], additionalProperties: false };
  return { tools: [{ name, description, input_schema }] };
}

/** The session that a request names, with its episode. */
export function openSessionOf(services: SessionServices, call: CallWithCaller) {
  return openSession(services, requesterOf(call), {
    sessionId: readSessionId(call),
    environment: readEnvironmentName(call),
    apiKeyId: keyIdOf(call.caller),
  });
}

/** Sessions of the Open Reward Standard: each plays one episode, which has the same id. */
export const orsSessionRoutes = [
  // Nothing is stored: clients open a session for every question about tasks, and most sessions are never used.
  playRoute("POST", "/create_session", ({ ors }: Services, { caller }) => {
    const id = ors.ids.newSession(caller.accountId);
    return new Response(toEvent("task_id", id) + toEvent("end", ""), { headers: eventStreamHeaders });
  }),
  playRoute("POST", "/delete_session", (services: Services, call) => {
    const sid = readSessionId(call);
    storedIdOf(services, requesterOf(call), sid);
    return Response.json({ sid });
  }),
  playRoute("POST", "/create", async (services: Services, call) => {
    const sid = readSessionId(call);
    const wanted = await readWantedSession(call, services.settings.maxShortBodyBytes);
    const own = { sessionId: sid, policy: readPolicy(call), apiKeyId: keyIdOf(call.caller) };
    await createSession(services, requesterOf(call), { ...own, ...wanted });
    return Response.json({ sid });
  }),
  playRoute("POST", "/delete", async (services: Services, call) => {
    const sid = readSessionId(call);
    await deleteSession(services, requesterOf(call), sid);
    return Response.json({ sid });
  }),
  playRoute("POST", "/ping", async (services: Services, call) => {
    await pingSession(services, requesterOf(call), readSessionId(call));
    return Response.json({ status: "ok" });
  }),
  ...environmentRoutes("GET", "/prompt", async (services: Services, call) => {
    const { task } = (await openSessionOf(services, call)).episode;
    const text = task.prompt ? `${task.prompt}\n\n${task.initial_state}` : task.initial_state;
    return Response.json([orsText(text)]);
  }),
  ...environmentRoutes("GET", "/task_tools", async (services: Services, call) =>
    Response.json(toTools((await openSessionOf(services, call)).episode)),
  ),
];
