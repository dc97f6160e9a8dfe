import { afterAll, beforeAll, expect, test } from "bun:test";
import { ApiKeyCreateResponse, EpisodeStart } from "@presage/contract";
import { orsClient } from "../support/environments/ors-client.ts";
import { expectEventually } from "../support/eventually.ts";
import { startPresage, type TestPresage } from "../support/presage/presage.ts";
import { chatRequest, prediction } from "../support/presage/presage-with-raw-upstream.ts";
import { readMetric } from "../support/presage/read-metric.ts";
import { onAnyDatabase } from "../support/store/databases.ts";
import { completion, startUpstream, type TestUpstream } from "../support/upstream/upstream.ts";

const sample = { evaluators: [{ evaluator: "exact-match" }], evaluated_model_output: "a", capture: "none" };
const evaluation = { ...sample, evaluated_model_gold_answer: "a" };

onAnyDatabase((database) => {
  let presage: TestPresage;
  let upstream: TestUpstream;
  beforeAll(async () => {
    upstream = startUpstream();
    presage = await startPresage({
      PRESAGE_DATABASE_URL: await database.create(),
      PRESAGE_UPSTREAM_URL: upstream.url,
      PRESAGE_UPSTREAM_MODEL: "test-model",
      PRESAGE_UPSTREAM_RETRIES: "0",
      PRESAGE_RATE_LIMIT_RPM: "50",
    });
  });
  afterAll(async () => {
    await presage.stop();
    await upstream.stop();
  });

  async function keyWith(limits: object) {
    const made = await presage.call("POST", "/v1/api-keys", { name: "limited", ...limits });
    const { key, id } = ApiKeyCreateResponse.parse(await made.json());
    const post = async (path: string, body: unknown) => {
      const { status, headers } = await presage.call("POST", path, body, { "x-api-key": key });
      const [limit, remaining] = ["limit", "remaining"].map((name) =>
        headers.get(`x-ratelimit-${name}-requests`),
      );
      return { status, rate: limit === null ? undefined : `${remaining}/${limit}`, headers };
    };
    return {
      id,
      key,
      post,
      predict: () => post("/v1/predict", prediction),
      chat: () => post("/v1/chat/completions", chatRequest),
      evaluate: () => post("/v1/evaluate", evaluation),
      change: (body: unknown) => presage.call("PATCH", `/v1/api-keys/${id}`, body),
    };
  }

  type LimitedKey = Awaited<ReturnType<typeof keyWith>>;

  test("its rate replaces that of all keys, for predictions and, counted separately, for evaluations", async () => {
    const { predict, chat, evaluate } = await keyWith({ rate_limit_rpm: 2 });
    expect(await predict()).toMatchObject({ status: 200, rate: "1/2" });
    expect(await chat()).toMatchObject({ status: 200, rate: "0/2" });
    const refused = await predict();
    expect(refused).toMatchObject({ status: 429, rate: "0/2" });
    expect(Number(refused.headers.get("retry-after"))).toBeWithin(1, 31);
    expect(await evaluate()).toMatchObject({ status: 200, rate: "1/2" });
    expect(await evaluate()).toMatchObject({ status: 200, rate: "0/2" });
    expect(await evaluate()).toMatchObject({ status: 429, rate: "0/2" });
    const usual = await keyWith({});
    expect(await usual.predict()).toMatchObject({ status: 200, rate: "49/50" });
    expect(await usual.evaluate()).toMatchObject({ status: 200, rate: undefined });
  });

  test("every way to predict takes from the key's one rate, and is refused once that is used up", async () => {
    const start = { environment: "sandbox", split: "train", index: 0 };
    const action = "look around";
    /** Each is prepared for two keys: starting an episode takes nothing from the rate. */
    const ways = {
      chat:
        async ({ chat }: LimitedKey) =>
        async () =>
          (await chat()).status,
      step: async ({ post }: LimitedKey) => {
        const started = await presage.call("POST", "/v1/episodes", start);
        const { episode_id } = EpisodeStart.parse(await started.json());
        return async () => (await post(`/v1/episodes/${episode_id}/step`, { action })).status;
      },
      ors: async ({ key }: LimitedKey) => {
        const ors = orsClient(presage, key);
        const session = await ors.start({ env_name: "sandbox", split: "train", index: 0 });
        return async () => {
          const body = { name: "act", input: { action } };
          const response = await ors.send("POST", "/sandbox/call", body, session);
          await response.text();
          return response.status;
        };
      },
    };
    for (const [name, prepare] of Object.entries(ways)) {
      const [before, after] = [await keyWith({ rate_limit_rpm: 1 }), await keyWith({ rate_limit_rpm: 1 })];
      const [first, second] = [await prepare(before), await prepare(after)];
      expect([name, await first(), (await before.predict()).status]).toEqual([name, 200, 429]);
      expect([name, (await after.predict()).status, await second()]).toEqual([name, 200, 429]);
    }
  });

  test("a changed rate applies to the next request", async () => {
    const { predict, change } = await keyWith({ rate_limit_rpm: 1 });
    expect(await predict()).toMatchObject({ status: 200, rate: "0/1" });
    expect((await predict()).status).toBe(429);
    await change({ rate_limit_rpm: 1_000_000 });
    await expectEventually(async () => (await predict()).status, 200);
    await change({ rate_limit_rpm: null });
    expect((await predict()).rate).toEndWith("/50");
  });

  test("its concurrent requests are limited, and each that ends makes room for another", async () => {
    const { predict, chat, change } = await keyWith({ max_in_flight: 2 });
    const held = Promise.withResolvers<void>();
    upstream.answer = async () => {
      await held.promise;
      return Response.json(completion("At last."));
    };
    const inFlight = [predict(), chat()];
    await expectEventually(() => readMetric(presage, "presage_predictions_in_flight"), 2);
    const refused = await predict();
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "1"]);
    const other = await keyWith({});
    const third = other.predict();
    await expectEventually(() => readMetric(presage, "presage_predictions_in_flight"), 3);
    held.resolve();
    for (const answered of [...inFlight, third]) expect((await answered).status).toBe(200);
    expect([(await predict()).status, (await chat()).status]).toEqual([200, 200]);
    await change({ max_in_flight: 1 });
    expect((await predict()).status).toBe(200);
  });
});
