import { beforeAll, expect, test } from "bun:test";
import {
  type Experiment,
  ExperimentListResponse,
  ExperimentResponse,
  Project,
  ProjectListResponse,
  ProjectResponse,
} from "@presage/contract";
import { startPresage, testKey } from "../support/presage/presage.ts";
import { usePresage } from "../support/presage/use-presage.ts";
import { evaluationResultsClient } from "../support/resources/evaluation-results.ts";
import { evaluationClient } from "../support/resources/evaluations.ts";
import { keyOfAnotherAccount } from "../support/resources/other-account.ts";
import { issuesOf, locationsOf } from "../support/resources/validation-issues.ts";
import { onAnyDatabase } from "../support/store/databases.ts";

const exactMatch = {
  evaluators: [{ evaluator: "exact-match" }],
  evaluated_model_output: "x",
  evaluated_model_gold_answer: "x",
};

onAnyDatabase((database) => {
  const presage = usePresage({ database });
  const { post: evaluate, resultOf } = evaluationClient(() => presage);
  const { post, search, find, importAll, summary } = evaluationResultsClient(() => presage);
  let stranger: Record<string, string>;

  beforeAll(async () => {
    stranger = { "x-api-key": await keyOfAnotherAccount(presage.databaseUrl) };
  });

  async function createProject(name: string, headers?: Record<string, string>): Promise<Project> {
    const response = await presage.call("POST", "/v1/projects", { name }, headers);
    expect(response.status).toBeOneOf([200, 201]);
    return Project.parse(await response.json());
  }

  async function createExperiment(body: object): Promise<Experiment> {
    const response = await presage.call("POST", "/v1/experiments", body);
    expect(response.status).toBe(201);
    return ExperimentResponse.parse(await response.json()).experiment;
  }

  async function listProjects(query = "", headers?: Record<string, string>): Promise<Project[]> {
    const response = await presage.call("GET", `/v1/projects${query}`, undefined, headers);
    return ProjectListResponse.parse(await response.json()).projects;
  }

  async function listExperiments(query = "", headers?: Record<string, string>): Promise<Experiment[]> {
    const response = await presage.call("GET", `/v1/experiments${query}`, undefined, headers);
    return ExperimentListResponse.parse(await response.json()).experiments;
  }

  test("A project is created once: the same name gets the project that is there", async () => {
    const created = await presage.call("POST", "/v1/projects", { name: "World" });
    expect(created.status).toBe(201);
    const project = Project.parse(await created.json());
    const again = await presage.call("POST", "/v1/projects", { name: "World" });
    expect([again.status, await again.json()]).toEqual([200, project]);
    const found = await presage.call("GET", `/v1/projects/${project.id}`);
    expect(ProjectResponse.parse(await found.json()).project).toEqual(project);
    const me = (await (await presage.call("GET", "/v1/me")).json()) as { id: string };
    expect(project.created_by).toBe(me.id);
  });

  test("Of many requests for one new project, all get the same", async () => {
    const projects = await Promise.all(Array.from({ length: 8 }, () => createProject("crowded")));
    expect(new Set(projects.map(({ id }) => id)).size).toBe(1);
  });

  test("Projects and experiments are listed newest first, by limit and offset", async () => {
    const names = ["first", "second", "third"];
    const projects: Project[] = [];
    for (const name of names) projects.unshift(await createProject(`listed ${name}`));
    expect((await listProjects("?limit=3")).map(({ id }) => id)).toEqual(projects.map(({ id }) => id));
    expect((await listProjects("?limit=1&offset=1")).map(({ id }) => id)).toEqual([projects[1]?.id ?? ""]);
    const project_id = projects[0]?.id ?? "";
    const experiments: Experiment[] = [];
    for (const name of names) experiments.unshift(await createExperiment({ project_id, name }));
    expect(await listExperiments(`?project_id=${project_id}`)).toEqual(experiments);
    expect(await listExperiments("?limit=2&offset=1")).toEqual(experiments.slice(1));
    expect(await listExperiments("?project_id=unknown")).toEqual([]);
  });

  test("An experiment has its tags and metadata, and its metadata can be replaced", async () => {
    const project = await createProject("described");
    const metadata = { evaluator_weights: { "exact-match": 0.5 }, seed: 7 };
    const body = { project_id: project.id, name: "e", tags: { split: "test" }, metadata };
    const experiment = await createExperiment(body);
    expect(experiment).toMatchObject(body);
    const path = `/v1/experiments/${experiment.id}`;
    const changed = await presage.call("POST", path, { metadata: { seed: 8 } });
    const expected = { experiment: { ...experiment, metadata: { seed: 8 } } };
    expect([changed.status, await changed.json()]).toEqual([200, expected]);
    expect(await (await presage.call("GET", path)).json()).toEqual(expected);
    const bare = await createExperiment({ project_id: project.id, name: "e" });
    expect([bare.tags, bare.metadata]).toEqual([null, null]);
    expect(bare.id).not.toBe(experiment.id);
  });

  test("An experiment in a project that the account does not have is refused", async () => {
    const theirs = await createProject("theirs", stranger);
    for (const project_id of [theirs.id, "unknown"]) {
      const response = await presage.call("POST", "/v1/experiments", { project_id, name: "e" });
      expect(locationsOf(await issuesOf(response))).toEqual([
        { type: "value_error", loc: ["body", "project_id"] },
      ]);
    }
  });

  test("Nobody else sees an account's projects and experiments", async () => {
    const project = await createProject("private");
    const experiment = await createExperiment({ project_id: project.id, name: "private" });
    expect((await createProject("private", stranger)).id).not.toBe(project.id);
    expect((await listProjects("", stranger)).map(({ id }) => id)).not.toContain(project.id);
    expect(await listExperiments("", stranger)).toEqual([]);
    for (const [method, path, body] of [
      ["GET", `/v1/projects/${project.id}`],
      ["GET", `/v1/experiments/${experiment.id}`],
      ["POST", `/v1/experiments/${experiment.id}`, { metadata: {} }],
      ["GET", "/v1/experiments/unknown"],
    ] as const) {
      const headers = path.endsWith("unknown") ? undefined : stranger;
      expect((await presage.call(method, path, body, headers)).status).toBe(404);
    }
  });

  test("An experiment's results belong to its project, and are found, counted and exported by both", async () => {
    const project = await createProject("evaluated");
    const experiment_id = (await createExperiment({ project_id: project.id, name: "e" })).id;
    const belongs = { project_id: project.id, experiment_id };
    const evaluated = await resultOf({ ...exactMatch, experiment_id });
    expect(evaluated).toMatchObject({ ...belongs, app: "default", evaluation_run_id: null });
    const [imported = ""] = await importAll([
      { evaluator_id: "theirs", pass: false, experiment_id, project_id: "another" },
    ]);
    expect(await find(imported)).toMatchObject(belongs);
    for (const filter of [{ experiment_id }, { project_id: project.id }, belongs]) {
      expect((await search(filter)).map(({ id }) => id)).toEqual([imported, evaluated.id]);
      expect(await summary(filter)).toMatchObject({ groups: [{ count: 2, passed: 1 }] });
    }
    expect(await search({ ...belongs, pass: false })).toMatchObject([{ id: imported }]);
    expect(await search({ project_id: project.id, experiment_id: "another" })).toEqual([]);
    const exported = await presage.call(
      "GET",
      `/v1/evaluation-results/export?experiment_id=${experiment_id}`,
    );
    expect((await exported.text()).trim().split("\n")).toHaveLength(2);
  });

  test("A result without a project or an experiment says so, and ids that nothing has are kept", async () => {
    expect(await resultOf(exactMatch)).toMatchObject({ project_id: null, experiment_id: null });
    const free = { project_id: "my project", experiment_id: "my experiment" };
    const { id } = await resultOf({ ...exactMatch, ...free });
    expect(await search(free)).toMatchObject([{ id, ...free }]);
  });

  test("A project that is only named is found or created, before one that is given by id", async () => {
    const named = { project_name: "named", project_id: "ignored" };
    const first = await resultOf({ ...exactMatch, ...named });
    const [imported = ""] = await importAll([{ evaluator_id: "theirs", pass: true, ...named }]);
    const [project] = (await listProjects()).filter(({ name }) => name === "named");
    expect([first.project_id, (await find(imported)).project_id]).toEqual(
      Array(2).fill(project?.id ?? "none"),
    );
  });

  test("Imports that name the same new projects in different orders do not wait for each other", async () => {
    const other = await startPresage({ PRESAGE_DATABASE_URL: presage.databaseUrl });
    const elsewhere = evaluationResultsClient(() => other);
    for (const round of [1, 2, 3, 4, 5]) {
      const names = Array.from({ length: 50 }, (_, at) => `together ${round}/${at}`);
      const rows = names.map((project_name) => ({ evaluator_id: "theirs", pass: true, project_name }));
      const imported = await Promise.all([importAll(rows), elsewhere.importAll(rows.toReversed())]);
      expect(imported.map(({ length }) => length)).toEqual([50, 50]);
    }
    await other.stop();
  });

  test("A request that stores nothing creates no project", async () => {
    const project_name = "ghost";
    const unknown = { ...exactMatch, evaluators: [{ evaluator: "nope" }], project_name };
    expect((await evaluate(unknown)).status).toBe(422);
    const unstored = await resultOf({ ...exactMatch, project_name, capture: "none" });
    expect(unstored.project_id).toBeNull();
    await resultOf({ ...exactMatch, project_name, capture: "fails-only" });
    expect((await listProjects()).filter(({ name }) => name === project_name)).toEqual([]);
    const { id } = await createProject(project_name);
    const inProject = await resultOf({ ...exactMatch, project_name, capture: "none" });
    expect(inProject.project_id).toBe(id);
  });

  test("An import creates the projects that it names, unless it is refused or repeated", async () => {
    const key = { "x-api-key": testKey, "idempotency-key": "import-into-projects" };
    const rows = ["b", "a", "b", "c"].map((name) => ({
      evaluator_id: "theirs",
      pass: true,
      project_name: `imported ${name}`,
    }));
    const createdNames = async () =>
      (await listProjects()).map(({ name }) => name).filter((name) => name.startsWith("imported "));
    const imports = await Promise.all([1, 2].map(() => post("/batch", { evaluation_results: rows }, key)));
    expect(imports.map(({ status }) => status)).toEqual([201, 201]);
    expect((await createdNames()).sort()).toEqual(["imported a", "imported b", "imported c"]);
    for (const { name, id } of await listProjects()) {
      const found = (await search({ project_id: id })).length;
      if (name.startsWith("imported ")) expect(found).toBe(name === "imported b" ? 2 : 1);
    }
    // The key belongs to another import.
    const others = [{ evaluator_id: "theirs", pass: true, project_name: "imported refused" }];
    expect((await post("/batch", { evaluation_results: others }, key)).status).toBe(422);
    expect(await createdNames()).toHaveLength(3);
  });

  test("Imports that name the same new projects in any order do not wait for each other in a circle", async () => {
    const names = Array.from({ length: 20 }, (_, index) => `crossing ${index}`);
    const importOf = (some: readonly string[]) =>
      importAll(some.map((project_name) => ({ evaluator_id: "theirs", pass: true, project_name })));
    await Promise.all([names, names.toReversed(), names, names.toReversed()].map(importOf));
    const created = (await listProjects()).filter(({ name }) => name.startsWith("crossing "));
    expect(created).toHaveLength(names.length);
  });

  test("An app together with an experiment is refused, with every other issue", async () => {
    const both = { app: "a", experiment_id: "e" };
    expect(locationsOf(await issuesOf(await evaluate({ ...exactMatch, ...both })))).toEqual([
      { type: "value_error", loc: ["body", "app"] },
    ]);
    const rows = [
      { evaluator_id: "theirs", ...both },
      { evaluator_id: 1, ...both },
      { evaluator_id: "theirs", app: null, experiment_id: "e" },
    ];
    expect(locationsOf(await issuesOf(await post("/batch", { evaluation_results: rows })))).toEqual([
      { type: "value_error", loc: ["body", "evaluation_results", 0, "app"] },
      { type: "string_type", loc: ["body", "evaluation_results", 1, "evaluator_id"] },
      { type: "value_error", loc: ["body", "evaluation_results", 1, "app"] },
    ]);
    expect(await search({ experiment_id: "e" })).toEqual([]);
  });
});
