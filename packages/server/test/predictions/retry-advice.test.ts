import { expect, test } from "bun:test";
import { startPresage } from "../support/presage/presage.ts";
import { chatRequest, prediction } from "../support/presage/presage-with-raw-upstream.ts";
import { usePresage } from "../support/presage/use-presage.ts";
import { evaluatorProfileClient, path as profilesPath } from "../support/resources/evaluator-profiles.ts";
import { onAnyDatabase } from "../support/store/databases.ts";
import { useUpstream } from "../support/upstream/use-upstream.ts";

const upstream = useUpstream();

function adviceOf({ status, headers }: Response) {
  return {
    status,
    shouldRetry: headers.get("x-should-retry"),
    retryAfter: headers.get("retry-after"),
  };
}

function upstreamFails(status: number, headers: Record<string, string> = {}): void {
  upstream.answer = () => Response.json({ error: { message: "no" } }, { status, headers });
}

onAnyDatabase((database) => {
  const presage = usePresage({
    database,
    PRESAGE_UPSTREAM_URL: upstream.url,
    PRESAGE_UPSTREAM_RETRIES: "0",
  });

  test("a conflict says that a retry is of no use", async () => {
    const profiles = evaluatorProfileClient(() => presage);
    const fields = { evaluator_family: "exact-match", name: "strict", config: {} };
    await profiles.create(fields);
    const repeated = await presage.call("POST", profilesPath, fields);
    expect(adviceOf(repeated)).toEqual({ status: 409, shouldRetry: "false", retryAfter: null });
  });

  test("a request that the upstream refused with a 4xx says so too, and no other failure of the upstream", async () => {
    for (const [path, body] of [
      ["/v1/predict", prediction],
      ["/v1/chat/completions", chatRequest],
    ] as const) {
      const ask = async () => adviceOf(await presage.call("POST", path, body));
      for (const status of [400, 401, 404, 409, 422, 499]) {
        upstreamFails(status);
        expect(await ask()).toEqual({ status: 502, shouldRetry: "false", retryAfter: null });
      }
      for (const [status, answered] of [
        [500, 502],
        [302, 502],
        [408, 504],
        [429, 429],
      ] as const) {
        upstreamFails(status);
        expect(await ask()).toEqual({ status: answered, shouldRetry: null, retryAfter: null });
      }
    }
  });

  test("an unavailable upstream that does not say when to retry is given 1 to 3 whole seconds at random", async () => {
    for (const pause of [undefined, "", "soon", "-7"]) {
      upstreamFails(503, pause === undefined ? {} : { "retry-after": pause });
      const responses = await Promise.all(
        Array.from({ length: 60 }, () => presage.call("POST", "/v1/predict", prediction)),
      );
      const advice = responses.map(adviceOf);
      expect(new Set(advice.map(({ status, shouldRetry }) => `${status} ${shouldRetry}`))).toEqual(
        new Set(["503 null"]),
      );
      expect([...new Set(advice.map(({ retryAfter }) => retryAfter))].sort()).toEqual(["1", "2", "3"]);
    }
    upstreamFails(503, { "retry-after": "7" });
    expect(adviceOf(await presage.call("POST", "/v1/predict", prediction)).retryAfter).toBe("7");
  });
});

test("an unreachable upstream is given 1 to 3 seconds too", async () => {
  const presage = await startPresage({
    PRESAGE_UPSTREAM_URL: "http://127.0.0.1:9/v1",
    PRESAGE_UPSTREAM_RETRIES: "0",
  });
  const response = await presage.call("GET", "/v1/models");
  await presage.stop();
  expect(adviceOf(response)).toEqual({
    status: 503,
    shouldRetry: null,
    retryAfter: expect.stringMatching(/^[123]$/),
  });
});
