import { expect, test } from "bun:test";
import { usePresage } from "../support/presage/use-presage.ts";

const presage = usePresage();

/** Bodies that third-party clients send with fields unknown to Presage, or whose lines other programs write. */
const accepting = [
  "POST /v1/predict",
  "POST /v1/chat/completions",
  "POST /v1/api-keys",
  "POST /v1/evaluate",
  "POST /v1/evaluation-results/batch",
  "POST /v1/evaluations/batch",
  "POST /v1/evaluator-profiles",
  "PATCH /v1/evaluator-profiles/{public_id}/archive",
  "POST /v1/evaluator-profiles/{public_id}/revision",
  "POST /v1/evaluator-criteria",
  "PATCH /v1/evaluator-criteria/{public_id}/archive",
  "POST /v1/evaluator-criteria/{public_id}/revision",
  "POST /v1/projects",
  "POST /v1/experiments",
  "POST /v1/experiments/{id}",
  "POST /v1/error-taxonomy-revision",
  "POST /v1/error-taxonomy-revision/{revision_id}/set-labels",
  "POST /v1/error-taxonomy-revision/{revision_id}/remove-labels",
  "POST /v1/runs/{id}/predictions",
  "POST /v1/environments/{name}/openenv/mcp",
  "POST /v1/environments/{name}/openenv/{env_name}/tasks",
  "POST /v1/environments/{name}/openenv/{env_name}/num_tasks",
  "POST /v1/environments/{name}/openenv/{env_name}/task",
  "POST /v1/environments/{name}/openenv/{env_name}/task_range",
];

/** Refuse unknown fields except nulls, which third-party clients send: the document cannot express that. */
const acceptingNulls = ["POST /v1/evaluation-results/search", "POST /v1/evaluation-results/summary"];

/** Objects in which any name is allowed: parameters of a model, and what a later version of a server may have answered. */
const open = new Set(["Params", "WorldPins"]);

interface Schema {
  $ref?: string;
  properties?: Record<string, Schema>;
  additionalProperties?: unknown;
  items?: Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
}

interface Document {
  paths: Record<
    string,
    Record<string, { requestBody?: { content: Record<string, { schema: Schema; example?: unknown }> } }>
  >;
  components: { schemas: Record<string, Schema> };
}

async function bodiesOf({ paths }: Document) {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { requestBody }]) =>
      Object.entries(requestBody?.content ?? {}).map(([type, content]) => ({
        name: `${method.toUpperCase()} ${path}`,
        method: method.toUpperCase(),
        path,
        type,
        ...content,
      })),
    ),
  );
}

async function readDocument(): Promise<Document> {
  return (await (await fetch(`${presage.url}/openapi.json`)).json()) as Document;
}

test("every body of our own resources is documented to have no other properties", async () => {
  const document = await readDocument();
  function looseIn(schema: Schema, place: string): string[] {
    const { $ref, properties, additionalProperties, items, anyOf = [], oneOf = [], allOf = [] } = schema;
    const name = $ref?.split("/").at(-1);
    if (name !== undefined)
      return open.has(name) ? [] : looseIn(document.components.schemas[name] ?? {}, place);
    // Next to properties, these are rules about them.
    const kinds = properties === undefined ? [...anyOf, ...oneOf, ...allOf] : [];
    return [
      ...(properties !== undefined && additionalProperties !== false ? [place] : []),
      ...Object.entries(properties ?? {}).flatMap(([field, of]) => looseIn(of, `${place} ${field}`)),
      ...[...(items === undefined ? [] : [items]), ...kinds].flatMap((of) => looseIn(of, place)),
    ];
  }
  const bodies = await bodiesOf(document);
  const loose = bodies.flatMap(({ name, schema }) => looseIn(schema, name));
  const left = [...accepting, ...acceptingNulls];
  expect(loose.filter((place) => !left.some((name) => `${place} `.startsWith(`${name} `)))).toEqual([]);
  // A renamed path must not remain as an exception.
  expect(left.filter((name) => !bodies.some((body) => body.name === name))).toEqual([]);
});

test("an unknown property in a body of our own resources is refused with its name", async () => {
  const bodies = await bodiesOf(await readDocument());
  const own = bodies.filter(({ name, type }) => type === "application/json" && !accepting.includes(name));
  expect(own.length).toBeGreaterThan(10);
  for (const { name, method, path, example } of own) {
    const id = () => (path.startsWith("/v1/evaluation-results") ? "1" : crypto.randomUUID());
    const query = path === "/v1/datasets/{id}/revisions" ? "?from=episodes" : "";
    const body = { ...(example as object), unheard_of: true };
    const response = await presage.call(method, path.replaceAll(/\{\w+\}/g, id) + query, body);
    const { detail } = (await response.json()) as { detail: unknown };
    const issue = expect.objectContaining({ type: "extra_forbidden", loc: ["body", "unheard_of"] });
    expect([name, response.status, detail]).toEqual([name, 422, expect.arrayContaining([issue])]);
  }
});
