import { expect, test } from "bun:test";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Budget, BudgetListResponse, SpendingResponse } from "@presage/contract";
import { episodeClient } from "../support/environments/episode-client.ts";
import { orsClient } from "../support/environments/ors-client.ts";
import { eventually, expectEventually } from "../support/eventually.ts";
import { openEnvSocket } from "../support/openenv/openenv-socket.ts";
import { startPresage } from "../support/presage/presage.ts";
import { prediction } from "../support/presage/presage-with-raw-upstream.ts";
import { spawnPresage } from "../support/presage/spawn-presage.ts";
import { apiKeyClient } from "../support/resources/api-keys.ts";
import { datasetClient } from "../support/resources/datasets.ts";
import { runClient } from "../support/resources/runs.ts";
import { sessionOf, signInLocally } from "../support/sign-in/session.ts";
import { onAnyDatabase } from "../support/store/databases.ts";
import { passing, say } from "../support/upstream/judge.ts";
import { completion, startUpstream } from "../support/upstream/upstream.ts";

/** The upstream counts 11 prompt and 7 completion tokens: a request costs 18. */
const costOfOne = 18;
const list = `currency: USD
models:
  org/small: { prompt: 1000000, completion: 1000000 }
  org/judge: { prompt: 1000000, completion: 1000000 }
`;

/** Several servers on one database and one upstream, with prices. */
async function startServers(databaseUrl: string, count = 1, more: Record<string, string> = {}) {
  const directory = await mkdtemp(join(tmpdir(), "presage-budgets-"));
  const file = join(directory, "prices.yaml");
  await writeFile(file, list);
  const upstream = startUpstream();
  const environment = {
    PRESAGE_DATABASE_URL: databaseUrl,
    PRESAGE_UPSTREAM_URL: upstream.url,
    PRESAGE_UPSTREAM_MODEL: "org/small",
    PRESAGE_PRICES: file,
    ...more,
  };
  const servers: Awaited<ReturnType<typeof startPresage>>[] = [];
  for (let each = 0; each < count; each += 1) servers.push(await startPresage(environment));
  const [first] = servers;
  if (first === undefined) throw new Error("There is no server");
  return {
    ...first,
    servers,
    upstream,
    environment,
    async set(budget: Record<string, unknown>): Promise<Budget[]> {
      const response = await first.call("PATCH", "/v1/budgets", budget);
      const text = await response.text();
      expect([response.status, text]).toEqual([200, expect.any(String)]);
      return BudgetListResponse.parse(JSON.parse(text)).data;
    },
    budgets: async () => BudgetListResponse.parse(await (await first.call("GET", "/v1/budgets")).json()),
    async [Symbol.asyncDispose]() {
      for (const server of servers) await server.stop();
      await upstream.stop();
      await rm(directory, { recursive: true });
    },
  };
}

const predictAt = async (server: { call: typeof callOf }, headers?: Record<string, string>) =>
  (await server.call("POST", "/v1/predict", prediction, headers)).status;
declare const callOf: Awaited<ReturnType<typeof startPresage>>["call"];

onAnyDatabase((database) => {
  test.concurrent("a budget that stops refuses what would cost more, with the reason, the amount and its end", async () => {
    await using server = await startServers(await database.create());
    expect(await server.set({ limit: 2.5 * costOfOne, stops: true })).toMatchObject([
      { api_key_id: null, spent: 0, share: 0, state: "ok" },
    ]);
    const statuses = [];
    for (let request = 0; request < 4; request += 1) statuses.push(await predictAt(server));
    expect(statuses).toEqual([200, 200, 200, 402]);
    expect(server.upstream.received).toHaveLength(3);
    const refused = await server.call("POST", "/v1/chat/completions", {
      messages: [{ role: "user", content: "Go north." }],
    });
    const { detail, error } = (await refused.json()) as { detail: string; error: Record<string, unknown> };
    expect([refused.status, refused.headers.get("x-should-retry")]).toEqual([402, "false"]);
    const { resets_at, data, currency } = await server.budgets();
    expect(detail).toStartWith(`The monthly budget of this account is spent: 54 USD of 45 USD.`);
    expect(detail).toContain(resets_at);
    expect(error).toMatchObject({ message: detail, code: "insufficient_quota", param: null });
    expect([currency, data]).toMatchObject(["USD", [{ limit: 45, spent: 54, share: 1.2, state: "stopped" }]]);
    expect(new Date(resets_at).getUTCDate()).toBe(1);
    const metrics = await (await server.call("GET", "/metrics")).text();
    // Only requests that were sent waited for the upstream.
    expect(metrics).toContain("presage_upstream_duration_seconds_count 3\n");
    expect(await server.set({ limit: 100, stops: true })).toMatchObject([{ spent: 54, state: "ok" }]);
    expect(await predictAt(server)).toBe(200);
    expect(await server.set({ limit: null })).toEqual([]);
  });

  test.concurrent("a key's budget stops that key alone, and one that only warns stops nothing", async () => {
    await using server = await startServers(await database.create());
    const { id, key } = await apiKeyClient(() => server).create("cluster");
    await server.set({ limit: costOfOne });
    await server.set({ api_key_id: id, limit: costOfOne, stops: true });
    const withKey = { "x-api-key": key };
    expect([await predictAt(server, withKey), await predictAt(server, withKey)]).toEqual([200, 402]);
    expect([await predictAt(server), await predictAt(server)]).toEqual([200, 200]);
    expect((await server.budgets()).data).toMatchObject([
      { api_key_id: null, spent: 3 * costOfOne, state: "warning" },
      { api_key_id: id, spent: costOfOne, state: "stopped" },
    ]);
  });

  test.concurrent("what the cache has costs nothing and is answered, and a model without a price is not asked", async () => {
    await using server = await startServers(await database.create(), 1, { PRESAGE_CACHE: "deterministic" });
    await server.set({ limit: costOfOne, stops: true });
    const body = { ...prediction, params: { temperature: 0 } };
    const ask = async (asked: unknown) => (await server.call("POST", "/v1/predict", asked)).status;
    expect([await ask(body), await ask(body), await ask(prediction)]).toEqual([200, 200, 402]);
    const unpriced = await server.call("POST", "/v1/chat/completions", {
      model: "org/new",
      messages: [{ role: "user", content: "Go." }],
    });
    const { detail, error } = (await unpriced.json()) as {
      detail: unknown[];
      error: Record<string, unknown>;
    };
    expect([unpriced.status, error.param]).toEqual([422, "model"]);
    expect(detail).toMatchObject([{ loc: ["body", "model"], msg: expect.stringContaining('"org/new"') }]);
    expect(server.upstream.received).toHaveLength(1);
  });

  test.concurrent("a judge that is refused gives no verdict: the request is, and nothing is stored", async () => {
    await using server = await startServers(await database.create(), 1, { PRESAGE_JUDGE_MODEL: "org/judge" });
    server.upstream.answer = () => say(passing);
    await server.set({ limit: costOfOne, stops: true });
    const judged = () =>
      server.call("POST", "/v1/evaluate", {
        evaluators: [{ evaluator: "judge", profile_name: "system:is-concise" }],
        evaluated_model_input: "Where am I?",
        evaluated_model_output: "In the hall.",
      });
    expect([(await judged()).status, (await judged()).status]).toEqual([200, 402]);
    const found = await server.call("POST", "/v1/evaluation-results/search", {});
    expect(((await found.json()) as { results: unknown[] }).results).toHaveLength(1);
  });

  test.concurrent("a step of an episode that is refused is not taken, and can be once the budget is raised", async () => {
    await using server = await startServers(await database.create());
    const episodes = episodeClient(server);
    const id = await episodes.start(await episodes.environment());
    await server.set({ limit: costOfOne, stops: true });
    await episodes.step(id, "go north");
    const refused = await episodes.send(id, "go on");
    expect([refused.status, refused.headers.get("x-should-retry")]).toEqual([402, "false"]);
    expect((await episodes.read(id)).steps_taken).toBe(1);
    await server.set({ limit: 100, stops: true });
    expect((await episodes.step(id, "go on")).info.step).toBe(2);
  });

  test.concurrent("over ORS an episode whose judge is refused ends, and nothing is paid for again", async () => {
    await using server = await startServers(await database.create(), 1, { PRESAGE_JUDGE_MODEL: "org/judge" });
    const reward = { evaluator: "judge", profile_name: "system:is-concise", when: "every-step" };
    const name = await episodeClient(server).environment({ reward }, { split: "test" });
    const ors = orsClient(server);
    const sessionId = await ors.start({ env_name: name, split: "test", index: 0 });
    // The prediction is within the budget, and uses it up.
    await server.set({ limit: costOfOne / 2, stops: true });
    const { result, taskId } = await ors.call(sessionId, name, "go north");
    expect(result).toMatchObject({
      ok: true,
      output: { reward: null, finished: true, metadata: { truncated: true } },
    });
    const asked = server.upstream.received.length;
    expect((await ors.call(sessionId, name, "go north", taskId)).result).toEqual(result);
    expect(server.upstream.received).toHaveLength(asked);
  });

  test.concurrent("a run pauses with the reason, and goes on by itself once the budget is raised", async () => {
    await using server = await startServers(await database.create(), 1, { PRESAGE_JUDGE_MODEL: "org/judge" });
    server.upstream.answer = ({ body }) =>
      body.model === "org/judge" ? say(passing) : Response.json(completion("Open."));
    await server.set({ limit: 5 * costOfOne, stops: true });
    const datasets = datasetClient(server);
    const runs = runClient(server);
    const dataset_id = await datasets.create();
    const samples = Array.from({ length: 8 }, (_, step) => ({
      trajectory_id: "a",
      step,
      interaction: { state: `s${step}`, action: "go" },
      next_state: "Open.",
    }));
    await datasets.uploadNew(dataset_id, samples);
    const evaluators = [{ evaluator: "judge", profile_name: "system:is-concise" }];
    const { id } = await runs.create({
      dataset_id,
      target: { deployment: "default" },
      evaluators,
      concurrency: 1,
    });
    const paused = await eventually(
      () => runs.read(id),
      ({ status }) => status === "paused",
    );
    expect(paused.status_reason).toStartWith(
      "The monthly budget of this account is spent: 90 USD of 90 USD.",
    );
    expect(server.upstream.received).toHaveLength(5);
    await server.set({ limit: 1_000, stops: true });
    const ended = await runs.end(id);
    expect([ended.status, ended.progress.failed]).toEqual(["finished", 0]);
    expect(server.upstream.received).toHaveLength(16);
    // Refused requests are not counted as calls.
    const { total } = await eventually(
      async () => SpendingResponse.parse(await (await server.call("GET", "/v1/usage/people")).json()),
      (spent) => spent.total.requests >= 16,
    );
    expect(total).toMatchObject({ requests: 16, failed: 0 });
  });

  test.concurrent("processes share the figure: what they exceed it by is what was in progress until they knew", async () => {
    await using server = await startServers(await database.create(), 2);
    const [first, second] = server.servers;
    if (first === undefined || second === undefined) throw new Error("There are two servers");
    await server.set({ limit: 4 * costOfOne, stops: true });
    // The other server learns of the budget, and then spends.
    const stateAt = async (at: typeof first) =>
      BudgetListResponse.parse(await (await at.call("GET", "/v1/budgets")).json()).data[0];
    await eventually(
      () => stateAt(second),
      (budget) => budget !== undefined,
    );
    const inFlight = 6;
    const statuses = await Promise.all(
      Array.from({ length: inFlight }, (_, index) => predictAt(index % 2 === 0 ? first : second)),
    );
    expect(statuses).toEqual(statuses.map(() => 200));
    for (const at of [first, second]) {
      await eventually(
        () => stateAt(at),
        (budget) => budget?.state === "stopped",
      );
      expect(await predictAt(at)).toBe(402);
      // No more than the requests that were in progress at the same time.
      expect((await stateAt(at))?.spent).toBe(inFlight * costOfOne);
    }
  });

  test.concurrent("people are shown with their keys and models, and sessions and runs count for their people", async () => {
    const url = await database.create();
    await using server = await startServers(url);
    const { id, key } = await apiKeyClient(() => server).create("cluster");
    await predictAt(server, { "x-api-key": key });
    const { headers } = await sessionOf(await signInLocally(server), url);
    await server.call(
      "POST",
      "/v1/chat/completions",
      {
        model: "org/new",
        messages: [{ role: "user", content: "Go." }],
      },
      headers,
    );
    const read = async () =>
      SpendingResponse.parse(await (await server.call("GET", "/v1/usage/people")).json());
    const { total, today, people, unpriced_models, data } = await eventually(
      read,
      ({ total }) => total.requests === 2,
    );
    expect(total).toEqual({
      requests: 2,
      failed: 0,
      example_tokens: 0,
      prompt_tokens: 22,
      completion_tokens: 14,
      cost: costOfOne,
      unpriced_tokens: 18,
    });
    expect([today.cost, unpriced_models]).toEqual([costOfOne, [{ model: "org/new", tokens: 18 }]]);
    expect(people).toHaveLength(1);
    expect(people[0]?.user_id).toBeString();
    expect(people[0]?.keys).toMatchObject([
      {
        api_key_id: id,
        name: "cluster",
        cost: costOfOne,
        models: [{ model: "org/small", operation: "predict" }],
      },
      {
        api_key_id: null,
        cost: null,
        models: [{ model: "org/new", operation: "chat", unpriced_tokens: 18 }],
      },
    ]);
    expect(data.map(({ model, cost }) => [model, cost])).toEqual(
      expect.arrayContaining([
        ["org/small", costOfOne],
        ["org/new", null],
      ]),
    );
  });
});

test("a budget needs prices, and one that stops needs one for each model that is served", async () => {
  await using bare = await startServers("sqlite::memory:", 1, { PRESAGE_PRICES: "" });
  const without = await bare.call("PATCH", "/v1/budgets", { limit: 5 });
  expect([without.status, await without.text()]).toEqual([422, expect.stringContaining("PRESAGE_PRICES")]);
  await using other = await startServers("sqlite::memory:", 1, { PRESAGE_UPSTREAM_MODEL: "org/new" });
  const unpriced = await other.call("PATCH", "/v1/budgets", { limit: 5, stops: true });
  expect([unpriced.status, await unpriced.text()]).toEqual([422, expect.stringContaining('\\"org/new\\"')]);
  expect((await other.call("PATCH", "/v1/budgets", { limit: 5 })).status).toBe(200);
  const unknown = await other.call("PATCH", "/v1/budgets", { api_key_id: crypto.randomUUID(), limit: 5 });
  expect(unknown.status).toBe(404);
});

test("what has no price is refused in words over OpenEnv too, and is no stored prediction", async () => {
  const more = { PRESAGE_UPSTREAM_MODEL: "", PRESAGE_CAPTURE: "all" };
  await using server = await startServers("sqlite::memory:", 1, more);
  await server.set({ limit: 5, stops: true });
  const socket = await openEnvSocket(server.url, "sandbox");
  await socket.reset({ index: 0 });
  expect((await socket.step("look")).data).toEqual({
    code: "EXECUTION_ERROR",
    message: expect.stringMatching(/^model: .*"test-model"/),
  });
  socket.close();
  expect(await predictAt(server)).toBe(422);
  await server.set({ limit: null });
  expect(await predictAt(server)).toBe(200);
  const statuses = async () => {
    const { data } = (await (await server.call("GET", "/v1/predictions")).json()) as {
      data: { status: string }[];
    };
    return data.map(({ status }) => status).join();
  };
  await expectEventually(statuses, "success");
});

test("the warning is one line of the log, and a metric says how much is used", async () => {
  await using server = await startServers("sqlite::memory:");
  await using presage = await spawnPresage(server.environment);
  await presage.call("PATCH", "/v1/budgets", { limit: 20 });
  for (let request = 0; request < 2; request += 1) await presage.call("POST", "/v1/predict", prediction);
  await eventually(presage.stdout, (text) => text.includes("a monthly budget is used up"));
  const metric = async () =>
    /presage_budget_used_ratio\{[^}]*\} ([\d.]+)/.exec(
      await (await presage.call("GET", "/metrics")).text(),
    )?.[1];
  await expectEventually(metric, "1.8");
  expect((await presage.stdout()).split("a monthly budget is used up")).toHaveLength(2);
}, 60_000);
