import { describe, expect, test } from "bun:test";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Run, RunReport } from "@presage/contract";
import { sql } from "kysely";
import { eventually, expectEventually } from "../support/eventually.ts";
import { startPresage } from "../support/presage/presage.ts";
import { prediction } from "../support/presage/presage-with-raw-upstream.ts";
import { runPresage } from "../support/presage/run-presage.ts";
import { spawnPresage } from "../support/presage/spawn-presage.ts";
import { apiKeyClient } from "../support/resources/api-keys.ts";
import { datasetClient } from "../support/resources/datasets.ts";
import { runClient } from "../support/resources/runs.ts";
import { requestsIn, usageClient } from "../support/resources/usage.ts";
import { sessionOf, signInLocally } from "../support/sign-in/session.ts";
import { onAnyDatabase } from "../support/store/databases.ts";
import { openStore } from "../support/store/open-store.ts";
import { passing, say } from "../support/upstream/judge.ts";
import { completion, startUpstream } from "../support/upstream/upstream.ts";

const list = `currency: EUR
models:
  org/small: { prompt: 1, cached: 0.5, completion: 3 }
  org/judge: { prompt: 10, completion: 20 }
`;

/** A server with a price list and an upstream that counts 11 prompt and 7 completion tokens. */
async function startWithPrices(databaseUrl: string, more: Record<string, string> = {}) {
  const directory = await mkdtemp(join(tmpdir(), "presage-prices-"));
  const file = join(directory, "prices.yaml");
  await writeFile(file, list);
  const upstream = startUpstream();
  const presage = await startPresage({
    PRESAGE_DATABASE_URL: databaseUrl,
    PRESAGE_UPSTREAM_URL: upstream.url,
    PRESAGE_UPSTREAM_MODEL: "org/small",
    PRESAGE_PRICES: file,
    ...more,
  });
  const { list: usage, latency } = usageClient(() => presage);
  return {
    ...presage,
    upstream,
    latency,
    /** The usage once this many requests are counted. */
    counted: (requests: number, query: Record<string, string> = {}) =>
      eventually(
        () => usage(query),
        ({ data }) => requestsIn(data) >= requests,
      ),
    chat: (model: string, headers?: Record<string, string>) =>
      presage.call(
        "POST",
        "/v1/chat/completions",
        { model, messages: [{ role: "user", content: "Go north." }] },
        headers,
      ),
    async [Symbol.asyncDispose]() {
      await presage.stop();
      await upstream.stop();
      await rm(directory, { recursive: true });
    },
  };
}

onAnyDatabase((database) => {
  test.concurrent("predictions cost what the price list says, and tokens without a price are told apart", async () => {
    await using server = await startWithPrices(await database.create());
    const { call, chat, counted } = server;
    for (let request = 0; request < 3; request += 1) await call("POST", "/v1/predict", prediction);
    await call("POST", "/v1/predict", {});
    await chat("org/small");
    await chat("org/unpriced");
    const { currency, data } = await counted(6);
    expect(currency).toBe("EUR");
    expect(data).toMatchObject([
      { operation: "chat", prompt_tokens: 22, cost: 32e-6, unpriced_tokens: 18 },
      { operation: "predict", requests: 4, prompt_tokens: 33, cost: 96e-6, unpriced_tokens: 0 },
    ]);
  });

  test.concurrent("what has no price at all has no cost, and what used no tokens costs nothing", async () => {
    await using server = await startWithPrices(await database.create());
    await server.chat("org/unpriced");
    const rule = { evaluators: [{ evaluator: "exact-match" }], evaluated_model_output: "x" };
    await server.call("POST", "/v1/evaluate", rule);
    expect((await server.counted(2)).data).toMatchObject([
      { operation: "chat", cost: null, unpriced_tokens: 18 },
      { operation: "evaluate", cost: 0, unpriced_tokens: 0 },
    ]);
  });

  test.concurrent("a prompt that the upstream had in its cache is cheaper, and a prediction that Presage had is free", async () => {
    await using server = await startWithPrices(await database.create(), { PRESAGE_CACHE: "deterministic" });
    const usage = {
      prompt_tokens: 1_000,
      completion_tokens: 10,
      prompt_tokens_details: { cached_tokens: 900 },
    };
    server.upstream.answer = () => Response.json(completion("Open.", { usage }));
    const body = { ...prediction, params: { temperature: 0 } };
    for (let request = 0; request < 3; request += 1) await server.call("POST", "/v1/predict", body);
    expect(server.upstream.received).toHaveLength(1);
    const { data } = await server.counted(3);
    expect(data).toMatchObject([
      { requests: 3, prompt_tokens: 1_000, cached_tokens: 2_020, cost: 580e-6, unpriced_tokens: 0 },
    ]);
  });

  test.concurrent("judges' calls have an operation of their own, with the key of the evaluation", async () => {
    await using server = await startWithPrices(await database.create(), { PRESAGE_JUDGE_MODEL: "org/judge" });
    const { id, key } = await apiKeyClient(() => server).create("evaluates");
    server.upstream.answer = () => say(passing);
    const judged = (headers?: Record<string, string>) =>
      server.call(
        "POST",
        "/v1/evaluate",
        {
          evaluators: [{ evaluator: "judge", profile_name: "system:is-concise" }],
          evaluated_model_input: "Where am I?",
          evaluated_model_output: "In the hall.",
        },
        headers,
      );
    await judged({ "x-api-key": key });
    await judged({ "x-api-key": key });
    server.upstream.answer = () => Response.json({ error: { message: "broken" } }, { status: 500 });
    await judged({ "x-api-key": key });
    const { data } = await server.counted(6, { api_key_id: id });
    const calls = server.upstream.received.length;
    expect(data).toMatchObject([
      { operation: "evaluate", requests: 3, prompt_tokens: 0, cost: 0 },
      {
        operation: "judge",
        requests: calls,
        failures: { upstream: calls - 2 },
        prompt_tokens: 22,
        completion_tokens: 14,
        cost: 500e-6,
        unpriced_tokens: 0,
      },
    ]);
    expect((await server.latency()).overall.count).toBe(0);
  });

  test.concurrent("a run's report says what its predictions cost, and its calls are usage of whoever started it", async () => {
    const url = await database.create();
    await using server = await startWithPrices(url, { PRESAGE_JUDGE_MODEL: "org/judge" });
    const usage = {
      prompt_tokens: 1_000,
      completion_tokens: 10,
      prompt_tokens_details: { cached_tokens: 900 },
    };
    let tries = 0;
    server.upstream.answer = ({ body }) => {
      if (body.model === "org/judge") return say(passing);
      tries += 1;
      if (tries === 1) return Response.json({ error: { message: "broken" } }, { status: 500 });
      return Response.json(completion("Open.", { usage, model: "small-2026-11-21" }));
    };
    const datasets = datasetClient(server);
    const runs = runClient(server);
    const dataset_id = await datasets.create();
    const samples = [0, 1].map((step) => ({
      trajectory_id: "a",
      step,
      interaction: { state: `s${step}`, action: "go" },
      next_state: "Open.",
    }));
    await datasets.uploadNew(dataset_id, samples);
    const evaluators = [{ evaluator: "judge", profile_name: "system:is-concise" }];
    const reportOf = async (body: Record<string, unknown>) => {
      const { id } = await runs.create({ dataset_id, target: { deployment: "default" }, ...body });
      await runs.end(id);
      const response = await server.call("GET", `/v1/runs/${id}/report`);
      return { id, report: RunReport.parse(await response.json()) };
    };
    const { id, report } = await reportOf({ evaluators });
    expect(report.tokens).toEqual({ prompt: 2_000, cached: 1_800, completion: 20 });
    const tokens = { prompt_tokens: 2_000, cached_tokens: 1_800, completion_tokens: 20 };
    expect(report.cost).toEqual({
      currency: "EUR",
      total: 1_160e-6,
      unpriced_tokens: 0,
      models: [{ model: "org/small", ...tokens, cost: 1_160e-6 }],
    });
    const document = await server.call("GET", `/v1/runs/${id}/report?format=md`);
    expect(await document.text()).toContain("€0.0012");
    await using store = await openStore(url);
    const kept = await store.database.selectFrom("predictions").select("replica").distinct().execute();
    const { port } = new URL(server.upstream.url);
    expect(kept.map(({ replica }) => new URL(replica ?? "").port)).toEqual(kept.map(() => port));
    expect(kept).not.toEqual([]);
    const [ofOwner] = await apiKeyClient(() => server).list();
    const { data } = await server.counted(5);
    expect(data).toMatchObject([
      { operation: "judge", api_key_id: ofOwner?.id, requests: 2, prompt_tokens: 22, cost: 500e-6 },
      {
        operation: "run",
        api_key_id: ofOwner?.id,
        requests: 3,
        failures: { upstream: 1 },
        prompt_tokens: 2_000,
        completion_tokens: 20,
        cost: 1_160e-6,
        unpriced_tokens: 0,
      },
    ]);
    expect((await server.latency()).overall.count).toBe(0);

    const unpriced = await reportOf({ target: { deployment: "default", model: "org/unpriced" } });
    expect(unpriced.report.cost).toMatchObject({ total: null, unpriced_tokens: 2_020 });
    const baseline = await reportOf({ target: { baseline: "no-change" } });
    expect(baseline.report.cost).toEqual({ currency: "EUR", total: 0, unpriced_tokens: 0, models: [] });

    const { headers } = await sessionOf(await signInLocally(server), url);
    const body = { dataset_id, target: { deployment: "default" }, evaluators };
    const started = await server.call("POST", "/v1/runs", body, headers);
    await runs.end(Run.parse(await started.json()).id);
    const ofSessions = async () =>
      (await server.counted(0)).data
        .filter(({ api_key_id }) => api_key_id === null)
        .map(({ operation, requests }) => `${operation} ${requests}`)
        .join();
    await expectEventually(ofSessions, "judge 2,run 2");
  });

  test.concurrent("usage from before the price list, and from a release before it, is read as it was", async () => {
    const url = await database.createEmpty();
    await using server = await startWithPrices(url);
    await using store = await openStore(url);
    const hour = Math.floor(Date.now() / 3_600_000);
    // Usage as the previous release writes it to a database that is already migrated.
    await sql`insert into usage_counts (account_id, hour, key_id, operation, outcome, requests, prompt_tokens, completion_tokens)
      values (${store.owner.account_id}, ${hour}, '', 'predict', '', 5, 100, 20)
      on conflict (account_id, hour, key_id, operation, outcome) do update set requests = 0`.execute(
      store.database,
    );
    const { data } = await server.counted(5);
    expect(data).toMatchObject([
      { requests: 5, prompt_tokens: 100, completion_tokens: 20, cost: null, unpriced_tokens: 120 },
    ]);
  });

  test.concurrent("callers add at most 100 names an hour, whatever they send, and cannot hide what has a price", async () => {
    const startHour = Math.floor(Date.now() / 3_600_000);
    const url = await database.create();
    await using server = await startWithPrices(url);
    const hostile = ["half \ud800", "zero \0", "line\nbreak", "x".repeat(201), "y".repeat(100_000)];
    const names = [...hostile, ...Array.from({ length: 150 }, (_, number) => `name ${number}`)];
    for (const name of names) expect((await server.chat(name)).status).toBe(200);
    expect((await server.chat("org/small")).status).toBe(200);
    const { data } = await server.counted(156);
    expect(data).toMatchObject([{ requests: 156, cost: 32e-6, unpriced_tokens: 155 * 18 }]);
    await using store = await openStore(url);
    const rows = await store.database.selectFrom("usage_model_tokens").select(["model", "hour"]).execute();
    const counted = rows.filter(({ hour }) => Number(hour) === startHour).map(({ model }) => model);
    // If the test ran past the full hour, there are rows for two hours.
    if (Math.floor(Date.now() / 3_600_000) > startHour) expect(counted.length).toBeLessThanOrEqual(101);
    else expect(counted.sort()).toEqual([...names.slice(5, 105), "org/small"].sort());
  });
});

describe("A price list", () => {
  test("is not needed: without one there are no costs", async () => {
    await using server = await startWithPrices("sqlite::memory:", { PRESAGE_PRICES: "" });
    await server.call("POST", "/v1/predict", prediction);
    const { currency, data } = await server.counted(1);
    expect({ currency, data }).toMatchObject({ currency: null, data: [{ cost: null, unpriced_tokens: 0 }] });
  });

  test("with issues prevents the start with a line for each", async () => {
    const directory = await mkdtemp(join(tmpdir(), "presage-prices-"));
    const file = join(directory, "prices.yaml");
    await writeFile(file, "models:\n  a: { prompt: 1 }\n  b: { prompt: 1, completion: cheap }\n");
    const environment = { PRESAGE_PORT: "0", PRESAGE_DATABASE_URL: "sqlite::memory:" };
    const broken = await runPresage(["serve"], { ...environment, PRESAGE_PRICES: file });
    const missing = await runPresage(["serve"], { ...environment, PRESAGE_PRICES: "/nowhere/prices.yaml" });
    await rm(directory, { recursive: true });
    const expected = "expected a price per million tokens, a number from 0 to 1000000000";
    expect(broken.code).toBe(1);
    expect(broken.stderr).toContain(`prices.yaml:2: models.a.completion: missing; ${expected}\n`);
    expect(broken.stderr).toContain(`prices.yaml:3: models.b.completion: ${expected}\n`);
    expect(missing.code).toBe(1);
    expect(missing.stderr).toContain(
      "PRESAGE_PRICES: the file cannot be read (ENOENT): /nowhere/prices.yaml",
    );
  }, 300_000);

  test("is read again on SIGHUP, for usage of before as well; with issues it stays as it was", async () => {
    const directory = await mkdtemp(join(tmpdir(), "presage-prices-"));
    const file = join(directory, "prices.yaml");
    const write = (price: string) =>
      writeFile(file, `models: { test-model: { prompt: ${price}, completion: 0 } }`);
    await write("1");
    const upstream = startUpstream();
    await using presage = await spawnPresage({
      PRESAGE_DATABASE_URL: "sqlite::memory:",
      PRESAGE_UPSTREAM_URL: upstream.url,
      PRESAGE_PRICES: file,
    });
    const cost = async () => (await usageClient(() => presage).list()).data[0]?.cost;
    await presage.call("POST", "/v1/predict", prediction);
    await expectEventually(cost, 11e-6);
    await write("2");
    presage.kill("SIGHUP");
    await expectEventually(cost, 22e-6);
    await write("cheap");
    presage.kill("SIGHUP");
    const log = await eventually(presage.stdout, (text) => text.includes("stay as they were"));
    expect(log).toContain("prices.yaml:1: models.test-model.prompt: expected a price");
    expect(await cost()).toBe(22e-6);
    // Predictions are not affected.
    expect((await presage.call("POST", "/v1/predict", prediction)).status).toBe(200);
    await upstream.stop();
    await rm(directory, { recursive: true });
  }, 300_000);
});
