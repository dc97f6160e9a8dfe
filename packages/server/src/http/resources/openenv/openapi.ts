import {
  EnvironmentPath,
  OpenEnvHealthResponse,
  OpenEnvMcpResponse,
  OpenEnvMetadataResponse,
  OpenEnvSchemaResponse,
} from "@presage/contract";
import { z } from "zod";
import type {
  ZodOpenApiOperationObject,
  ZodOpenApiPathsObject,
  ZodOpenApiResponsesObject,
} from "zod-openapi";
import {
  errorResponse,
  invalidRequest,
  operation,
  response,
  unauthorized,
  unavailable,
} from "../docs/describe.ts";
import { serverDescription } from "./server-description.ts";

const path = "/v1/environments/{name}/openenv";
const tag = "OpenEnv";
const key =
  "The key may also be the password of Basic authentication, which it becomes in `http://any:KEY@HOST/…`. Sessions and web pages are not let in.";
const failures = {
  ...unauthorized,
  "403": errorResponse("The request has an `Origin`", "Web pages may not call this address."),
  "404": errorResponse("The account has no such environment", "There is no such environment."),
  ...invalidRequest,
  ...unavailable,
} satisfies ZodOpenApiResponsesObject;

function describe(
  operationId: string,
  summary: string,
  { description, responses }: { description: string; responses: ZodOpenApiResponsesObject },
): ZodOpenApiOperationObject {
  return {
    ...operation(operationId, tag, summary, {
      description: `${description} ${key}`,
      requestParams: { path: EnvironmentPath },
      responses: { ...responses, ...failures },
    }),
    security: [{ apiKey: [] }, { bearer: [] }, { basic: [] }],
  };
}

/** OpenAPI has no words for a WebSocket. */
export const openEnvDescription = `Environments for clients of [OpenEnv](https://github.com/huggingface/OpenEnv). Their base URL is \`http://any:KEY@HOST/v1/environments/NAME/openenv\`. They open the WebSocket \`/ws\` below it, on which one episode at a time is played.

The client sends \`{"type": "reset", "data": {"split", "index", "seed", "episode_id"}}\`, all optional, \`{"type": "step", "data": {"message": "the action"}}\`, \`{"type": "state"}\` or \`{"type": "close"}\`. The server sends \`{"type": "observation", "data": {"observation": {"prompt", "truncated", "metadata"}, "reward", "done", "metadata"}}\`, \`{"type": "state", "data": {"episode_id", "step_count", …}}\`, or \`{"type": "error", "data": {"message", "code"}}\` with the code \`INVALID_JSON\`, \`UNKNOWN_TYPE\`, \`VALIDATION_ERROR\`, \`EXECUTION_ERROR\`, \`CAPACITY_REACHED\` or \`SESSION_ERROR\`. Messages are answered in their order; at most 64 may wait, and one has at most a megabyte.

After an error the episode stands where it was, and the message can be sent again. An answer comes within 50 seconds. A reset with the \`episode_id\` of an observation's metadata goes on with that episode, and returns its last answer once more.`;

export const openEnvPaths: ZodOpenApiPathsObject = {
  [`${path}/schema`]: {
    get: describe("getOpenEnvSchema", "Show OpenEnv's schemas", {
      description: "Returns the JSON schemas of actions, observations and the state.",
      responses: {
        "200": response("The schemas", OpenEnvSchemaResponse, {
          action: { type: "object", properties: { message: { type: "string" } }, required: ["message"] },
          observation: { type: "object", properties: { prompt: { type: "string" } } },
          state: { type: "object", properties: { step_count: { type: "integer" } } },
        }),
      },
    }),
  },
  [`${path}/metadata`]: {
    get: describe("getOpenEnvMetadata", "Show OpenEnv's metadata", {
      description: "Returns the environment's name and description, with its revision as the version.",
      responses: {
        "200": response("The metadata", OpenEnvMetadataResponse, {
          name: "kitchen",
          description: "A kitchen, as qwen-wm knows it.",
          version: "1",
        }),
      },
    }),
  },
  [`${path}/health`]: {
    get: describe("getOpenEnvHealth", "Check an environment", {
      description: "Returns `healthy` if the environment is there.",
      responses: { "200": response("It is there", OpenEnvHealthResponse, { status: "healthy" }) },
    }),
  },
  [`${path}/openapi.json`]: {
    get: describe("getOpenEnvDescription", "Describe OpenEnv's server", {
      description: "Returns what `openenv validate` reads: which paths of OpenEnv's own server there are.",
      responses: {
        "200": response(
          "A short OpenAPI document",
          z.looseObject({ openapi: z.string().meta({ description: "OpenAPI's version." }) }),
          serverDescription,
        ),
      },
    }),
  },
  [`${path}/mcp`]: {
    post: describe("callOpenEnvMcp", "Call MCP", {
      description: "Responds with an error of JSON-RPC, whatever the body: environments have no MCP tools.",
      responses: {
        "200": response("The error", OpenEnvMcpResponse, {
          jsonrpc: "2.0",
          id: null,
          error: {
            code: -32601,
            message: "This environment has no MCP tools. Send steps to its WebSocket.",
          },
        }),
      },
    }),
  },
};
