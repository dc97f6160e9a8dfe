import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { ApiKeyCreateResponse } from "@presage/contract";
import { createCompletionCache } from "../../src/upstream/cache.ts";
import { createUpstream } from "../../src/upstream/create-upstream.ts";
import { expectEventually } from "../support/eventually.ts";
import { testKey } from "../support/presage/presage.ts";
import {
  type PresageWithTwoAccounts,
  startPresageWithTwoAccounts,
} from "../support/presage/presage-with-two-accounts.ts";
import { readMetric } from "../support/presage/read-metric.ts";
import { createPostgresDatabase } from "../support/store/databases.ts";
import { completion } from "../support/upstream/upstream.ts";

// A body is recognised after its first hit: from the third request on.

let server: PresageWithTwoAccounts;
let step = 0;

beforeAll(async () => {
  server = await startPresageWithTwoAccounts(await createPostgresDatabase(), {
    PRESAGE_CACHE: "deterministic",
  });
});
afterAll(() => server[Symbol.asyncDispose]());
beforeEach(() => {
  server.upstream.received.length = 0;
});

/** The text of a deterministic request that no test has sent before, for both routes. */
function newBody(): string {
  step += 1;
  return JSON.stringify({
    interaction: { state: `Step ${step}. The door is closed.`, action: "open door" },
    params: { temperature: 0 },
  });
}

function send(body: string, headers: Record<string, string> = {}, path = "/v1/predict"): Promise<Response> {
  return fetch(`${server.presage.url}${path}`, {
    method: "POST",
    headers: { "x-api-key": testKey, ...headers },
    body,
  });
}

const from = ({ headers }: Response) => headers.get("x-presage-cache");

async function recognise(body: string, path?: string): Promise<void> {
  for (const expected of ["miss", "hit", "hit"]) expect(from(await send(body, {}, path))).toBe(expected);
}

/** The headers, except those that differ from request to request. */
function headersOf({ headers }: Response): Record<string, string> {
  const changing = ["date", "x-request-id", "server-timing", "age", "x-ratelimit-remaining-requests"];
  return Object.fromEntries([...headers].filter(([name]) => !changing.includes(name)));
}

for (const path of ["/v1/predict", "/v1/chat/completions"]) {
  test(`a recognised body has the response of any other hit: ${path}`, async () => {
    const body = newBody();
    expect(from(await send(body, {}, path))).toBe("miss");
    const hit = await send(body, {}, path);
    const recognised = await send(body, {}, path);
    expect(from(recognised)).toBe("hit");
    expect(headersOf(recognised)).toEqual(headersOf(hit));
    expect(recognised.headers.get("age")).toMatch(/^\d+$/);
    expect(await recognised.text()).toBe(await hit.text());
    expect(server.upstream.received).toHaveLength(1);
  });
}

test("one path's recognised body is not the other's", async () => {
  const body = newBody();
  await recognise(body);
  // The same prompt gives the same completion, in the other path's form.
  expect(await (await send(body, {}, "/v1/chat/completions")).json()).toHaveProperty("choices");
  expect(await (await send(body)).json()).toHaveProperty("response");
});

test("another account's recognised body is asked for", async () => {
  const body = newBody();
  await recognise(body);
  expect(from(await server.theirs("POST", "/v1/predict", JSON.parse(body)))).toBe("miss");
});

test("a body with any other byte is read", async () => {
  const body = newBody();
  await recognise(body);
  // The same request in other bytes, and another request.
  expect(from(await send(`${body} `))).toBe("hit");
  expect(from(await send(body.replace("door", "Door")))).toBe("miss");
  expect((await send(body.slice(0, -1))).status).toBe(422);
});

test("headers are checked, and obeyed, for a recognised body too", async () => {
  const body = newBody();
  await recognise(body);
  expect((await send(body, { "x-session-id": "not ASCII: é" })).status).toBe(422);
  expect((await send(body, { "x-presage-deployment": "none" })).status).toBe(422);
  expect(from(await send(body, { "x-session-id": "session-1", "x-presage-deployment": "default" }))).toBe(
    "hit",
  );
  expect(from(await send(body, { "cache-control": "no-store" }))).toBe("off");
  expect(from(await send(body, { "cache-control": "no-cache" }))).toBe("miss");
  expect((await send(body, { "x-api-key": "wrong" })).status).toBe(401);
});

test("a recognised body is captured where its key says so", async () => {
  const body = newBody();
  await recognise(body);
  const made = await server.mine("POST", "/v1/api-keys", { name: "captured", capture: "all" });
  const { key } = ApiKeyCreateResponse.parse(await made.json());
  expect(from(await send(body, { "x-api-key": key }))).toBe("hit");
  const written = 'presage_captured_predictions_total{outcome="written"}';
  await expectEventually(() => readMetric(server.presage, written), 1);
});

test("what recognises bodies counts in the bound of the cache", async () => {
  const maxBytes = 1_000_000;
  const completions = createCompletionCache({ maxBytes, maxAgeS: 60, epoch: "" });
  const served = Bun.serve({ port: 0, fetch: () => Response.json(completion("The door is open.")) });
  const upstream = createUpstream({
    name: "default",
    urls: [`http://127.0.0.1:${served.port}/v1`],
    apiKey: undefined,
    model: "m",
    timeoutMs: 60_000,
    retries: 0,
    cache: { policy: "deterministic", completions },
  });
  // Equal requests in different bytes, each of which is a hit.
  const request = { messages: [{ role: "user", content: "Open the door." }], temperature: 0 };
  const sharingOf = (place: number) => ({
    accountId: "a",
    maxAgeS: Number.POSITIVE_INFINITY,
    bodyDigest: `${place}`.padEnd(43, "-"),
  });
  const places = Array.from({ length: 2_000 }, (_, place) => place);
  try {
    for (const place of places) {
      const sharing = sharingOf(place);
      const { cache } = await upstream.complete(request, new AbortController().signal, { sharing });
      expect(cache?.result).toBe(place === 0 ? "miss" : "hit");
    }
    const recognised = places.filter((place) => upstream.findCached(sharingOf(place)) !== undefined);
    expect(recognised.length).toBeGreaterThan(0);
    // A recognised body takes at least the digests of the body and of what it asks for.
    expect(recognised.length * 2 * 43).toBeLessThan(maxBytes / 20);
    expect(recognised).toEqual(places.slice(-recognised.length));
    expect(completions.bytes()).toBeGreaterThan(recognised.length * 2 * 43);
    expect(completions.bytes()).toBeLessThanOrEqual(maxBytes);
  } finally {
    await served.stop(true);
  }
});

test("a body that names no model is read again once another model is served", async () => {
  let model = "first";
  const clock = { nowMs: 0 };
  const served = Bun.serve({
    port: 0,
    fetch: ({ method }) =>
      Response.json(method === "GET" ? { data: [{ id: model }] } : completion(`From ${model}.`)),
  });
  const upstream = createUpstream({
    name: "default",
    urls: [`http://127.0.0.1:${served.port}/v1`],
    apiKey: undefined,
    model: undefined,
    timeoutMs: 60_000,
    retries: 0,
    nowMs: () => clock.nowMs,
    cache: {
      policy: "deterministic",
      completions: createCompletionCache({ maxBytes: 1e6, maxAgeS: 60, epoch: "" }),
    },
  });
  const sharing = { accountId: "a", maxAgeS: Number.POSITIVE_INFINITY, bodyDigest: "digest" };
  const request = { messages: [{ role: "user", content: "Hello." }], temperature: 0 };
  const ask = async () =>
    (await upstream.complete(request, new AbortController().signal, { sharing })).cache?.result;
  try {
    expect(await ask()).toBe("miss");
    expect(upstream.findCached(sharing)).toBeUndefined();
    expect(await ask()).toBe("hit");
    expect(upstream.findCached(sharing)?.body).toMatchObject({
      choices: [{ message: { content: "From first." } }],
    });
    expect(upstream.findCached({ ...sharing, maxAgeS: 0 })).toBeUndefined();
    expect(upstream.findCached({ ...sharing, bodyDigest: "another" })).toBeUndefined();
    model = "second";
    clock.nowMs += 61_000;
    await expectEventually(() => upstream.findCached(sharing), undefined);
    expect(await ask()).toBe("miss");
  } finally {
    await served.stop(true);
  }
});
