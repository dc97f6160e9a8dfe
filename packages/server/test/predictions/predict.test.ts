import { beforeEach, describe, expect, test } from "bun:test";
import type { WorldModelPrediction, WorldModelResponse } from "@presage/contract";
import { errorBody } from "../support/presage/error-body.ts";
import { startPresage } from "../support/presage/presage.ts";
import { usePresage } from "../support/presage/use-presage.ts";
import { completion } from "../support/upstream/upstream.ts";
import { useUpstream } from "../support/upstream/use-upstream.ts";

const upstream = useUpstream();
const presage = usePresage({ PRESAGE_UPSTREAM_URL: upstream.url });
const interaction = { state: "You are in the hall.", action: "go north" };

beforeEach(() => {
  upstream.received.length = 0;
  upstream.answer = () => Response.json(completion("You are in the kitchen."));
});

async function sentFor(params: Record<string, unknown> | undefined) {
  const answer = await presage.call("POST", "/v1/predict", { interaction, ...(params ? { params } : {}) });
  expect(answer.status).toBe(200);
  const { messages: _, ...sent } = upstream.received.at(-1)?.body ?? { messages: [] };
  return sent;
}

test("a prediction has exactly the contract's fields", async () => {
  const answer = await presage.call("POST", "/v1/predict", { interaction });
  expect(answer.status).toBe(200);
  expect(answer.headers.get("content-type")).toStartWith("application/json");
  expect((await answer.json()) as WorldModelPrediction).toEqual({
    response: { role: "assistant", content: "You are in the kitchen." },
    reasoning: null,
    finish_reason: "stop",
    usage: { prompt_tokens: 11, completion_tokens: 7 },
    matched_stop: null,
  });
});

test("the composed prompt is sent, and echoed only if debug fields are on", async () => {
  const debugging = await startPresage({ PRESAGE_UPSTREAM_URL: upstream.url, PRESAGE_DEBUG_FIELDS: "true" });
  const answer = await debugging.call("POST", "/v1/predict", {
    context: { task_context: "Find it." },
    interaction,
  });
  const { messages } = (await answer.json()) as WorldModelResponse;
  expect(messages).toEqual([
    { role: "system", content: "## TASK CONTEXT\nFind it." },
    { role: "user", content: "State: You are in the hall.\n\nAction: go north" },
  ]);
  expect(upstream.received.at(-1)?.body.messages).toEqual(messages);
  await debugging.stop();
});

describe("what is sent upstream", () => {
  const defaults = { model: "test-model", max_tokens: 512, temperature: 0.2, top_p: 1 };

  test("the defaults, and top_k only if the caller set it", async () => {
    expect(await sentFor(undefined)).toEqual(defaults);
    expect(await sentFor({ top_k: 5 })).toEqual({ ...defaults, top_k: 5 });
  });

  test("every set property, including unknown ones, and no nulls", async () => {
    const params = {
      max_tokens: 9,
      stop: ["\n"],
      logit_bias: { "7": null },
      seed: null,
      enable_thinking: null,
    };
    expect(await sentFor(params)).toEqual({
      ...defaults,
      max_tokens: 9,
      stop: ["\n"],
      logit_bias: { "7": null },
    });
  });

  test("thinking and its budget, also under the names of SGLang and vLLM", async () => {
    expect(await sentFor({ enable_thinking: false, reasoning_budget: "low" })).toEqual({
      ...defaults,
      enable_thinking: false,
      chat_template_kwargs: { enable_thinking: false },
      reasoning_budget: "low",
      reasoning_effort: "low",
    });
  });

  test("values set there by the caller take precedence", async () => {
    const params = {
      enable_thinking: true,
      chat_template_kwargs: { enable_thinking: false, other: 1 },
      reasoning_budget: "low",
      reasoning_effort: "high",
    };
    expect(await sentFor(params)).toEqual({ ...defaults, ...params });
  });

  test("integers beyond a double's range, digit for digit", async () => {
    await presage.call(
      "POST",
      "/v1/predict",
      `{"interaction":{"state":"s","action":"a"},"params":{"seed":18446744073709551615}}`,
    );
    expect(upstream.received.at(-1)?.text).toContain(`"seed":18446744073709551615`);
  });

  test("the credential as a bearer token, never the caller's key", async () => {
    const secured = await startPresage({
      PRESAGE_UPSTREAM_URL: upstream.url,
      PRESAGE_UPSTREAM_API_KEY: "upstream-secret",
    });
    await secured.call("POST", "/v1/predict", { interaction });
    const headers = upstream.received.at(-1)?.headers;
    expect(headers?.get("authorization")).toBe("Bearer upstream-secret");
    expect(headers?.get("x-api-key")).toBeNull();
    await secured.stop();
  });

  test("the configured model, if there is one", async () => {
    const named = await startPresage({ PRESAGE_UPSTREAM_URL: upstream.url, PRESAGE_UPSTREAM_MODEL: "tuned" });
    await named.call("POST", "/v1/predict", { interaction });
    expect(upstream.received.at(-1)?.body.model).toBe("tuned");
    await named.stop();
  });
});

describe("response headers", () => {
  test("the caller's request id is returned, otherwise a new one", async () => {
    const headers = { "x-api-key": "none", "x-request-id": "run-7/step:3" };
    expect((await presage.call("GET", "/v1/me", undefined, headers)).headers.get("x-request-id")).toBe(
      "run-7/step:3",
    );
    const hostile = { "x-request-id": "a b<script>" };
    expect((await presage.call("GET", "/health", undefined, hostile)).headers.get("x-request-id")).toMatch(
      /^[0-9a-f-]{36}$/,
    );
  });

  test("Server-Timing gives the upstream's and the total time", async () => {
    upstream.answer = async () => {
      await Bun.sleep(120);
      return Response.json(completion("x"));
    };
    const timing =
      (await presage.call("POST", "/v1/predict", { interaction })).headers.get("server-timing") ?? "";
    const [upstreamMs = 0, totalMs = 0] = [...timing.matchAll(/dur=([\d.]+)/g)].map((match) =>
      Number(match[1]),
    );
    expect(upstreamMs).toBeGreaterThanOrEqual(115);
    expect(totalMs).toBeGreaterThanOrEqual(upstreamMs);
  });
});

describe("params cannot", () => {
  test("replace the composed prompt", async () => {
    const params = { messages: [{ role: "user", content: "Forget it." }] };
    await presage.call("POST", "/v1/predict", { interaction, params });
    expect(upstream.received.at(-1)?.body.messages).toEqual([
      { role: "user", content: "State: You are in the hall.\n\nAction: go north" },
    ]);
  });

  test("ask for a stream", async () => {
    for (const path of ["/v1/predict", "/v1/chat/completions"]) {
      const answer = await presage.call("POST", path, { interaction, params: { stream: true } });
      expect([answer.status, await errorBody(answer)]).toEqual([
        400,
        { detail: "Streaming is not supported." },
      ]);
    }
    expect(upstream.received).toHaveLength(0);
  });
});

test("a hundred of ninety thousand issues are listed", async () => {
  const messages = Array.from({ length: 90_000 }, () => 1);
  const answer = await presage.call("POST", "/v1/chat/completions", { messages });
  const { detail } = (await answer.json()) as { detail: unknown[] };
  expect([answer.status, detail.length]).toEqual([422, 100]);
});

test("metrics count requests, tokens, failures, key checks, upstream time and overhead", async () => {
  await presage.call("POST", "/v1/predict", { interaction });
  upstream.answer = () => new Response("busy", { status: 429 });
  await presage.call("POST", "/v1/predict", { interaction });
  const text = await (await presage.call("GET", "/metrics")).text();
  for (const line of [
    /^presage_http_requests_total\{route="\/v1\/predict",status="200"\} [1-9]/m,
    /^presage_upstream_duration_seconds_count [1-9]/m,
    /^presage_overhead_seconds_bucket\{le="\+Inf"\} [1-9]/m,
    /^presage_tokens_total\{kind="completion"\} [1-9]/m,
    /^presage_failures_total\{category="rate_limit"\} 1$/m,
    /^presage_key_verifications_total\{outcome="cached"\} [1-9]/m,
    /^presage_predictions_in_flight 0$/m,
  ]) {
    expect(text).toMatch(line);
  }
});

test("unknown paths are 404 and wrong methods 405, both as ErrorResponse", async () => {
  const unknown = await presage.call("GET", "/v1/nothing");
  expect([unknown.status, await unknown.json()]).toMatchObject([
    404,
    { detail: "There is nothing at this path." },
  ]);
  const wrong = await presage.call("PUT", "/v1/api-keys");
  expect([wrong.status, wrong.headers.get("allow")]).toEqual([405, "GET, POST"]);
  expect(await wrong.json()).toEqual({ detail: "This path allows GET, POST." });
});
