// The content of `/openapi.json`, in the shape that the reference shows.

/** The part of a JSON Schema that field tables show. */
export interface Schema {
  $ref?: string;
  type?: string | readonly string[];
  format?: string;
  description?: string;
  default?: unknown;
  const?: unknown;
  enum?: readonly unknown[];
  pattern?: string;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  exclusiveMaximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  maxProperties?: number;
  deprecated?: boolean;
  required?: readonly string[];
  properties?: Record<string, Schema>;
  additionalProperties?: boolean | Schema;
  items?: Schema;
  anyOf?: readonly Schema[];
  oneOf?: readonly Schema[];
}

interface Media {
  schema: Schema;
  example?: unknown;
}

export interface Parameter {
  in: "path" | "query" | "header";
  name: string;
  required?: boolean;
  deprecated?: boolean;
  description?: string;
  schema: Schema;
}

export interface ResponseOf {
  description: string;
  headers?: Record<string, { description?: string }>;
  content?: Record<string, Media>;
}

export interface Operation {
  operationId: string;
  tags: readonly string[];
  summary: string;
  description: string;
  parameters?: readonly Parameter[];
  requestBody?: { required?: boolean; description?: string; content: Record<string, Media> };
  responses: Record<string, ResponseOf>;
  security?: readonly object[];
  /** In upper case. */
  method: string;
  path: string;
}

export interface OpenApi {
  tags: readonly { name: string; description: string }[];
  paths: Record<string, Record<string, Omit<Operation, "method" | "path">>>;
  components: { schemas: Record<string, Schema> };
}

/** Something that readers want to do, with the operations for it by tag. */
export interface Task {
  title: string;
  groups: { title: string; description: string | undefined; operations: Operation[] }[];
}

const tagsOfTasks: Record<string, readonly string[]> = {
  Predict: ["prediction", "stored predictions"],
  Evaluate: [
    "evaluation",
    "evaluation results",
    "labels",
    "evaluators",
    "evaluator profiles",
    "error taxonomies",
  ],
  Datasets: ["datasets"],
  Runs: ["runs", "experiments"],
  Worlds: ["worlds"],
  Environments: ["environments", "episodes", "reality", "OpenEnv"],
  Accounts: ["dashboard"],
};
/** For tags that no task names, so that nothing is left out. */
const otherTask = "Server";

export function tasksOf({ paths, tags }: OpenApi): Task[] {
  const operations = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, one]) => ({ ...one, method: method.toUpperCase(), path })),
  );
  // Operations on all resources come before operations on one.
  const ordered = operations.toSorted((one, other) => depthOf(one) - depthOf(other));
  const byTag = Map.groupBy(ordered, ({ tags: [tag = ""] }) => tag);
  const named = Object.values(tagsOfTasks).flat();
  const others = [...byTag.keys()].filter((tag) => !named.includes(tag));
  return Object.entries({ ...tagsOfTasks, [otherTask]: others }).map(([title, ofTask]) => ({
    title,
    groups: ofTask.map((tag) => ({
      title: tag === "dashboard" ? "accounts" : tag,
      description: tags.find(({ name }) => name === tag)?.description,
      operations: byTag.get(tag) ?? [],
    })),
  }));
}

const depthOf = ({ path }: Operation) => path.split("/").length;

/** The content that the reference shows if a body or a response has several: JSON, else the first. */
export function mainContent(content: Record<string, Media> = {}): ({ type: string } & Media) | undefined {
  const [type, media] =
    Object.entries(content).find(
      ([name]) => name === "application/json" || name === "application/x-ndjson",
    ) ??
    Object.entries(content)[0] ??
    [];
  return type === undefined || media === undefined ? undefined : { type, ...media };
}

/** The example of a body or a response as text: JSON over several lines, other formats unchanged. */
export function exampleText({ type, example }: { type: string; example?: unknown }): string {
  if (typeof example === "string") return example;
  if (example === undefined) return "";
  return JSON.stringify(example, null, type === "application/x-ndjson" ? undefined : 2);
}
