import type { Services } from "../../app/services.ts";
import { requesterOf } from "../../http/requester-of.ts";
import type { CallWithCaller, Route } from "../../http/route.ts";
import type { EnvironmentRevision } from "../environment.ts";
import { findEnvironment } from "../find-environment.ts";
import { listAllEnvironments } from "./list-all-environments.ts";
import { toolOf } from "./read-action.ts";
import { readEnvironmentName, toPlay, withEnvironment } from "./read-ors-request.ts";
import { taskHandlers } from "./task-handlers.ts";

/** What there is to play, for clients of the Open Reward Standard. */
export function orsCatalogRoutes(services: Services): Route[] {
  const { environments } = services;
  const environmentOf = (call: CallWithCaller) =>
    findEnvironment(environments, requesterOf(call), readEnvironmentName(call));

  return [
    toPlay("GET", "/list_environments", async (call) => {
      const names: string[] = [];
      for await (const { name } of listAllEnvironments(environments, requesterOf(call))) names.push(name);
      return Response.json(names);
    }),
    ...withEnvironment("GET", "/tools", async (call) => Response.json(toTools(await environmentOf(call)))),
    ...taskHandlers(services, environmentOf).flatMap(({ method, path, handle }) =>
      withEnvironment(method, path, handle),
    ),
  ];
}

/** The tool that agents act with. A task has none of its own. */
export function toTools({ config }: Pick<EnvironmentRevision, "config">) {
  const { name, description, argument } = toolOf(config);
  const properties = { [argument]: { type: "string", description: "What to do, in words." } };
  const input_schema = { type: "object", properties, required: [argument], additionalProperties: false };
  return { tools: [{ name, description, input_schema }] };
}
