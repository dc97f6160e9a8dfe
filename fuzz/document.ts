import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";

/** The part of JSON Schema that the document uses. */
export interface Schema {
  $ref?: string;
  type?: string | string[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  enum?: unknown[];
  const?: unknown;
  examples?: unknown[];
  format?: string;
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  exclusiveMaximum?: number;
  minItems?: number;
  maxItems?: number;
  items?: Schema;
  prefixItems?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
  propertyNames?: Schema;
}

/** By the last part of their references. */
export type Schemas = Readonly<Record<string, Schema>>;

/** Follows a reference into the document's components. */
export function resolveSchema(schema: Schema, schemas: Schemas): Schema {
  if (schema.$ref === undefined) return schema;
  const name = schema.$ref.split("/").at(-1) ?? "";
  const found = schemas[name];
  if (found === undefined) throw new Error(`The document has no schema ${schema.$ref}.`);
  return resolveSchema(found, schemas);
}

// Paths at the root, which the server's own document leaves to the standard.

const text: Schema = { type: "string" };
const whole: Schema = { type: "integer" };
const split: Schema = { enum: ["train", "validation", "test"] };
/** Small, so that most tasks exist. */
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

/** The type of responses that are events rather than JSON. */
const events = "text/event-stream";

interface Described {
  /** Without the environment, which most paths may start with. */
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
    // Only these characters: other names in a path's first segment are pages of the dashboard.
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

export interface Parameter {
  name: string;
  in: "path" | "query" | "header";
  required?: boolean;
  schema: Schema;
}

export interface DocumentedResponse {
  content?: Record<string, { schema?: Schema }>;
}

/** One method of one path. */
export interface Operation {
  id: string;
  method: string;
  /** With parameters as `{name}`. */
  path: string;
  isOpen: boolean;
  parameters: Parameter[];
  body: Schema | undefined;
  /** A body that can be sent as it is. */
  bodyExample: unknown;
  /** By status. */
  responses: Record<string, DocumentedResponse>;
}

export interface Document {
  operations: Operation[];
  schemas: Schemas;
}

export interface RawOperation {
  operationId: string;
  security?: unknown[];
  parameters?: Parameter[];
  requestBody?: { content: Record<string, { schema: Schema; example?: unknown }> };
  responses: Record<string, DocumentedResponse>;
}

interface RawDocument {
  paths: Record<string, Record<string, RawOperation>>;
  components: { schemas: Schemas };
}

/** Reads a server's `/openapi.json`. The paths of the Open Reward Standard, which it does not have, are added. */
export async function readDocument(url: string): Promise<Document> {
  return listOperations((await (await fetch(`${url}/openapi.json`)).json()) as RawDocument);
}

export function listOperations({ paths, components }: RawDocument): Document {
  // One line of JSON lines is JSON too.
  const contentOf = ({ requestBody }: RawOperation) => Object.values(requestBody?.content ?? {})[0];
  const all = { ...paths, ...openRewardStandardPaths() };
  const operations = Object.entries(all).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, raw]) => ({
      id: raw.operationId,
      method: method.toUpperCase(),
      path,
      isOpen: raw.security?.length === 0,
      parameters: raw.parameters ?? [],
      body: contentOf(raw)?.schema,
      bodyExample: contentOf(raw)?.example,
      responses: raw.responses,
    })),
  );
  return { operations, schemas: components.schemas };
}

/** Describes what is wrong with a JSON value, or returns undefined. Equal violations have equal descriptions. */
export type FindViolation = (value: unknown) => string | undefined;

export interface ResponseSchemas {
  /** For a response with this status; undefined if the document describes no JSON. */
  of(operation: Operation, status: number): FindViolation | undefined;
  /** For a component, by its name. */
  named(name: string): FindViolation;
  /** For any schema of the document; it is compiled once for each key. */
  compile(key: string, schema: Schema): FindViolation;
}

const documentId = "presage";

/** Compiles the schemas of all responses. */
export function compileResponseSchemas({ schemas }: Document): ResponseSchemas {
  // Shared schemas are compiled once each, and most are asked for a few values only: a third of the processor time.
  const ajv = new Ajv2020({ strict: false, allErrors: false, inlineRefs: false, code: { optimize: false } });
  addFormats.default(ajv);
  ajv.addSchema({ $id: documentId, components: { schemas } });
  const violationIn =
    (validate: ValidateFunction): FindViolation =>
    (value) => {
      if (validate(value)) return undefined;
      const [violation] = validate.errors ?? [];
      // Without indexes, which differ between responses.
      const place = (violation?.instancePath ?? "").replace(/\/\d+(?=\/|$)/g, "/*");
      return `${place || "/"} ${violation?.message} (${violation?.schemaPath.split("/components/").at(-1)})`;
    };
  const compiled = new Map<string, FindViolation>();
  // Compiling all schemas takes a second; a short run only needs a few.
  function compileOnce(name: string, schema: Schema): FindViolation {
    const found = compiled.get(name) ?? violationIn(ajv.compile(withAbsoluteReferences(schema)));
    compiled.set(name, found);
    return found;
  }
  return {
    of({ id, responses }, status) {
      const schema = responses[String(status)]?.content?.["application/json"]?.schema;
      return schema === undefined ? undefined : compileOnce(`${id} ${status}`, schema);
    },
    named: (name) => compileOnce(name, referenceTo(name)),
    compile: compileOnce,
  };
}

function referenceTo(name: string): Schema {
  return { $ref: `#/components/schemas/${name}` };
}

/** References in the document are relative to its root, which a schema compiled by itself does not have. */
function withAbsoluteReferences(schema: Schema): Schema {
  const text = JSON.stringify(schema).replaceAll('"$ref":"#/', `"$ref":"${documentId}#/`);
  return JSON.parse(text);
}
