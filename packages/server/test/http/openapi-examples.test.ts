import { expect, test } from "bun:test";
import {
  ApiKeyCreateResponse,
  Dataset,
  DatasetSampleListResponse,
  Environment,
  EpisodeStart,
  ErrorTaxonomyRevisionCreateResponse,
  EvaluateResponse,
  EvaluationResultDeletion,
  EvaluatorCriteriaResponse,
  EvaluatorProfileResponse,
  ExperimentResponse,
  ModelListResponse,
  Project,
  RealityCheck,
  Run,
  SessionListResponse,
  ShareCreateResponse,
  StoredPredictionListResponse,
  World,
} from "@presage/contract";
import {
  compileResponseSchemas,
  listOperations,
  type Operation,
  openRewardStandardPaths,
  type ResponseSchemas,
  readDocument,
  type Schema,
} from "../../../../fuzz/document.ts";
import { startTarget, type Target } from "../../../../fuzz/target/target.ts";
import { openApiDocument } from "../../src/app/operations.ts";
import { eventually } from "../support/eventually.ts";
import { makeUser } from "../support/sign-in/make-user.ts";
import { onAnyDatabase } from "../support/store/databases.ts";
import { openStore } from "../support/store/open-store.ts";

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
  createEnvironment: (response) => {
    const { name } = Environment.parse(response);
    return { "environments/{name}": name, "openenv/{env_name}": name };
  },
  createRealityCheck: (response) => ({ "reality-checks/{id}": RealityCheck.parse(response).id }),
  createWorld: (response) => ({ "worlds/{name}": World.parse(response).name }),
  createShare: (response) => ({ "shares/{id}": ShareCreateResponse.parse(response).id }),
  listModels: (response) => ({ "models/{id}": String(ModelListResponse.parse(response).data[0]?.id) }),
};

/** Operations that create come first, those that remove come last. */
const order = [
  "POST",
  "POST with an id",
  "PUT with an id",
  "GET",
  "GET with an id",
  "PATCH",
  "PATCH with an id",
  "DELETE with an id",
  "DELETE",
];

function inOrder(operations: readonly Operation[]): Operation[] {
  const place = ({ method, path }: Operation) => {
    const found = order.indexOf(path.includes("{") ? `${method} with an id` : method);
    if (found < 0) throw new Error(`${method} ${path} has no place in the order.`);
    // Parts are removed before the object that they belong to.
    return method === "DELETE" ? found - path.length / 1_000 : found;
  };
  return operations.toSorted((a, b) => place(a) - place(b));
}

/** The run for each request about a run, in a state in which the request succeeds. */
async function prepareRuns(presage: Target["presage"], document: readonly Operation[]) {
  const post = async (path: string, body?: unknown) => {
    const response = await presage.call("POST", path, body);
    const text = await response.text();
    if (!response.ok) throw new Error(`POST ${path}: ${text}`);
    return JSON.parse(text);
  };
  const { id: datasetId } = Dataset.parse(await post("/v1/datasets", { name: "of runs" }));
  const { bodyExample } = document.find(({ id }) => id === "uploadDatasetRevision") ?? {};
  await post(`/v1/datasets/${datasetId}/revisions`, bodyExample);
  // The examples of worlds use this dataset.
  const traces = Dataset.parse(await post("/v1/datasets", { name: "shop-traces" }));
  const interaction = { state: "The cart is empty.", action: "add(item='cup')" };
  const tagged = {
    trajectory_id: "t-17",
    step: 0,
    interaction,
    next_state: "Added: cup.",
    tags: { split: "train" },
  };
  await post(`/v1/datasets/${traces.id}/revisions`, tagged);
  const start = async (target: unknown) => {
    const run = { dataset_id: datasetId, target, evaluators: [{ evaluator: "exact-match" }] };
    return Run.parse(await post("/v1/runs", run)).id;
  };
  const waiting = () => start({ predictions: "imported" });
  const paused = await waiting();
  await post(`/v1/runs/${paused}/pause`);
  const finished = [await start({ baseline: "no-change" }), await start({ baseline: "no-change" })];
  for (const id of finished) {
    await eventually(
      async () => Run.parse(await (await presage.call("GET", `/v1/runs/${id}`)).json()).status,
      (status) => status === "finished",
    );
  }
  const [run = "", untouched = ""] = finished;
  const startEpisode = async () =>
    EpisodeStart.parse(await post("/v1/episodes", { environment: "sandbox", index: 0 })).episode_id;
  const [open, closed] = [await startEpisode(), await startEpisode()];
  const ofOperation: Record<string, string> = {
    uploadRunPredictions: await waiting(),
    cancelRun: await waiting(),
    pauseRun: await waiting(),
    resumeRun: paused,
    // The other finished run gets more evaluators, so it is unfinished for a moment.
    finishRun: untouched,
  };
  const queries: Record<string, string> = {
    deleteEvaluationResults: "?dry_run=true",
    deletePredictions: "?source=live&before=2026-11-01",
    compareRuns: `?runs=${finished}`,
    listComparedSamples: `?runs=${finished}&evaluator=exact-match&direction=worse`,
  };
  return {
    datasetId,
    idOf: (operationId: string) => ({
      "runs/{id}": ofOperation[operationId] ?? run,
      "episodes/{id}": operationId === "stepEpisode" ? open : closed,
    }),
    queryOf: (operationId: string) => queries[operationId] ?? "",
  };
}

function pathOf({ path }: Operation, ids: Record<string, string>): string {
  return path.replace(/([\w-]+)\/\{\w+\}/g, (place, resource: string) => {
    const id = ids[place];
    if (id === undefined) throw new Error(`No response has the id for ${place} of ${path}.`);
    return `${resource}/${id}`;
  });
}

/** The example of a request's body, with the id of a project or a dataset that exists. */
function bodyOf(
  { id, bodyExample }: Operation,
  ids: Record<string, string>,
  { datasetId, idOf }: Awaited<ReturnType<typeof prepareRuns>>,
): unknown {
  if (typeof bodyExample !== "object" || bodyExample === null) return bodyExample;
  // Setting a budget needs a price list, which the tests of budgets have.
  if (id === "setBudget") return { limit: null };
  if (id === "createRun") return { ...bodyExample, dataset_id: datasetId };
  if (id === "createShare") return { ...bodyExample, ids: [idOf(id)["runs/{id}"]] };
  return "project_id" in bodyExample ? { ...bodyExample, project_id: ids["projects/{id}"] } : bodyExample;
}

/** The documented statuses of a request that succeeds. */
function successesOf({ responses }: Operation): string[] {
  return Object.keys(responses).filter((status) => status.startsWith("2"));
}

const testedElsewhere = [
  // These need predictions through the world: the test of confidences calls them.
  ...["calibrateWorld", "getWorldCalibration", "getWorldCoverage"],
  // These need a paused check, and one that has replayed the episode: the tests of reality call them.
  ...["cancelRealityCheck", "resumeRealityCheck", "getEpisodeReality", "runRealityCheck"],
];

/** Sends the example of each operation and returns what differs from the document. */
async function tryExamples({ presage, ownerKey, sessions }: Target, memberId: string): Promise<string[]> {
  const document = await readDocument(presage.url);
  const schemas = compileResponseSchemas(document);
  const [session] = sessions;
  const listed = await presage.call("GET", "/v1/sessions", undefined, session?.headers);
  const other = SessionListResponse.parse(await listed.json()).data.find(({ is_current }) => !is_current);
  const ids: Record<string, string> = {
    "goals/{run_name}": "nightly",
    "sessions/{session_id}": other?.id ?? "",
    "members/{user_id}": memberId,
  };
  const runs = await prepareRuns(presage, document.operations);
  const differences: string[] = [];
  ids["predictions/{id}"] = await keepPrediction(presage);
  const deleting = await presage.call("DELETE", "/v1/evaluation-results?app=none&expected_count=0");
  ids["evaluation-result-deletions/{id}"] = EvaluationResultDeletion.parse(await deleting.json()).id;
  // The fuzzer's document describes more than the server's does.
  const documented = document.operations.filter(({ path }) => !(path in openRewardStandardPaths()));
  for (const operation of inOrder(documented)) {
    const { id, method } = operation;
    if (testedElsewhere.includes(id)) continue;
    const headers = id === "signOut" ? session?.headers : { "x-api-key": ownerKey };
    const path = pathOf(operation, { ...ids, ...runs.idOf(id) }) + runs.queryOf(id);
    const response = await presage.call(method, path, bodyOf(operation, ids, runs), headers);
    const text = await response.text();
    const difference = differenceOf(operation, response, text, schemas);
    if (difference !== undefined) differences.push(`${id}: ${difference}`);
    else Object.assign(ids, idsIn[id]?.(JSON.parse(text)));
  }
  return differences;
}

/** A client's prediction that can be deleted. It is stored soon after its response. */
async function keepPrediction(presage: Target["presage"]): Promise<string> {
  await presage.call("POST", "/v1/predict", { interaction: { state: "A door.", action: "open it" } });
  const find = async () => {
    const response = await presage.call("GET", "/v1/predictions?source=live");
    return StoredPredictionListResponse.parse(await response.json()).data[0]?.id ?? "";
  };
  return await eventually(find, (id) => id !== "");
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
  const lines: Record<string, string> = {
    exportDataset: "DatasetSample",
    exportRun: "RunExportLine",
    exportEpisodes: "DatasetLine",
  };
  if (operation.id === "exportPredictions") return undefined;
  const check = schemas.named(lines[operation.id] ?? "EvaluationResult");
  return text
    .trimEnd()
    .split("\n")
    .map((line) => check(JSON.parse(line)))
    .find(Boolean);
}

test("every example of the document has the shape of its schema, without unknown fields", async () => {
  const document = JSON.parse(JSON.stringify(await openApiDocument()));
  const { compile, named } = compileResponseSchemas(listOperations(document));
  const findViolation = (schema: Schema) => {
    const [, name] = /^#\/components\/schemas\/(\w+)$/.exec(schema.$ref ?? "") ?? [];
    return name === undefined ? compile(JSON.stringify(schema), schema) : named(name);
  };
  const found: string[] = [];
  let examples = 0;
  function look(value: unknown, place: string): void {
    if (typeof value !== "object" || value === null) return;
    if ("schema" in value && "example" in value) {
      examples += 1;
      const violation = findViolation(value.schema as Schema)(value.example);
      if (violation !== undefined) found.push(`${place}: ${violation}`);
    } else for (const [name, part] of Object.entries(value)) look(part, `${place} ${name}`);
  }
  look(document.paths, "");
  expect(found).toEqual([]);
  expect(examples).toBeGreaterThan(1_000);
});

onAnyDatabase((database) => {
  test("every example of a request succeeds, and its response is as documented", async () => {
    const url = await database.create();
    await using target = await startTarget(url, "sandbox");
    await using store = await openStore(url);
    expect(await tryExamples(target, await makeUser(store, "member"))).toEqual([]);
  });
});
