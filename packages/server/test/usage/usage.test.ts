import { describe, expect, test } from "bun:test";
import { eventually } from "../support/eventually.ts";
import { startPresage } from "../support/presage/presage.ts";
import { chatRequest, prediction } from "../support/presage/presage-with-raw-upstream.ts";
import { usePresage } from "../support/presage/use-presage.ts";
import { apiKeyClient } from "../support/resources/api-keys.ts";
import { keyOfAnotherAccount } from "../support/resources/other-account.ts";
import { requestsIn, usageClient } from "../support/resources/usage.ts";
import { sessionOf, signInLocally } from "../support/sign-in/session.ts";
import { onAnyDatabase } from "../support/store/databases.ts";
import { startUpstream } from "../support/upstream/upstream.ts";
import { useUpstream } from "../support/upstream/use-upstream.ts";

const evaluation = { evaluators: [{ evaluator: "exact-match" }], evaluated_model_output: "x" };

onAnyDatabase((database) => {
  const upstream = useUpstream();
  const presage = usePresage({ database, PRESAGE_UPSTREAM_URL: upstream.url });
  const { create, revoke } = apiKeyClient(() => presage);
  const { list, latency } = usageClient(() => presage);

  /** The rows of a key once all its requests are counted. */
  async function rowsOf(keyId: string, requests: number) {
    const { data } = await eventually(
      () => list({ api_key_id: keyId }),
      (usage) => requestsIn(usage.data) >= requests,
    );
    return data;
  }

  describe("A request", () => {
    test.concurrent("is counted by operation with its tokens and its failure", async () => {
      const { id, key } = await create("asks for everything");
      const headers = { "x-api-key": key };
      const post = (path: string, body: unknown) => presage.call("POST", path, body, headers);
      await Promise.all([1, 2, 3].map(() => post("/v1/predict", prediction)));
      await post("/v1/predict", {});
      await post("/v1/chat/completions", chatRequest);
      await post("/v1/chat/completions", { ...chatRequest, stream: true });
      await post("/v1/evaluate", evaluation);
      await post("/v1/evaluate", { ...evaluation, evaluators: [] });
      const rows = await rowsOf(id, 8);
      const today = `${new Date().toISOString().slice(0, 10)}T00:00:00.000Z`;
      const row = {
        start: today,
        api_key_id: id,
        user_id: expect.any(String),
        example_tokens: 0,
        cost: null,
        unpriced_tokens: 0,
      };
      expect(rows).toEqual([
        {
          ...row,
          operation: "chat",
          requests: 2,
          failures: { invalid: 1 },
          prompt_tokens: 11,
          completion_tokens: 7,
          cached_tokens: 0,
        },
        {
          ...row,
          operation: "evaluate",
          requests: 2,
          failures: { invalid: 1 },
          prompt_tokens: 0,
          completion_tokens: 0,
          cached_tokens: 0,
        },
        {
          ...row,
          operation: "predict",
          requests: 4,
          failures: { invalid: 1 },
          prompt_tokens: 33,
          completion_tokens: 21,
          cached_tokens: 0,
        },
      ]);
    });

    test.concurrent("is counted with the upstream's failure", async () => {
      const failing = startUpstream((_, request) =>
        Response.json(
          { error: { message: "no" } },
          { status: Number(request.headers.get("authorization")?.slice(-3)) },
        ),
      );
      const { id, key } = await create("is failed");
      for (const status of [429, 503, 503, 500, 413]) {
        const broken = await startPresage({
          PRESAGE_DATABASE_URL: presage.databaseUrl,
          PRESAGE_UPSTREAM_URL: failing.url,
          PRESAGE_UPSTREAM_API_KEY: `answer-with-${status}`,
          PRESAGE_UPSTREAM_MODEL: "test-model",
          PRESAGE_UPSTREAM_RETRIES: "0",
        });
        await broken.call("POST", "/v1/predict", prediction, { "x-api-key": key });
        await broken.stop();
      }
      await failing.stop();
      const [row] = await rowsOf(id, 5);
      expect(row).toMatchObject({
        operation: "predict",
        requests: 5,
        failures: { rate_limit: 1, unavailable: 2, upstream: 1, context_exceeded: 1 },
        prompt_tokens: 0,
      });
    });

    test.concurrent("that is too large for Presage itself is counted as invalid, not as too long for the model", async () => {
      const { id, key } = await create("sends too much");
      const text = "x".repeat(2_000_000);
      const tooMuch = {
        evaluators: Array(20).fill({ evaluator: "contains" }),
        evaluated_model_output: text,
      };
      const refusals = [
        await presage.call("POST", "/v1/evaluate", tooMuch, { "x-api-key": key }),
        await presage.call("POST", "/v1/predict", text.repeat(10), { "x-api-key": key }),
      ];
      for (const refusal of refusals) {
        expect(refusal.status).toBe(413);
        expect(await refusal.json()).toStrictEqual({ detail: expect.any(String) });
      }
      const rows = await rowsOf(id, 2);
      expect(rows.map(({ operation, failures }) => [operation, failures])).toEqual([
        ["evaluate", { invalid: 1 }],
        ["predict", { invalid: 1 }],
      ]);
    });

    test.concurrent("is not counted for unknown callers, nor if it is neither a prediction nor an evaluation", async () => {
      const { id, key } = await create("asks for a list");
      await presage.call("GET", "/v1/api-keys", undefined, { "x-api-key": key });
      expect(await revoke(id)).toBe(204);
      await presage.call("POST", "/v1/predict", prediction, { "x-api-key": key });
      const other = await create("predicts afterwards");
      await presage.call("POST", "/v1/predict", prediction, { "x-api-key": other.key });
      await rowsOf(other.id, 1);
      expect(await rowsOf(id, 0)).toEqual([]);
    });

    test.concurrent("with a session is counted under no key", async () => {
      const url = await database.create();
      const dashboard = await startPresage({ PRESAGE_DATABASE_URL: url, PRESAGE_UPSTREAM_URL: upstream.url });
      const { headers } = await sessionOf(await signInLocally(dashboard), url);
      expect((await dashboard.call("POST", "/v1/predict", prediction, headers)).status).toBe(200);
      const usage = usageClient(() => dashboard);
      const { data, api_keys } = await eventually(usage.list, (usage) => usage.data.length > 0);
      await dashboard.stop();
      expect(data).toMatchObject([{ api_key_id: null, operation: "predict", requests: 1 }]);
      expect(api_keys).toEqual([]);
    });

    test.concurrent("is reported with the names of the keys, including revoked ones", async () => {
      const { id, key, prefix, last_four } = await create("named");
      await presage.call("POST", "/v1/predict", prediction, { "x-api-key": key });
      await revoke(id);
      await rowsOf(id, 1);
      const { api_keys } = await list({ api_key_id: id.toUpperCase() });
      expect(api_keys).toEqual([{ id, name: "named", prefix, last_four, revoked_at: expect.any(String) }]);
    });

    test.concurrent("is not reported to another account", async () => {
      const { id, key } = await create("of the first account");
      await presage.call("POST", "/v1/predict", prediction, { "x-api-key": key });
      await rowsOf(id, 1);
      const stranger = { "x-api-key": await keyOfAnotherAccount(presage.databaseUrl) };
      expect(await list({}, stranger)).toMatchObject({ data: [], api_keys: [] });
      expect(await list({ api_key_id: id }, stranger)).toMatchObject({ data: [], api_keys: [] });
      expect(await latency({}, stranger)).toMatchObject({
        overall: { count: 0, total_ms: null, overhead_ms: null },
        data: [],
      });
    });
  });
});
