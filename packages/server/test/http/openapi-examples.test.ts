import { expect, test } from "bun:test";
import {
  ApiKeyCreateResponse,
  Dataset,
  DatasetSampleListResponse,
  ErrorTaxonomyRevisionCreateResponse,
  EvaluateResponse,
  EvaluatorCriteriaResponse,
  EvaluatorProfileResponse,
  ExperimentResponse,
  KeptPredictionListResponse,
  ModelListResponse,
  Project,
  SessionListResponse,
} from "@presage/contract";
import {
  compileResponseSchemas,
  type ResponseSchemas,
} from "../../../../fuzz/document/compile-response-schemas.ts";
import { type Operation, readDocument } from "../../../../fuzz/document/read-document.ts";
import { startTarget, type Target } from "../../../../fuzz/target/start-target.ts";
import { expectEventually } from "../support/eventually.ts";
import { onEachDatabase } from "../support/store/databases.ts";

/** Where the ids in paths come from: the responses that create or list things, by operation. */
const idsIn: Record<string, (response: unknown) => Record<string, string>> = {
  createApiKey: (response) => ({ "api-keys/{key_id}": ApiKeyCreateResponse.parse(response).id }),
  createErrorTaxonomyRevision: (response) => ({
    "error-taxonomy-revision/{revision_id}":
      ErrorTaxonomyRevisionCreateResponse.parse(response).error_taxonomy_revision.id,
  }),
  createExperiment: (response) => ({ "experiments/{id}": ExperimentResponse.parse(response).experiment.id }),
  createProject: (response) => ({ "projects/{id}": Project.parse(response).id }),
  createEvaluatorCriteria: (response) => ({
    "evaluator-criteria/{public_id}": EvaluatorCriteriaResponse.parse(response).evaluator_criteria.public_id,
  }),
  createEvaluatorProfile: (response) => ({
    "evaluator-profiles/{public_id}": EvaluatorProfileResponse.parse(response).evaluator_profile.public_id,
  }),
  evaluate: (response) => ({
    "evaluation-results/{id}": String(EvaluateResponse.parse(response).results[0]?.evaluation_result?.id),
  }),
  createDataset: (response) => ({ "datasets/{id}": Dataset.parse(response).id }),
  listDatasetSamples: (response) => ({
    "trajectories/{trajectory_id}": String(DatasetSampleListResponse.parse(response).data[0]?.trajectory_id),
  }),
  listPredictions: (response) => ({
    "predictions/{id}": String(KeptPredictionListResponse.parse(response).data[0]?.id),
  }),
  listModels: (response) => ({ "models/{id}": String(ModelListResponse.parse(response).data[0]?.id) }),
};

/** What creates comes first, what removes comes last. */
const order = [
  "POST",
  "POST with an id",
  "GET",
  "GET with an id",
  "PATCH with an id",
  "DELETE with an id",
  "DELETE",
];

function inOrder(operations: readonly Operation[]): Operation[] {
  const place = ({ method, path }: Operation) => {
    const found = order.indexOf(path.includes("{") ? `${method} with an id` : method);
    if (found < 0) throw new Error(`${method} ${path} has no place in the order.`);
    return found;
  };
  return operations.toSorted((a, b) => place(a) - place(b));
}

function addressOf({ path, parameters }: Operation, ids: Record<string, string>): string {
  const required = parameters.filter((parameter) => parameter.in === "query" && parameter.required);
  const query = new URLSearchParams();
  for (const { name, schema } of required) query.set(name, String(schema.const ?? schema.examples?.[0]));
  const suffix = required.length === 0 ? "" : `?${query}`;
  return withIds(path, ids) + suffix;
}

function withIds(path: string, ids: Record<string, string>): string {
  return path.replace(/([\w-]+)\/\{\w+\}/g, (place, resource: string) => {
    const id = ids[place];
    if (id === undefined) throw new Error(`No response has the id for ${place} of ${path}.`);
    return `${resource}/${id}`;
  });
}

/** The example of a request's body, with the id of a project that exists. */
function bodyOf({ bodyExample }: Operation, ids: Record<string, string>): unknown {
  if (typeof bodyExample !== "object" || bodyExample === null || !("project_id" in bodyExample))
    return bodyExample;
  return { ...bodyExample, project_id: ids["projects/{id}"] };
}

/** The documented statuses of a request that succeeds. */
function successesOf({ responses }: Operation): string[] {
  return Object.keys(responses).filter((status) => status.startsWith("2"));
}

/** Sends the example of each operation and returns what differs from the document. */
async function tryExamples({ presage, ownerKey, sessions }: Target): Promise<string[]> {
  const document = await readDocument(presage.url);
  const schemas = compileResponseSchemas(document);
  const [session] = sessions;
  const listed = await presage.call("GET", "/v1/sessions", undefined, session?.headers);
  const other = SessionListResponse.parse(await listed.json()).data.find(({ is_current }) => !is_current);
  const ids: Record<string, string> = { "sessions/{session_id}": other?.id ?? "" };
  const differences: string[] = [];
  await keepPrediction(presage);
  for (const operation of inOrder(document.operations)) {
    const { id, method } = operation;
    const headers = id === "signOut" ? session?.headers : { "x-api-key": ownerKey };
    const response = await presage.call(method, addressOf(operation, ids), bodyOf(operation, ids), headers);
    const text = await response.text();
    const difference = differenceOf(operation, response, text, schemas);
    if (difference !== undefined) differences.push(`${id}: ${difference}`);
    else Object.assign(ids, idsIn[id]?.(JSON.parse(text)));
  }
  return differences;
}

/** Predictions are stored soon after their response. */
async function keepPrediction(presage: Target["presage"]): Promise<void> {
  await presage.call("POST", "/v1/predict", { interaction: { state: "A door.", action: "open it" } });
  const isListed = async () => {
    const response = await presage.call("GET", "/v1/predictions");
    return KeptPredictionListResponse.parse(await response.json()).data.length > 0;
  };
  await expectEventually(isListed, true);
}

function differenceOf(
  operation: Operation,
  { status, headers }: Response,
  text: string,
  schemas: ResponseSchemas,
): string | undefined {
  const expected = successesOf(operation);
  if (!expected.includes(String(status))) return `${status} instead of ${expected.join(" or ")}: ${text}`;
  const type = headers.get("content-type")?.split(";")[0] ?? "";
  const types = Object.keys(operation.responses[String(status)]?.content ?? {});
  if (types.length > 0 && !types.includes(type)) return `${type} instead of ${types.join(" or ")}`;
  if (type === "application/json") return schemas.of(operation, status)?.(JSON.parse(text));
  if (type !== "application/x-ndjson") return undefined;
  const check = schemas.named(operation.id === "exportDataset" ? "DatasetSample" : "EvaluationResult");
  return text
    .trimEnd()
    .split("\n")
    .map((line) => check(JSON.parse(line)))
    .find(Boolean);
}

onEachDatabase((database) => {
  test("every example of a request succeeds, and its response is as documented", async () => {
    await using target = await startTarget(await database.create(), "sandbox");
    expect(await tryExamples(target)).toEqual([]);
  });
});
