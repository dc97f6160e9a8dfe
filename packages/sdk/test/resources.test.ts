import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { RunStratum } from "@presage/contract";
import { eventually } from "../../server/test/support/eventually.ts";
import { startPresage, type TestPresage, testKey } from "../../server/test/support/presage/presage.ts";
import { runClient } from "../../server/test/support/resources/runs.ts";
import { startUpstream } from "../../server/test/support/upstream/upstream.ts";
import { createPresage, type Presage } from "../src/create-presage.ts";
import { caught } from "./support/caught.ts";

const upstream = startUpstream();
let server: TestPresage;
let presage: Presage;

beforeAll(async () => {
  server = await startPresage({ PRESAGE_UPSTREAM_URL: upstream.url, PRESAGE_DEBUG_FIELDS: "true" });
  presage = createPresage({ baseUrl: server.url, apiKey: testKey });
});
afterAll(async () => {
  await server.stop();
  await upstream.stop();
});

describe("against a real Presage", () => {
  test("predictions and completions are made", async () => {
    const interaction = { state: "A closed door.", action: "open the door" };
    const prediction = await presage.predict({ interaction });
    expect(prediction.response.content).toBe("The door is open.");
    expect(prediction.messages?.map(({ role }) => role)).toEqual(["user"]);
    const completion = await presage.chatCompletions.create({
      messages: [{ role: "user", content: "Hello?" }],
    });
    expect(completion).toMatchObject({ id: "chatcmpl-1", model: "test-model" });
    expect((await presage.models.list()).map(({ id }) => id)).toEqual(["test-model"]);
    const [deployment] = await presage.deployments.list();
    expect(deployment).toMatchObject({ name: "default", model: "test-model", is_default: true });
    expect(deployment?.replicas?.[0]).toMatchObject({ state: "up", in_flight: 0, prefix_share: 1 });
  });

  test("stored predictions are listed, read and deleted", async () => {
    const { key } = await presage.apiKeys.create({ name: "captured", capture: "all" });
    const own = createPresage({ baseUrl: server.url, apiKey: key });
    for (const action of ["open it", "close it", "open it"])
      await own.predict({ interaction: { state: "A door.", action } });
    const listed = () => Array.fromAsync(presage.storedPredictions.iterate({ source: "live" }));
    const kept = await eventually(listed, ({ length }) => length === 3);
    expect(kept.map(({ status }) => status)).toEqual(["success", "success", "success"]);
    const { data, next } = await presage.storedPredictions.list({ deployment: "default", limit: 2 });
    expect([data, next]).toEqual([kept.slice(0, 2), expect.any(String)]);
    const id = kept[1]?.id ?? "";
    expect((await presage.storedPredictions.get(id)).interaction?.action).toBe("close it");
    await presage.storedPredictions.delete(id);
    expect((await caught(presage.storedPredictions.get(id))).category).toBe("not_found");
    expect(await presage.storedPredictions.deleteLive(new Date(Date.now() + 60_000).toISOString())).toBe(2);
    expect(await listed()).toEqual([]);
  });

  test("stored predictions have their older name too", () => {
    expect(presage.keptPredictions).toBe(presage.storedPredictions);
  });

  test("a key is created, used, listed and revoked, and then rejected", async () => {
    const { key, id } = await presage.apiKeys.create({ name: "of a test" });
    const own = createPresage({ baseUrl: server.url, apiKey: key });
    expect((await own.whoAmI()).api_key?.id).toBe(id);
    expect(await own.me()).toEqual(await presage.me());
    expect((await presage.apiKeys.list()).map(({ name }) => name)).toContain("of a test");
    expect(await presage.apiKeys.update(id, { rate_limit_rpm: 60 })).toMatchObject({
      id,
      rate_limit_rpm: 60,
      max_in_flight: null,
    });
    expect(await presage.apiKeys.revoke(id)).toBeUndefined();
    expect(await caught(own.me())).toMatchObject({ category: "unauthenticated", status: 401 });
    expect((await caught(presage.apiKeys.revoke("../health"))).category).toBe("invalid");
  });

  test("results are found, summarised, corrected and exported", async () => {
    const order = {
      app: "sdk",
      tags: { suite: "sdk" },
      evaluators: [{ evaluator: "exact-match" }],
      evaluated_model_gold_answer: "好 🙂",
    };
    const [right] = await presage.evaluate({ ...order, evaluated_model_output: "好 🙂" });
    await presage.evaluate({ ...order, evaluated_model_output: "wrong" });
    const id = right?.evaluation_result?.id ?? "";
    expect(right).toMatchObject({ status: "success", evaluation_result: { pass: true } });

    expect((await presage.results.get(id)).evaluated_model_output).toBe("好 🙂");
    expect(await presage.results.search({ app: "sdk", pass: true, limit: 5 })).toHaveLength(1);
    const all: (string | null)[] = [];
    for await (const result of presage.results.iterate({ app: "sdk" }, { pageSize: 1 })) all.push(result.id);
    expect(all).toHaveLength(2);
    const exported: string[] = [];
    for await (const line of presage.results.exportLines({ app: "sdk", tags: { suite: "sdk" } })) {
      exported.push(JSON.parse(line).id);
    }
    expect(exported.map(String)).toEqual(all.map(String));
    const rows: string[] = [];
    for await (const row of presage.results.exportLines({ app: "sdk", format: "csv" })) rows.push(row);
    expect(rows).toHaveLength(3);

    const corrected = await presage.results.correct(id, { pass: false, comment: "No." });
    expect(corrected.correction).toMatchObject({ pass: false, comment: "No." });
    const queue = await presage.results.reviewQueue({ app: "sdk", order: "random", seed: 7 });
    expect(queue).toMatchObject({ considered: 2, reviewed: 1, data: [{ reason: "drawn" }] });
    await presage.results.correct(id, { pass: true });
    const withdrawn = await presage.results.withdrawCorrection(id);
    expect(withdrawn.correction).toMatchObject({ pass: false, comment: "No." });
    const summary = await presage.results.summarise({ app: "sdk", group_by: ["app"] });
    expect(summary.groups).toMatchObject([{ key: { app: "sdk" }, count: 2, passed: 0 }]);

    const imported = await presage.results.importBatch([
      { evaluator_id: "somebody-else", pass: true, evaluated_model_output: "x", app: "elsewhere" },
    ]);
    expect((await presage.results.get(imported[0]?.id ?? "")).external).toBe(true);
    expect(await presage.apps.list()).toEqual([{ name: "elsewhere" }, { name: "sdk" }]);
    expect((await caught(presage.results.get(999_999))).category).toBe("not_found");
  });

  test("runs are reported and compared", async () => {
    const runs = runClient(server);
    const { id } = await presage.datasets.create({ name: "reports" });
    // Every other action changes nothing.
    const samples = ["a", "b", "c"].flatMap((trajectory_id) =>
      [0, 1, 2, 3].map((step) => ({
        trajectory_id,
        step,
        interaction: { state: `state ${step >> 1}`, action: `${step % 2 === 0 ? "Wait" : "go"} ${step}` },
        next_state: `state ${(step + 1) >> 1}`,
      })),
    );
    await presage.datasets.upload(id, samples.map((sample) => JSON.stringify(sample)).join("\n"));
    const make = async (baseline: string) => {
      const run = await runs.create({ dataset_id: id, target: { baseline } });
      return (await runs.end(run.id)).id;
    };
    const [reference, candidate] = [await make("no-change"), await make("most-frequent")];
    const { run, evaluators } = await presage.runs.report(reference);
    expect(run).toMatchObject({ id: reference, status: "finished" });
    expect(evaluators[0]).toMatchObject({
      evaluator: expect.stringContaining("exact-match"),
      count: 12,
      failed: 0,
      trajectories: 3,
      mean: 0.5,
      pass_rate: 0.5,
      no_change: { mean: 0.5, pass_rate: 0.5, count: 12 },
    });
    const rates = (strata: RunStratum[] = []) => strata.map(({ key, pass_rate }) => [key, pass_rate]);
    expect(rates(evaluators[0]?.strata.verb)).toEqual([
      ["go", 0],
      ["wait", 1],
    ]);
    expect(rates(evaluators[0]?.strata.changed)).toEqual([
      ["unchanged", 1],
      ["changed", 0],
    ]);
    expect(await presage.runs.reportAs(reference, "md")).toStartWith("# Run ");
    expect(await presage.runs.reportAs(reference, "html")).toStartWith("<!doctype html>");
    const comparison = await presage.comparisons.get([reference, candidate]);
    expect(comparison.evaluators[0]?.candidates[0]).toMatchObject({ run_id: candidate, wins: 6, losses: 0 });
    const better = presage.comparisons.iterateSamples(
      { reference, candidate },
      { evaluator: "exact-match", direction: "better" },
    );
    const all = await Array.fromAsync(better);
    expect(all.map(({ dataset_sample_id }) => dataset_sample_id).sort()).toEqual(
      ["a", "b", "c"].flatMap((name) => [`${name}/1`, `${name}/3`]),
    );
    expect(all[0]?.candidate.evaluation_result_id).toMatch(/^\d+$/);
    expect(await presage.comparisons.getAs([reference, candidate], "md")).toMatch(/^# .+ against /);
    const { id: shareId, path } = await presage.shares.create({ kind: "run", ids: [reference] });
    expect((await fetch(server.url + path)).status).toBe(200);
    expect((await presage.shares.list([reference])).map(({ id }) => id)).toEqual([shareId]);
    await presage.shares.revoke(shareId);
    expect(await presage.shares.list()).toEqual([]);
    expect(await caught(presage.comparisons.get([reference]))).toMatchObject({ status: 422 });
    await presage.datasets.delete(id, { withRuns: true });
    expect(await caught(presage.datasets.get(id))).toMatchObject({ status: 404 });
  });

  test("datasets are created, uploaded, read, exported and deleted", async () => {
    const { id, latest_revision } = await presage.datasets.create({ name: "sdk", tags: { split: "test" } });
    expect(latest_revision).toBeNull();
    const samples = Array.from({ length: 250 }, (_, step) => ({
      dataset_sample_id: `a/b/${step}`,
      trajectory_id: "a/b",
      step,
      interaction: { state: "s", action: "a" },
      next_state: "n",
    }));
    const lines = samples.map((sample) => `${JSON.stringify(sample)}\n`).join("");
    const revision = await presage.datasets.upload(id, lines);
    expect(revision).toMatchObject({ revision: 1, samples: 250, trajectories: 1 });
    expect(await presage.datasets.upload(id, new Blob([lines]).stream(), { format: "presage" })).toEqual(
      revision,
    );
    const gzip = Bun.gzipSync(lines);
    expect(await presage.datasets.upload(id, gzip, { isGzip: true })).toEqual(revision);
    expect(await presage.datasets.listRevisions(id)).toEqual([revision]);
    expect(await presage.datasets.list()).toEqual([await presage.datasets.get(id)]);
    expect(await Array.fromAsync(presage.datasets.iterateSamples(id))).toEqual(samples);
    expect(await presage.datasets.getTrajectory(id, "a/b", { revision: 1 })).toEqual({
      samples,
      trajectory_id: "a/b",
      next: null,
    });
    const firstStep = await presage.datasets.getTrajectory(id, "a/b", { limit: 1 });
    expect([firstStep.samples, firstStep.next]).toEqual([samples.slice(0, 1), "0"]);
    const { data } = await presage.datasets.pageOfTrajectories(
      id,
      { contains: "A/", order: "-steps" },
      { limit: 5 },
    );
    expect(data).toEqual([expect.objectContaining({ trajectory_id: "a/b", steps: 250 })]);
    expect(await Array.fromAsync(presage.datasets.exportLines(id))).toEqual(lines.trimEnd().split("\n"));
    const wrong = await caught(presage.datasets.upload(id, `${lines}{}`));
    expect([wrong.category, wrong.issues[0]?.loc]).toEqual([
      "invalid",
      ["body", "line", 251, "trajectory_id"],
    ]);
    await presage.datasets.delete(id);
    expect((await caught(presage.datasets.get(id))).category).toBe("not_found");
  });

  test("runs are created, followed to their end, judged again, read, exported and deleted", async () => {
    const dataset = await presage.datasets.create({ name: "runs" });
    const samples = Array.from({ length: 120 }, (_, step) => ({
      trajectory_id: "t",
      step,
      interaction: { state: "A closed door.", action: "open the door" },
      next_state: step === 0 ? "The door is stuck." : "The door is open.",
    }));
    const lines = (of: readonly object[]) => of.map((one) => `${JSON.stringify(one)}\n`).join("");
    await presage.datasets.upload(dataset.id, lines(samples));
    const request = { dataset_id: dataset.id, evaluators: [{ evaluator: "exact-match" }] };
    const { id } = await presage.runs.create({ ...request, name: "sdk", target: { deployment: "default" } });
    const seen: number[] = [];
    const ended = await presage.runs.waitUntilEnded(id, {
      onProgress: ({ progress }) => seen.push(progress.evaluated),
      pollEveryMs: 20,
    });
    expect([ended.status, seen.at(-1)]).toEqual(["finished", 120]);
    expect(await presage.runs.list({ name: "sdk" })).toMatchObject([await presage.runs.get(id)]);

    const more = await presage.runs
      .addEvaluators(id, [{ evaluator: "contains", profile_name: "none" }])
      .catch((error: unknown) => error);
    expect(more).toMatchObject({ category: "invalid" });
    await presage.runs.addEvaluators(id, [{ evaluator: "state-change" }]);
    await presage.runs.waitUntilEnded(id, { pollEveryMs: 20 });
    expect(await Array.fromAsync(presage.runs.iterateSamples(id))).toHaveLength(120);
    const best = await presage.runs.pageOfSamples(
      id,
      { order: "-score", order_evaluator: "exact-match", text_limit: 3 },
      { limit: 2 },
    );
    expect(best.data.map(({ prediction }) => prediction.excerpt?.length)).toEqual([3, 3]);
    expect(best.next).toBeString();
    const failed = presage.runs.iterateSamples(id, { evaluator: "exact-match", pass: false });
    expect((await Array.fromAsync(failed)).map(({ step }) => step)).toEqual([0]);
    const exported = await Array.fromAsync(presage.runs.exportLines(id));
    expect(exported).toHaveLength(120);

    const imported = await presage.runs.create({ ...request, target: { predictions: "imported" } });
    const upload = lines(exported.map((line) => JSON.parse(line)));
    expect(await presage.runs.uploadPredictions(imported.id, Bun.gzipSync(upload), { isGzip: true })).toEqual(
      {
        predictions: 120,
      },
    );
    await presage.runs.waitUntilEnded(imported.id, { pollEveryMs: 20 });
    const { evaluators } = await presage.comparisons.get([id, imported.id]);
    expect(evaluators[0]?.candidates[0]).toMatchObject({ difference: 0, ties: 120 });
    expect((await presage.runs.report(imported.id)).evaluators[0]?.count).toBe(120);

    const paused = await presage.runs.create({ ...request, target: { predictions: "imported" } });
    expect((await presage.runs.pause(paused.id)).status).toBe("paused");
    const controller = new AbortController();
    const waiting = presage.runs.waitUntilEnded(paused.id, {
      onProgress: ({ status }) => controller.abort(status),
      signal: controller.signal,
    });
    expect(await waiting.catch((reason: unknown) => reason)).toBe("paused");
    expect((await presage.runs.resume(paused.id)).status).toBe("queued");
    expect((await presage.runs.cancel(paused.id)).status).toBe("cancelled");
    for (const run of [id, imported.id, paused.id]) await presage.runs.delete(run);
    expect((await caught(presage.runs.get(id))).category).toBe("not_found");
  });

  test("projects and experiments are created, listed and found by their results", async () => {
    const project = await presage.projects.create("sdk");
    expect(await presage.projects.create("sdk")).toEqual(project);
    expect(await presage.projects.get(project.id)).toEqual(project);
    expect(await presage.projects.list()).toEqual([project]);
    const { id } = await presage.experiments.create({ project_id: project.id, name: "e" });
    const experiment = await presage.experiments.update(id, { metadata: { seed: 7 } });
    expect(experiment.metadata).toEqual({ seed: 7 });
    expect(await presage.experiments.get(id)).toEqual(experiment);
    expect(await presage.experiments.list({ project_id: project.id, limit: 5 })).toEqual([experiment]);
    const result = { evaluator_id: "theirs", pass: true, tags: { of: "sdk" } };
    for (const dataset_sample_id of [10, 9]) {
      await presage.results.importBatch([{ ...result, experiment_id: id, dataset_sample_id }]);
    }
    const samples: unknown[] = [];
    const filter = { experiment_id: id, order: "dataset_sample_id" } as const;
    for await (const found of presage.results.iterate(filter, { pageSize: 1 })) {
      samples.push(found.dataset_sample_id);
    }
    expect(samples).toEqual([9, 10]);
    const tags = (await presage.results.listTags()).map(({ key, value }) => [key, value]);
    expect(tags).toContainEqual(["of", "sdk"]);
    expect(await presage.results.listTags({ atMost: 1 })).toHaveLength(1);
  });

  test("evaluators are listed, and profiles created, revised and archived", async () => {
    expect((await presage.evaluators.list()).map((one) => one.evaluator_family)).toContain("regex");
    const families = await presage.evaluators.listFamilies();
    expect(families.map(({ family_name }) => family_name)).toContain("regex");
    const made = await presage.profiles.create({
      evaluator_family: "regex",
      name: "digits",
      config: { pattern: "\\d+" },
    });
    const revised = await presage.profiles.revise(made.public_id, { config: { pattern: "\\d" } });
    expect(revised).toMatchObject({ public_id: made.public_id, revision: 2 });
    const filter = { name: "digits", get_last_revision: true, is_managed: false, limit: 10, offset: 0 };
    expect(await presage.profiles.list(filter)).toEqual([revised]);
    expect(await presage.profiles.list({ name: "digits", revision: 1 })).toMatchObject([{ revision: 1 }]);
    const order = {
      evaluators: [{ evaluator: "regex", profile_name: "digits" }],
      evaluated_model_output: "7 doors",
    };
    const [item] = await presage.evaluate(order);
    await presage.results.correct(item?.evaluation_result?.id ?? "", { pass: false });
    expect(await presage.profiles.agreement(made.public_id)).toMatchObject({
      public_id: made.public_id,
      revisions: [
        { revision: 2, corrected: 1, should_fail: 1, agreement: 0 },
        { revision: 1, corrected: 0, agreement: null },
      ],
    });
    const [disagreement] = await presage.profiles.disagreements(made.public_id, { limit: 5 });
    expect(disagreement).toMatchObject({ pass: true, correction: { pass: false }, output: "7 doors" });
    const [cut] = await presage.results.search({ profile_name: "digits", text_limit: 1 });
    expect(cut?.evaluated_model_output).toBe("7");
    expect(await presage.profiles.archive(made.public_id)).toHaveLength(2);
    expect(await presage.profiles.list({ name: "digits" })).toEqual([]);
    expect(await presage.profiles.list({ name: "digits", include_archived: true })).toHaveLength(2);
  });

  test("taxonomies get revisions and labels", async () => {
    const made = await presage.errorTaxonomies.create({
      error_taxonomy_name: "of a test",
      body: { state: ["wrong count"] },
      labels: ["first"],
    });
    const id = made.id;
    expect(await presage.errorTaxonomies.get(id)).toEqual(made);
    expect((await presage.errorTaxonomies.setLabels(id, ["second"])).labels).toEqual(["first", "second"]);
    expect((await presage.errorTaxonomies.removeLabels(id, ["first"])).labels).toEqual(["second"]);
    const period = { since: "2026-01-01T00:00:00Z" };
    expect(await presage.errorTaxonomies.findings(id, period)).toEqual({ evaluated: 0, findings: [] });
    const filter = { name: "of a test", label: "second", latest_revision_only: true };
    expect((await presage.errorTaxonomies.list(filter)).map((one) => one.id)).toEqual([id]);
  });

  test("usage is listed by hour or day, for one key or all", async () => {
    const day = { since: "2026-01-01T00:00:00Z", until: "2026-01-02T00:00:00Z" };
    const usage = { since: "2026-01-01T00:00:00.000Z", until: "2026-01-02T00:00:00.000Z", data: [] };
    const api_key_id = (await presage.apiKeys.list())[0]?.id;
    expect(await presage.usage.list({ ...day, api_key_id })).toEqual({
      ...usage,
      step: "day",
      currency: null,
      api_keys: [],
    });
    const nothing = { count: 0, total_ms: null, overhead_ms: null };
    expect(await presage.usage.latency({ ...day, step: "hour" })).toEqual({
      ...usage,
      step: "hour",
      overall: nothing,
    });
    expect((await presage.usage.list()).step).toBe("day");
    const error = await caught(presage.usage.latency({ since: "yesterday" }));
    expect(error.issues.map(({ loc }) => loc)).toEqual([["query", "since"]]);
  });

  test("environments are created and played", async () => {
    const { environments, episodes } = presage;
    await environments.create({ name: "sdk", stop: [{ action_equals: "stop", outcome: "success" }] });
    expect(await environments.addTasks("sdk", [{ initial_state: "here" }])).toMatchObject({
      tasks: { train: 1 },
    });
    expect(await environments.listTasks("sdk", "train")).toMatchObject([{ index: 0, initial_state: "here" }]);
    expect(await environments.revise("sdk", { max_steps: 9 })).toMatchObject({ revision: 2 });
    const { episode_id: id, observation } = await episodes.start({ environment: "sdk" });
    expect(observation).toBe("here");
    expect(await episodes.step(id, "stop")).toMatchObject({ terminated: true, reward: 1 });
    expect(await episodes.get(id)).toMatchObject({ status: "finished", steps: [{ action: "stop" }] });
    expect((await episodes.list({ environment: "sdk" })).map((one) => one.id)).toEqual([id]);
    expect((await environments.list()).map(({ name }) => name)).toEqual(["sdk", "sandbox"]);
    expect((await caught(environments.delete("sdk"))).status).toBe(409);
    await episodes.delete(id);
    await environments.delete("sdk");
    expect((await caught(environments.get("sdk"))).status).toBe(404);
  });

  test("the error for an invalid request says where it is invalid", async () => {
    const error = await caught(presage.predict({ interaction: { state: "", action: "" } }));
    expect(error.category).toBe("invalid");
    expect(error.issues.map(({ loc }) => loc)).toEqual([
      ["body", "interaction", "state"],
      ["body", "interaction", "action"],
    ]);
    expect(error.requestId).toBeString();
  });

  test("every response is reported with its headers", async () => {
    const heard: (string | null)[] = [];
    await presage.me({
      onResponse: ({ status, headers }) => heard.push(`${status}`, headers.get("x-request-id")),
    });
    expect(heard).toEqual(["200", expect.any(String)]);
  });
});
