import {
  EnvironmentPath,
  OpenEnvAction,
  type OpenEnvMcpResponse,
  type OpenEnvMetadataResponse,
  type OpenEnvNamesResponse,
  OpenEnvObservation,
  type OpenEnvSchemaResponse,
  OpenEnvState,
  OpenEnvTaskPath,
} from "@presage/contract";
import { z } from "zod";
import type { ZodOpenApiOperationObject, ZodOpenApiResponsesObject } from "zod-openapi";
import type { Services } from "../../app/services.ts";
import { type CallWithCaller, requesterOf } from "../../http/call.ts";
import { errorResponse, noSuch, operation } from "../../http/describe.ts";
import { readPath } from "../../http/request.ts";
import { forPrograms, type Route } from "../../http/route.ts";
import { findEnvironment, noSuchEnvironment } from "../environments.ts";
import { taskHandlers } from "../ors/ors-route.ts";
import { acceptSocket } from "./openenv-socket.ts";

const key =
  "The key may also be the password of Basic authentication, which it becomes in `http://any:KEY@HOST/…`. Sessions and web pages are not let in.";
const failures = {
  "403": errorResponse("The request has an `Origin`", "Web pages may not call this address."),
  ...noSuch("environment"),
} satisfies ZodOpenApiResponsesObject;

interface Described extends Pick<ZodOpenApiOperationObject, "requestParams" | "requestBody"> {
  description: string;
  responses: ZodOpenApiResponsesObject;
}

/** An operation of OpenEnv's clients, which have a way of their own to send the key. */
export function describeOpenEnv(
  operationId: string,
  summary: string,
  { description, responses, ...rest }: Described,
): ZodOpenApiOperationObject {
  return {
    ...operation(operationId, "OpenEnv", summary, {
      description: `${description} ${key}`,
      requestParams: { path: EnvironmentPath },
      ...rest,
      responses: { ...responses, ...failures },
    }),
    security: [{ apiKey: [] }, { bearer: [] }, { basic: [] }],
  };
}

/** What `openenv validate` reads: the paths of OpenEnv's own server that this one has. Steps are taken over the WebSocket only. */
export const serverDescription = {
  openapi: "3.1.0",
  info: { title: "OpenEnv Environment HTTP API", version: "1.0.0" },
  paths: {
    "/health": { get: { summary: "Health check" } },
    "/metadata": { get: { summary: "Name and description of the environment" } },
    "/schema": { get: { summary: "JSON schemas of actions, observations and the state" } },
    "/list_environments": { get: { summary: "The environment's name" } },
    "/{env_name}/splits": { get: { summary: "Splits of tasks" } },
    "/{env_name}/tasks": { post: { summary: "Tasks of a split" } },
    "/{env_name}/num_tasks": { post: { summary: "Number of tasks in a split" } },
    "/{env_name}/task": { post: { summary: "A task of a split" } },
    "/{env_name}/task_range": { post: { summary: "Part of the tasks of a split" } },
    "/mcp": { post: { summary: "JSON-RPC without methods" } },
  },
};

const path = "/v1/environments/:name/openenv";

/** JSON-RPC's code for a method that a server does not have. */
const methodNotFound = -32601;

/** OpenEnv's server, as its client and its tools call it. */
export function openEnvRoutes(services: Services): Route[] {
  const schemas: OpenEnvSchemaResponse = {
    action: z.toJSONSchema(OpenEnvAction, { io: "input" }),
    observation: z.toJSONSchema(OpenEnvObservation, { io: "input" }),
    state: z.toJSONSchema(OpenEnvState, { io: "input" }),
  };
  const noTools: OpenEnvMcpResponse = {
    jsonrpc: "2.0",
    id: null,
    error: {
      code: methodNotFound,
      message: "This environment has no MCP tools. Send steps to its WebSocket.",
    },
  };

  /** Throws if the account has no such environment. */
  const environmentOf = (call: CallWithCaller) =>
    findEnvironment(services.environments, requesterOf(call), readPath(call, EnvironmentPath).name);

  /** Its Task API has the environment's name a second time, as a server of OpenEnv is one environment and says its name. */
  const environmentNamedAgain = async (call: CallWithCaller) => {
    const { name, env_name } = readPath(call, OpenEnvTaskPath);
    if (env_name.toLowerCase() !== name) throw noSuchEnvironment();
    return await environmentOf(call);
  };

  const forEnvironment = (method: "GET" | "POST", name: string, response: object) =>
    forPrograms(method, `${path}/${name}`, "predict", async (call) => {
      await environmentOf(call);
      return Response.json(response);
    });

  return [
    forEnvironment("GET", "schema", schemas),
    forEnvironment("GET", "health", { status: "healthy" }),
    forEnvironment("GET", "openapi.json", serverDescription),
    forEnvironment("POST", "mcp", noTools),
    forPrograms("GET", `${path}/metadata`, "predict", async (call) => {
      const { name, revision, config } = await environmentOf(call);
      const response: OpenEnvMetadataResponse = {
        name,
        description: config.description ?? "A text world that a model plays.",
        version: String(revision),
      };
      return Response.json(response);
    }),
    forPrograms("GET", `${path}/list_environments`, "predict", async (call) => {
      const response: OpenEnvNamesResponse = [(await environmentOf(call)).name];
      return Response.json(response);
    }),
    ...taskHandlers(services, environmentNamedAgain).map(({ method, path: ofTasks, handle }) =>
      forPrograms(method, `${path}/:env_name${ofTasks}`, "predict", handle),
    ),
    forPrograms("GET", `${path}/ws`, "predict", async (call) => {
      const { name } = await environmentOf(call);
      return acceptSocket(services, call, { environment: name, path: `${path}/ws` });
    }),
  ];
}
