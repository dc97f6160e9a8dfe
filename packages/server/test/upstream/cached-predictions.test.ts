import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { ApiKeyCreateResponse } from "@presage/contract";
import { episodeClient } from "../support/environments/episode-client.ts";
import { eventually, expectEventually } from "../support/eventually.ts";
import { errorBody } from "../support/presage/error-body.ts";
import { testKey } from "../support/presage/presage.ts";
import {
  type PresageWithTwoAccounts,
  startPresageWithTwoAccounts,
} from "../support/presage/presage-with-two-accounts.ts";
import { readMetric } from "../support/presage/read-metric.ts";
import { apiKeyClient } from "../support/resources/api-keys.ts";
import { usageClient } from "../support/resources/usage.ts";
import { createPostgresDatabase } from "../support/store/databases.ts";
import { completion } from "../support/upstream/upstream.ts";

const inFlight = "presage_predictions_in_flight";

let server: PresageWithTwoAccounts;
let step = 0;

beforeAll(async () => {
  server = await startPresageWithTwoAccounts(await createPostgresDatabase(), {
    PRESAGE_CACHE: "deterministic",
    PRESAGE_RATE_LIMIT_RPM: "100000",
  });
});
afterAll(() => server[Symbol.asyncDispose]());
beforeEach(() => {
  server.upstream.received.length = 0;
  server.upstream.answer = () => Response.json(completion("The door is open."));
});

/** A deterministic interaction that no test has sent before. */
function newPrediction(params: Record<string, unknown> = {}) {
  step += 1;
  return {
    interaction: { state: `Step ${step}. The door is closed.`, action: "open door" },
    params: { temperature: 0, ...params },
  };
}

const predict = (body: unknown, headers: Record<string, string> = {}, signal?: AbortSignal) =>
  fetch(`${server.presage.url}/v1/predict`, {
    method: "POST",
    headers: { "x-api-key": testKey, ...headers },
    body: JSON.stringify(body),
    ...(signal === undefined ? {} : { signal }),
  });
const asked = () => server.upstream.received.length;
const from = ({ headers }: Response) => headers.get("x-presage-cache");

function countBy(texts: readonly (string | null)[]): Record<string, number> {
  return Object.fromEntries([...Map.groupBy(texts, String)].map(([text, all]) => [text, all.length]));
}

/** Holds the upstream's responses back until a test releases them. */
function holdUpstream(respond = () => Response.json(completion("At last."))) {
  const { promise, resolve } = Promise.withResolvers<void>();
  const aborted: boolean[] = [];
  server.upstream.answer = async (_, { signal }) => {
    const place = aborted.push(false) - 1;
    signal.addEventListener("abort", () => {
      aborted[place] = true;
    });
    await promise;
    return respond();
  };
  return { release: resolve, aborted };
}

describe("Equal predictions at the same time", () => {
  test("are asked for once: 64 have one upstream call and one answer", async () => {
    const { release } = holdUpstream();
    const body = newPrediction();
    const calls = Array.from({ length: 64 }, () => predict(body));
    await expectEventually(() => readMetric(server.presage, inFlight), 64);
    release();
    const responses = await Promise.all(calls);
    expect(countBy(responses.map(from))).toEqual({ miss: 1, shared: 63 });
    expect(new Set(await Promise.all(responses.map((response) => response.text()))).size).toBe(1);
    expect(asked()).toBe(1);
  });

  test("do not need the one that came first: it disconnects, and 63 are answered", async () => {
    const { release, aborted } = holdUpstream();
    const body = newPrediction();
    const leader = new AbortController();
    const left = predict(body, {}, leader.signal).catch(() => "gone");
    await expectEventually(asked, 1);
    const calls = Array.from({ length: 63 }, () => predict(body));
    await expectEventually(() => readMetric(server.presage, inFlight), 64);
    leader.abort();
    expect(await left).toBe("gone");
    await expectEventually(() => readMetric(server.presage, inFlight), 63);
    expect(aborted).toEqual([false]);
    release();
    const responses = await Promise.all(calls);
    expect(responses.every(({ status }) => status === 200)).toBe(true);
    // One caller's usage has the tokens that the upstream counted.
    expect(countBy(responses.map(from))).toEqual({ miss: 1, shared: 62 });
    expect(asked()).toBe(1);
  });

  test("fail together, each classified, and nothing of it is kept", async () => {
    const { release } = holdUpstream(() => Response.json({ error: { message: "CUDA" } }, { status: 500 }));
    const body = newPrediction();
    const calls = Array.from({ length: 64 }, () => predict(body));
    await expectEventually(() => readMetric(server.presage, inFlight), 64);
    release();
    for (const response of await Promise.all(calls)) {
      expect(response.status).toBe(502);
      expect(await errorBody(response)).toMatchObject({ category: "upstream", upstream_status: 500 });
    }
    expect(asked()).toBe(1);
    server.upstream.answer = () => Response.json(completion("Better."));
    expect(from(await predict(body))).toBe("miss");
    expect(asked()).toBe(2);
  });

  test("abort the upstream's request when the last caller has left", async () => {
    const { aborted, release } = holdUpstream();
    const body = newPrediction();
    const callers = Array.from({ length: 3 }, () => new AbortController());
    const calls = callers.map(({ signal }) => predict(body, {}, signal).catch(() => "gone"));
    await expectEventually(() => readMetric(server.presage, inFlight), 3);
    await expectEventually(asked, 1);
    for (const caller of callers) caller.abort();
    await Promise.all(calls);
    await expectEventually(() => aborted[0], true);
    release();
    await expectEventually(() => readMetric(server.presage, inFlight), 0);
    server.upstream.answer = () => Response.json(completion("Once more."));
    expect(from(await predict(body))).toBe("miss");
  });

  test("of two accounts are asked for by each", async () => {
    const { release } = holdUpstream();
    const body = newPrediction();
    const calls = [server.mine("POST", "/v1/predict", body), server.theirs("POST", "/v1/predict", body)];
    await expectEventually(asked, 2);
    release();
    expect((await Promise.all(calls)).map(from)).toEqual(["miss", "miss"]);
    for (const call of [server.mine, server.theirs])
      expect(from(await call("POST", "/v1/predict", body))).toBe("hit");
    const chat = { messages: [{ role: "user", content: "Only mine?" }], temperature: 0 };
    expect(from(await server.mine("POST", "/v1/chat/completions", chat))).toBe("miss");
    expect(from(await server.theirs("POST", "/v1/chat/completions", chat))).toBe("miss");
  });
});

test("8 rollouts of 30 steps ask for each distinct prompt once", async () => {
  server.upstream.answer = ({ body }) =>
    Response.json(completion(`The room after ${Bun.hash(JSON.stringify(body.messages)).toString(36)}.`));
  const run = step++;
  const rollout = async (number: number) => {
    let state = `Run ${run}. You are in a room.`;
    for (let turn = 0; turn < 30; turn++) {
      // Rollouts diverge at different turns, as samples of one group do.
      const action = turn < 4 * number ? "look" : `go ${number % 4}`;
      const response = await predict({ interaction: { state, action }, params: { temperature: 0 } });
      expect(response.status).toBe(200);
      state = ((await response.json()) as { response: { content: string } }).response.content;
    }
  };
  await Promise.all(Array.from({ length: 8 }, (_, number) => rollout(number)));
  const distinct = new Set(server.upstream.received.map(({ text }) => text));
  expect(asked()).toBe(distinct.size);
  expect(asked()).toBeLessThan(8 * 30 * 0.8);
});

test("episodes of one task meet the same world: an action that they have in common is predicted once", async () => {
  server.upstream.answer = () => Response.json(completion(`A world of its own, number ${asked()}.`));
  const { environment, start, step } = episodeClient(server.presage);
  for (const prompt_form of ["state-action", "chat"]) {
    const name = await environment({ prompt_form }, { initial_state: `A room for ${prompt_form}.` });
    const before = asked();
    const seen = await Promise.all(
      Array.from({ length: 8 }, async (_, number) => {
        const id = await start(name);
        const observations: string[] = [];
        for (const action of ["look", "take lamp", number === 0 ? "leave" : "stay"])
          observations.push((await step(id, action)).observation);
        return observations;
      }),
    );
    expect(asked() - before).toBe(4);
    const [first = [], ...others] = seen;
    for (const observations of others) {
      expect(observations).toEqual(others[0] ?? []);
      expect(observations.slice(0, 2)).toEqual(first.slice(0, 2));
      expect(observations[2]).not.toBe(first[2] ?? "");
    }
  }
});

describe("A prediction that was asked before", () => {
  test("is a hit with its age, its usage as it was, and it counts for the rate limit", async () => {
    const body = newPrediction();
    // A request comes back every 30 s, so the rate shows both.
    const made = await server.mine("POST", "/v1/api-keys", { name: "slow", rate_limit_rpm: 2 });
    const { key } = ApiKeyCreateResponse.parse(await made.json());
    const first = await predict(body, { "x-api-key": key });
    const again = await predict(body, { "x-api-key": key });
    expect([first, again].map(from)).toEqual(["miss", "hit"]);
    expect(first.headers.has("age")).toBe(false);
    expect(again.headers.get("age")).toMatch(/^[0-5]?\d$/);
    expect(again.headers.get("x-presage-deployment")).toBe("default");
    expect(again.headers.get("server-timing")).not.toContain("upstream");
    const remaining = ({ headers }: Response) => headers.get("x-ratelimit-remaining-requests");
    expect([first, again].map(remaining)).toEqual(["1", "0"]);
    expect(await again.text()).toBe(await first.text());
    expect(asked()).toBe(1);
  });

  test("as a chat has the bytes of the first answer", async () => {
    const odd = `{ "choices":[{"message":{"content":"\\u00e9 é", "x":1e400},"finish_reason":"stop"} ],\n"usage": null, "n":12345678901234567890 }`;
    server.upstream.answer = () => new Response(odd);
    const chat = { messages: [{ role: "user", content: "Bytes?" }], temperature: 0 };
    const answers = [];
    for (const expected of ["miss", "hit", "hit"]) {
      const response = await server.mine("POST", "/v1/chat/completions", chat);
      expect(from(response)).toBe(expected);
      answers.push(await response.text());
    }
    expect(answers).toEqual([odd, odd, odd]);
  });

  test("is counted apart in the metrics and in the account's usage", async () => {
    const tokens = (kind: string) => readMetric(server.presage, `presage_tokens_total{kind="${kind}"}`);
    const [prompt, cached] = [await tokens("prompt"), (await tokens("cached")) || 0];
    const hits = await readMetric(server.presage, 'presage_cache_results_total{result="hit"}');
    const { id, key } = await apiKeyClient(() => server.presage).create("cached");
    const body = newPrediction();
    for (let round = 0; round < 3; round++)
      expect(await (await predict(body, { "x-api-key": key })).json()).toMatchObject({
        usage: { prompt_tokens: 11, completion_tokens: 7 },
      });
    expect([(await tokens("prompt")) - prompt, (await tokens("cached")) - cached]).toEqual([11, 36]);
    expect(await readMetric(server.presage, 'presage_cache_results_total{result="hit"}')).toBe(hits + 2);
    expect(await readMetric(server.presage, "presage_cache_bytes")).toBeGreaterThan(300);
    const { list } = usageClient(() => server.presage);
    const { data } = await eventually(
      () => list({ api_key_id: id }),
      (usage) => usage.data[0]?.requests === 3,
    );
    expect(data).toMatchObject([
      { requests: 3, prompt_tokens: 11, completion_tokens: 7, cached_tokens: 36, failures: {} },
    ]);
  });

  test("is not kept unless the model stopped by itself", async () => {
    for (const finish_reason of ["length", "tool_calls", "content_filter", null]) {
      const body = newPrediction();
      const choices = [{ index: 0, message: { role: "assistant", content: "…" }, finish_reason }];
      server.upstream.answer = () => Response.json(completion("", { choices }));
      for (let round = 0; round < 2; round++) expect(from(await predict(body))).toBe("miss");
    }
    const body = newPrediction({ n: 2 });
    const choice = { message: { content: "…" }, finish_reason: "stop" };
    const cut = { ...choice, finish_reason: "length" };
    server.upstream.answer = () => Response.json(completion("", { choices: [choice, cut] }));
    for (let round = 0; round < 2; round++) expect(from(await predict(body))).toBe("miss");
  });

  test("is asked for again if it is sampled, with a seed too", async () => {
    for (const params of [{ temperature: 0.7 }, { temperature: undefined }, { temperature: 1, seed: 3 }]) {
      const body = newPrediction(params);
      for (let round = 0; round < 2; round++) expect(from(await predict(body))).toBe("off");
    }
    expect(asked()).toBe(6);
  });

  test("obeys the caller's Cache-Control", async () => {
    const body = newPrediction();
    const say = (content: string) => {
      server.upstream.answer = () => Response.json(completion(content));
    };
    const ask = async (cacheControl?: string) => {
      const headers = cacheControl === undefined ? {} : { "cache-control": cacheControl };
      const response = await predict(body, headers as Record<string, string>);
      const { response: said } = (await response.json()) as { response: { content: string } };
      return `${from(response)} ${said.content}`;
    };
    say("one");
    // No entry remains from it.
    expect(await ask("no-store")).toBe("off one");
    expect(await ask()).toBe("miss one");
    say("two");
    expect(await ask("max-age=3600")).toBe("hit one");
    expect(await ask("no-store")).toBe("off two");
    expect(await ask()).toBe("hit one");
    // The new answer replaces the cached one.
    expect(await ask("no-cache")).toBe("miss two");
    expect(await ask()).toBe("hit two");
    say("three");
    expect(await ask("max-age=0")).toBe("miss three");
    expect(await ask()).toBe("hit three");
  });
});
