import { beforeAll, expect, test } from "bun:test";
import { type Experiment, ExperimentResponse, Project, Run, RunListResponse } from "@presage/contract";
import { storeUnavailable } from "../../src/platform/storage/store-error.ts";
import { createClientCounts } from "../../src/runs/client/client-counts.ts";
import { toRun } from "../../src/runs/run.ts";
import { findRun, listRuns } from "../../src/runs/runs.ts";
import { usePresage } from "../support/presage/use-presage.ts";
import { evaluationResultsClient } from "../support/resources/evaluation-results.ts";
import { keyOfAnotherAccount } from "../support/resources/other-account.ts";
import { runClient } from "../support/resources/runs.ts";
import { onAnyDatabase } from "../support/store/databases.ts";
import { openStore } from "../support/store/open-store.ts";
import { anyRequester } from "../support/store/requester.ts";

onAnyDatabase((database) => {
  const presage = usePresage({ database });
  const { read, change } = runClient(presage);
  const { importAll, search } = evaluationResultsClient(() => presage);
  let project_id: string;

  beforeAll(async () => {
    const response = await presage.call("POST", "/v1/projects", { name: "kitchen" });
    project_id = Project.parse(await response.json()).id;
  });

  async function createExperiment(name: string): Promise<Experiment> {
    const body = { project_id, name, tags: { split: "test" }, metadata: { seed: 7 } };
    const response = await presage.call("POST", "/v1/experiments", body);
    return ExperimentResponse.parse(await response.json()).experiment;
  }

  const statusOf = async (method: string, path: string, headers?: Record<string, string>) =>
    (await presage.call(method, path, undefined, headers)).status;

  test("an experiment is a run that its client makes", async () => {
    const { id, created_at } = await createExperiment("ours");
    const me = (await (await presage.call("GET", "/v1/me")).json()) as { id: string };
    const run = await read(id);
    expect(run).toMatchObject({
      name: "ours",
      status: "running",
      target: { external: true },
      dataset_id: null,
      revision: null,
      evaluators: [],
      tags: { split: "test" },
      progress: { samples: 0, predicted: 0, evaluated: 0, failed: 0 },
      created_by: me.id,
      created_at,
    });
    const listed = await presage.call("GET", "/v1/runs?name=ours");
    expect(RunListResponse.parse(await listed.json()).data).toEqual([{ ...run, headline: null, goal: null }]);
    const stranger = { "x-api-key": await keyOfAnotherAccount(presage.databaseUrl) };
    expect(await statusOf("GET", `/v1/runs/${id}`, stranger)).toBe(404);
  });

  test("its results may name it as their experiment or as their run", async () => {
    const { id } = await createExperiment("named");
    const ofExperiment = { evaluator_id: "theirs", pass: true, experiment_id: id };
    await importAll([ofExperiment, { evaluator_id: "theirs", pass: true, evaluation_run_id: id }]);
    expect(await search({ evaluation_run_id: id })).toHaveLength(1);
  });

  test("it lists the evaluators of its results, and counts them as they come", async () => {
    const { id } = await createExperiment("counted");
    const ofSample = (dataset_sample_id: string) => ({ dataset_id: "kitchen", dataset_sample_id });
    const theirs = { evaluator_id: "theirs", profile_name: "strict", experiment_id: id };
    await importAll([
      { ...theirs, ...ofSample("a"), pass: true },
      { ...theirs, ...ofSample("b"), evaluation_run_id: id, pass: false },
      // It has no verdict.
      { ...theirs, ...ofSample("c") },
      { evaluator_id: "other", ...ofSample("a"), evaluation_run_id: id, pass: true },
      { evaluator_id: "elsewhere", pass: true, experiment_id: "another" },
    ]);
    const noProfile = { profile_id: null, profile_revision: null };
    const evaluators = [
      { evaluator: "external:other", profile_name: null, ...noProfile },
      { evaluator: "external:theirs", profile_name: "strict", ...noProfile },
    ];
    const run = await read(id);
    expect(run).toMatchObject({
      evaluators,
      progress: { samples: 3, predicted: 3, evaluated: 1, failed: 1 },
    });
    const listed = await presage.call("GET", "/v1/runs?name=counted");
    expect(RunListResponse.parse(await listed.json()).data).toEqual([{ ...run, headline: null, goal: null }]);
    await importAll(
      ["b", "c"].map((sample) => ({
        evaluator_id: "other",
        ...ofSample(sample),
        pass: true,
        experiment_id: id,
      })),
    );
    expect((await read(id)).progress).toEqual({
      ...{ samples: 3, predicted: 3, evaluated: 3, failed: 1 },
      ...{ failed_predictions: 0, without_verdict: 1, answers: null, tries: null },
    });
    expect(Run.parse((await change(id, "cancel")).body)).toMatchObject({
      evaluators,
      progress: { samples: 3 },
    });
  });

  /** An experiment with results of three evaluators, named in both columns. */
  async function createLarge(name: string): Promise<string> {
    const { id } = await createExperiment(name);
    await importAll(
      Array.from({ length: 120 }, (_, index) => ({
        evaluator_id: `theirs-${index % 3}`,
        ...(index % 2 === 0 ? { pass: index % 4 === 0 } : {}),
        ...(index % 5 === 0 ? { evaluation_run_id: id } : { experiment_id: id }),
      })),
    );
    return id;
  }

  test("many results are counted in ranges, and the next request continues where the last one stopped", async () => {
    const ids = [await createLarge("large"), await createLarge("large"), await createLarge("large")];
    await using store = await openStore(presage.databaseUrl);
    const requester = anyRequester(store.owner.account_id);
    for (const id of ids) {
      const { samples: all, predicted, evaluated, failed } = (await read(id)).progress;
      const expected = {
        counts: { samples: all, predicted, evaluated, failed },
        clientEvaluators: expect.any(Array),
      };
      const clientCounts = createClientCounts({ resultsAtATime: 10, maxCountingMs: 0 });
      const samples: number[] = [];
      while (samples.length < 40)
        samples.push((await findRun({ store, clientCounts }, requester, id)).counts.samples);
      expect(samples[0]).toBeLessThan(expected.counts.samples);
      expect(samples).toEqual(samples.toSorted((a, b) => a - b));
      expect(await findRun({ store, clientCounts }, requester, id)).toMatchObject(expected);
    }
    const services = {
      store,
      clientCounts: createClientCounts({ resultsAtATime: 10, maxCountingMs: 60_000 }),
    };
    const { rows } = await listRuns(services, requester, { name: "large" }, { limit: 10, after: undefined });
    expect(rows.map((row) => toRun(row).progress)).toEqual(
      await Promise.all(rows.map(async ({ id }) => (await read(id)).progress)),
    );
    expect(rows).toHaveLength(3);
  });

  test("a run is shown where the database does not count its results", async () => {
    const id = await createLarge("uncountable");
    await using store = await openStore(presage.databaseUrl);
    const requester = anyRequester(store.owner.account_id);
    let calls = 0;
    const services = {
      clientCounts: createClientCounts(),
      store: {
        ...store,
        briefReader(...of: Parameters<typeof store.briefReader>) {
          calls += 1;
          if (calls > 1) throw storeUnavailable(new Error("It took too long"));
          return store.briefReader(...of);
        },
      },
    };
    expect(await findRun(services, requester, id)).toMatchObject({ id, counts: { samples: 0 } });
  });

  test("of many evaluators those with the most results are listed", async () => {
    const { id } = await createExperiment("many evaluators");
    const names = Array.from({ length: 150 }, (_, index) => `name-${String(index).padStart(3, "0")}`);
    const of = (evaluator_id: string) => ({ evaluator_id, pass: true, experiment_id: id });
    await importAll([...names, ...names.slice(30, 130)].map(of));
    const { evaluators } = await read(id);
    expect(evaluators.map(({ evaluator }) => evaluator)).toEqual(
      names.slice(30, 130).map((name) => `external:${name}`),
    );
  });

  test("nothing works on it: it can be cancelled, and not paused, resumed or judged by others", async () => {
    const { id } = await createExperiment("cancelled");
    expect((await change(id, "pause")).status).toBe(409);
    const evaluators = [{ evaluator: "exact-match" }];
    const added = await presage.call("POST", `/v1/runs/${id}/evaluators`, { evaluators });
    expect(added.status).toBe(409);
    for (const path of ["samples", "export"])
      expect(await statusOf("GET", `/v1/runs/${id}/${path}`)).toBe(409);
    const uploaded = await presage.call("POST", `/v1/runs/${id}/predictions`, { index: 0, prediction: "x" });
    expect(uploaded.status).toBe(409);
    expect(await read(id)).toMatchObject({ status: "running", finished_at: null });
    for (const _ of [1, 2]) {
      const { status, body } = await change(id, "cancel");
      expect([status, Run.parse(body).status]).toEqual([200, "cancelled"]);
    }
    expect((await change(id, "resume")).status).toBe(409);
    expect(await statusOf("GET", `/v1/experiments/${id}`)).toBe(200);
  });

  test("once it is deleted it is no experiment any more, and its results stay", async () => {
    const { id } = await createExperiment("deleted");
    const [result = ""] = await importAll([{ evaluator_id: "theirs", pass: true, experiment_id: id }]);
    expect(await statusOf("DELETE", `/v1/runs/${id}`)).toBe(204);
    for (const path of [`/v1/runs/${id}`, `/v1/experiments/${id}`])
      expect(await statusOf("GET", path)).toBe(404);
    expect(await search({ experiment_id: id })).toMatchObject([{ id: result, project_id }]);
  });
});
