import type { DocumentedResponse, Parameter, RawOperation } from "./read-document.ts";
import type { Schema } from "./schema.ts";

// Paths at the root, which the server's own document leaves to the standard.

const text: Schema = { type: "string" };
const whole: Schema = { type: "integer" };
const split: Schema = { enum: ["train", "validation", "test"] };
/** Few, so that most are there. */
const index: Schema = { type: "integer", minimum: 0, maximum: 5 };
const orNothing = (schema: Schema): Schema => ({ anyOf: [schema, { type: "null" }] });
const anyObject: Schema = { type: "object", additionalProperties: true };

function object(properties: Record<string, Schema>, required = Object.keys(properties)): Schema {
  return { type: "object", properties, required };
}

function list(items: Schema): Schema {
  return { type: "array", items };
}

const task = object({ split, index: whole, prompt: orNothing(text), goal: orNothing(text), metadata: {} });
const tools = object({
  tools: list(object({ name: text, description: text, input_schema: anyObject })),
});
const ownSession = object({ sid: text });

/** Where there is no JSON but events. */
const events = "text/event-stream";

interface Described {
  /** Without the environment, which most paths have before them and need not have. */
  path: string;
  method: "get" | "post";
  body?: Schema;
  hasSession?: boolean;
  /** Undefined if it sends events. */
  response?: Schema;
}

const withoutEnvironment: Record<string, Described> = {
  listOrsEnvironments: { method: "get", path: "/list_environments", response: list(text) },
  makeOrsSession: { method: "post", path: "/create_session" },
  createOrsSession: {
    method: "post",
    path: "/create",
    hasSession: true,
    body: {
      anyOf: [
        object({ env_name: text, task_spec: object({ split, index }), secrets: anyObject }, ["task_spec"]),
        object({ env_name: text, split, index, secrets: anyObject }, ["split", "index"]),
      ],
    },
    response: ownSession,
  },
  pingOrsSession: { method: "post", path: "/ping", hasSession: true, response: object({ status: text }) },
  deleteOrsEpisode: { method: "post", path: "/delete", hasSession: true, response: ownSession },
  deleteOrsSession: { method: "post", path: "/delete_session", hasSession: true, response: ownSession },
};

const withEnvironment: Record<string, Described> = {
  listOrsTools: { method: "get", path: "/tools", response: tools },
  listOrsSplits: { method: "get", path: "/splits", response: list(object({ name: split, type: split })) },
  listOrsTasks: {
    method: "post",
    path: "/tasks",
    body: object({ split }),
    response: object({ tasks: list(task), env_name: text }),
  },
  countOrsTasks: {
    method: "post",
    path: "/num_tasks",
    body: object({ split }),
    response: object({ num_tasks: whole }),
  },
  getOrsTask: {
    method: "post",
    path: "/task",
    body: object({ split, index }),
    response: object({ task, env_name: text }),
  },
  listOrsTaskRange: {
    method: "post",
    path: "/task_range",
    body: object({ split, start: orNothing(whole), stop: orNothing(whole) }, ["split"]),
    response: object({ tasks: list(task), env_name: text }),
  },
  getOrsPrompt: {
    method: "get",
    path: "/prompt",
    hasSession: true,
    response: list(object({ type: { const: "text" }, text, detail: { type: "null" } })),
  },
  listOrsTaskTools: { method: "get", path: "/task_tools", hasSession: true, response: tools },
  callOrsTool: {
    method: "post",
    path: "/call",
    hasSession: true,
    body: object({ name: text, input: object({ action: text }), task_id: orNothing(text) }, [
      "name",
      "input",
    ]),
  },
};

/** The operations of the Open Reward Standard, as a server's document would have them. */
export function openRewardStandardPaths(): Record<string, Record<string, RawOperation>> {
  const paths: Record<string, Record<string, RawOperation>> = {};
  const add = (id: string, path: string, described: Described, parameters: Parameter[]) => {
    paths[path] = { [described.method]: operationOf(id, described, parameters) };
  };
  for (const [id, described] of Object.entries(withoutEnvironment)) add(id, described.path, described, []);
  for (const [id, described] of Object.entries(withEnvironment)) {
    // No more letters than these, as other names of a path's first part are pages of the dashboard.
    const environment = { type: "string", pattern: "^[a-z][a-z0-9-]{0,20}$" };
    add(id, `/{env}${described.path}`, described, [
      { name: "env", in: "path", required: true, schema: environment },
    ]);
    add(`${id}WithoutPath`, described.path, described, [
      { name: "X-Deployment", in: "header", schema: text },
    ]);
  }
  return paths;
}

function operationOf(
  operationId: string,
  { body, hasSession, response }: Described,
  parameters: Parameter[],
): RawOperation {
  const session: Parameter = { name: "X-Session-ID", in: "header", required: true, schema: text };
  return {
    operationId,
    parameters: hasSession ? [...parameters, session] : parameters,
    ...(body === undefined ? {} : { requestBody: { content: { "application/json": { schema: body } } } }),
    responses: {
      "200": { content: response === undefined ? { [events]: {} } : json(response) },
      ...failures,
    },
  };
}

function json(schema: Schema): NonNullable<DocumentedResponse["content"]> {
  return { "application/json": { schema } };
}

const failures: Record<string, DocumentedResponse> = {
  ...Object.fromEntries(
    ["400", "401", "403", "404", "413", "429"].map((status) => [
      status,
      { content: json({ $ref: "#/components/schemas/ErrorResponse" }) },
    ]),
  ),
  "422": { content: json({ $ref: "#/components/schemas/HTTPValidationError" }) },
};
