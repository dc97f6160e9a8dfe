import { expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { usePresage } from "../support/presage/use-presage.ts";
import { useUpstream } from "../support/upstream/use-upstream.ts";
import { slowTest } from "../support/whole-run.ts";

const upstream = useUpstream();
const presage = usePresage({ PRESAGE_UPSTREAM_URL: upstream.url });
const repository = join(import.meta.dir, "../../../..");

interface DescribedSchema {
  description?: string;
  $ref?: string;
}

interface Parameter extends DescribedSchema {
  name: string;
  in: string;
  deprecated?: boolean;
  schema: { deprecated?: boolean };
}

interface Operation {
  operationId: string;
  description?: string;
  security?: unknown[];
  parameters?: Parameter[];
  requestBody?: { required?: boolean };
  responses: Record<string, { headers?: Record<string, unknown> }>;
}

interface Document {
  openapi: string;
  info: { version: string };
  paths: Record<string, Record<string, Operation>>;
  components: {
    schemas: Record<
      string,
      DescribedSchema & { properties: Record<string, unknown>; additionalProperties?: unknown }
    >;
  };
}

async function document(): Promise<Document> {
  return (await (await fetch(`${presage.url}/openapi.json`)).json()) as Document;
}

slowTest("the document is OpenAPI 3.1, version 0.1.0, and a public linter finds no issue", async () => {
  const { openapi, info } = await document();
  expect(openapi).toStartWith("3.1.");
  expect(info.version).toBe("0.1.0");
  const directory = await mkdtemp(join(tmpdir(), "presage-openapi-"));
  const file = join(directory, "openapi.json");
  await Bun.write(file, JSON.stringify(await document()));
  const linter = Bun.spawn([join(repository, "node_modules/.bin/redocly"), "lint", file], {
    cwd: repository,
    env: { ...process.env, REDOCLY_TELEMETRY: "off" },
    stdout: "pipe",
    stderr: "pipe",
  });
  const output = (await new Response(linter.stdout).text()) + (await new Response(linter.stderr).text());
  await rm(directory, { recursive: true });
  expect([await linter.exited, output]).toEqual([0, expect.not.stringMatching(/\d (warning|error)/)]);
});

test("every operation, parameter and field has a description", async () => {
  const { paths, components } = await document();
  const isDescribed = (schema: DescribedSchema): boolean => {
    if (schema.description) return true;
    const component = components.schemas[schema.$ref?.split("/").at(-1) ?? ""];
    return component !== undefined && isDescribed(component);
  };
  /** Rules about fields that are described next to the rules. */
  const withoutDescriptions = ["example", "if", "not"];
  const isRuleOf = (name: string, parent: object) =>
    "properties" in parent && ["then", "oneOf", "anyOf"].includes(name);
  let fields = 0;
  function undescribedIn(value: unknown, place: string): string[] {
    if (typeof value !== "object" || value === null) return [];
    const { properties = {} }: { properties?: Record<string, DescribedSchema> } = value;
    fields += Object.keys(properties).length;
    const own = Object.entries(properties).filter(([, field]) => !isDescribed(field));
    return [
      ...own.map(([name]) => `${place} ${name}`),
      ...Object.entries(value).flatMap(([name, child]) =>
        withoutDescriptions.includes(name) || isRuleOf(name, value)
          ? []
          : undescribedIn(child, `${place}/${name}`),
      ),
    ];
  }
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { description, parameters = [] }]) => [
      { name: `${method} ${path}`, description },
      ...parameters.map((parameter) => ({ ...parameter, name: `${method} ${path} ${parameter.name}` })),
    ]),
  );
  expect(operations.filter(({ description }) => !description).map(({ name }) => name)).toEqual([]);
  expect(undescribedIn({ paths, components }, "")).toEqual([]);
  expect(fields).toBeGreaterThan(400);
});

test("every documented path exists, and requires a key unless documented as open", async () => {
  const { paths } = await document();
  expect(Object.keys(paths).length).toBeGreaterThan(8);
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, { security }] of Object.entries(methods)) {
      const url = presage.url + path.replace(/\{\w+\}/, crypto.randomUUID());
      const { status } = await fetch(url, { method: method.toUpperCase() });
      expect([path, method, status]).toEqual([path, method, security?.length === 0 ? 200 : 401]);
    }
  }
});

test("the document states what the schemas reject and default", async () => {
  const { schemas } = (await document()).components;
  expect(schemas.Interaction?.additionalProperties).toBe(false);
  expect(schemas.Params?.additionalProperties).not.toBe(false);
  expect(schemas.Params?.properties.max_tokens).toMatchObject({
    type: "integer",
    exclusiveMinimum: 0,
    default: 512,
  });
  expect(schemas.Params?.properties.top_p).toMatchObject({ exclusiveMinimum: 0, maximum: 1, default: 1 });
  expect(schemas.ApiKeyCreateRequest?.properties.name).toMatchObject({ minLength: 1, maxLength: 120 });
});

test("the old names of profiles are marked as deprecated in request bodies, responses and queries", async () => {
  const { components, paths } = await document();
  const { EvaluatorProfile, EvaluatorProfileCreateRequest } = components.schemas;
  for (const properties of [EvaluatorProfile?.properties, EvaluatorProfileCreateRequest?.properties]) {
    expect(properties).toMatchObject({ evaluator_id: { deprecated: true } });
    expect(properties?.evaluator_family).not.toHaveProperty("deprecated");
  }
  const { parameters = [] } = paths["/v1/evaluator-profiles"]?.get ?? {};
  const old = parameters.filter(({ deprecated, schema }) => deprecated && schema.deprecated);
  expect(old.map(({ name }) => name)).toEqual(["evaluator_id", "is_patronus_managed"]);
});

test("responses to requests that may use old names document the Deprecation header, and only they", async () => {
  const { paths } = await document();
  const telling = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, { responses }]) => responses["422"]?.headers?.Deprecation)
      .map(([method]) => `${method} ${path}`),
  );
  expect(telling.sort()).toEqual([
    "delete /v1/evaluation-results",
    "get /v1/evaluation-results/export",
    "get /v1/evaluator-criteria",
    "get /v1/evaluator-profiles",
    "patch /v1/evaluator-criteria/{public_id}/archive",
    "patch /v1/evaluator-profiles/{public_id}/archive",
    "post /v1/evaluate",
    "post /v1/evaluation-results/batch",
    "post /v1/evaluation-results/review",
    "post /v1/evaluation-results/search",
    "post /v1/evaluation-results/summary",
    "post /v1/evaluator-criteria",
    "post /v1/evaluator-criteria/{public_id}/revision",
    "post /v1/evaluator-profiles",
    "post /v1/evaluator-profiles/{public_id}/revision",
  ]);
  const { responses, parameters } = paths["/v1/evaluate"]?.post ?? {};
  expect(responses?.["200"]?.headers).toHaveProperty("Deprecation");
  expect(responses?.["401"]?.headers).toBeUndefined();
  expect(parameters).toMatchObject([{ name: "Idempotency-Key", in: "header" }]);
  expect(paths["/v1/evaluator-profiles/{public_id}/archive"]?.patch?.requestBody?.required).not.toBe(true);
});

test("operations that create something accept an Idempotency-Key", async () => {
  const { paths } = await document();
  const taking = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, { parameters = [] }]) => parameters.some(({ name }) => name === "Idempotency-Key"))
      .map(([method]) => `${method} ${path}`),
  );
  expect(taking.sort()).toEqual([
    "post /v1/api-keys",
    "post /v1/datasets",
    "post /v1/environments",
    "post /v1/environments/{name}/tasks",
    "post /v1/episodes",
    "post /v1/episodes/{id}/step",
    "post /v1/error-taxonomy-revision",
    "post /v1/evaluate",
    "post /v1/evaluation-results/batch",
    "post /v1/evaluation-results/{id}/correction",
    "post /v1/evaluation-results/{id}/labels",
    "post /v1/evaluations/batch",
    "post /v1/evaluator-criteria",
    "post /v1/evaluator-criteria/{public_id}/revision",
    "post /v1/evaluator-profiles",
    "post /v1/evaluator-profiles/{public_id}/revision",
    "post /v1/experiments",
    "post /v1/projects",
    "post /v1/reality-checks",
    "post /v1/runs",
    "post /v1/runs/{id}/label-sample",
    "post /v1/worlds",
  ]);
});

test("every error may carry the same error as OpenAI's clients read it", async () => {
  const { schemas } = (await document()).components;
  for (const name of ["ErrorResponse", "HTTPValidationError"]) {
    expect(schemas[name]?.properties.error).toMatchObject({
      $ref: "#/components/schemas/OpenAiError",
      description: expect.stringContaining("/v1/chat/completions"),
    });
  }
  expect(Object.keys(schemas.OpenAiError?.properties ?? {})).toEqual([
    "message",
    "type",
    "param",
    "code",
    "category",
    "upstream_status",
  ]);
});

test("operations on built-in resources document their 409", async () => {
  const { paths } = await document();
  const taxonomies = "/v1/error-taxonomy-revision";
  for (const path of [
    taxonomies,
    `${taxonomies}/{revision_id}/set-labels`,
    `${taxonomies}/{revision_id}/remove-labels`,
  ]) {
    expect(paths[path]?.post?.responses).toHaveProperty("409");
  }
});

test("the reference has a page for each operation, and no others", async () => {
  const { paths } = await document();
  const ids = Object.values(paths).flatMap((item) =>
    Object.values(item).map(({ operationId }) => operationId),
  );
  const pages = [...ids, "errors", "guides"];
  const statuses = await Promise.all(
    pages.map(async (page) => (await fetch(`${presage.url}/docs/${page}`, { method: "GET" })).status),
  );
  expect(statuses).toEqual(pages.map(() => 200));
  const withSlash = await fetch(`${presage.url}/docs/`, { redirect: "manual" });
  expect([withSlash.status, withSlash.headers.get("location")]).toEqual([308, "/docs"]);
  for (const other of ["nothing", "..%2fshell", "guides/nothing", "guides/..%2fpredict"])
    expect((await fetch(`${presage.url}/docs/${other}`)).status).toBe(404);
});

test("the reference loads nothing from other origins, and every part of it is served", async () => {
  for (const accepted of ["gzip", "identity"]) {
    const answer = await fetch(`${presage.url}/docs/predict`, { headers: { "accept-encoding": accepted } });
    const html = await answer.text();
    expect(html).toContain("Predict the next state");
    expect(answer.headers.get("content-security-policy")).toContain("default-src 'none'");
    const parts = [...html.matchAll(/(?:src|href)="([^"#]+)"/g)].map((match) => match[1] ?? "");
    expect(parts.filter((part) => !/^\/(?!\/)|^data:,$/.test(part))).toEqual([]);
    const files = parts.filter((part) => part.startsWith("/assets/"));
    expect(files).toHaveLength(4);
    for (const file of files) expect([file, (await fetch(presage.url + file)).status]).toEqual([file, 200]);
  }
});

test("durations with fractions of a second match the document, in responses and imports", async () => {
  const text = JSON.stringify(await document());
  expect(text.includes('"format":"duration"')).toBe(false);
  const { schemas } = (await document()).components;
  const patternOf = (schema: string) => {
    const field = JSON.stringify(schemas[schema]?.properties.evaluation_duration);
    return new RegExp(JSON.parse(`"${/"pattern":"(.*?[^\\])"/.exec(field)?.[1]}"`));
  };
  const written = ["PT0S", "PT0.25S", "PT0.000001S", "PT61.5S"];
  const accepted = [...written, "PT0,5S", "P1W", "P2D", "P2DT1S", "PT1H", "PT1H30M", "PT1H0.5S", "PT5M1S"];
  const refused = ["", "P", "PT", "P1", "P1Y", "P1M", "P1W1D", "1S", "fast", "PT-1S", "PT1S1M"];
  const answered = patternOf("EvaluationResult");
  const imported = patternOf("ImportedEvaluationResult");
  expect(written.filter((duration) => !answered.test(duration))).toEqual([]);
  expect(accepted.filter((duration) => !imported.test(duration))).toEqual([]);
  expect(refused.filter((duration) => answered.test(duration) || imported.test(duration))).toEqual([]);
});
