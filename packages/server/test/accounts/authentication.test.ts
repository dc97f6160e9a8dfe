import { afterAll, beforeAll, describe, expect, setSystemTime, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MeResponse } from "@presage/contract";
import { generateKey } from "../../src/accounts/verify-api-key.ts";
import { composeServer } from "../../src/app/compose-server.ts";
import { readConfig } from "../../src/config/config.ts";
import { createLog } from "../../src/platform/observability/logger.ts";
import { startPresage, type TestPresage, testKey } from "../support/presage/presage.ts";
import { apiKeyClient } from "../support/resources/api-keys.ts";
import { keyOfAnotherAccount } from "../support/resources/other-account.ts";
import { openStore } from "../support/store/open-store.ts";

type Headers = Record<string, string>;

let directory: string;
let databaseUrl: string;
let presage: TestPresage;
const { create, revoke, use } = apiKeyClient(() => presage);
const me = (headers: Headers) => presage.call("GET", "/v1/me", undefined, headers);
const userOf = async (key: string) => MeResponse.parse(await (await me({ "x-api-key": key })).json());

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "presage-authentication-"));
  databaseUrl = `sqlite:${join(directory, "presage.db")}`;
  presage = await startPresage({ PRESAGE_DATABASE_URL: databaseUrl });
});
afterAll(async () => {
  await presage.stop();
  await rm(directory, { recursive: true });
});

/** Everything that could distinguish one rejection from another. */
async function refusalOf(response: Response) {
  const { status, headers } = response;
  const names = [...headers.keys()].sort();
  return {
    status,
    names,
    challenge: headers.get("www-authenticate"),
    type: headers.get("content-type"),
    body: await response.json(),
  };
}

async function expectRefused(headers: Headers): Promise<void> {
  const refusal = await refusalOf(await me(headers));
  expect(refusal).toEqual({
    status: 401,
    names: [
      "content-length",
      "content-type",
      "date",
      "referrer-policy",
      "server-timing",
      "www-authenticate",
      "x-content-type-options",
      "x-request-id",
    ],
    challenge: "Bearer",
    type: expect.stringMatching(/^application\/json\b/),
    body: { detail: "Authentication required: send an API key or sign in." },
  });
}

describe("The same response rejects", () => {
  const good = testKey;
  const presented: [string, Headers][] = [
    ["no key", {}],
    ["an empty key", { "x-api-key": "" }],
    ["an empty bearer token", { authorization: "Bearer " }],
    ["a well-formed unknown key", { "x-api-key": generateKey() }],
    ["the same as a bearer token", { authorization: `Bearer ${generateKey()}` }],
    ["a malformed key", { "x-api-key": "psg_short" }],
    ["a key with an extra character", { "x-api-key": `${good}x` }],
    ["a key without its end", { "x-api-key": good.slice(0, -1) }],
    ["a key in upper case", { "x-api-key": good.toUpperCase() }],
    ["two keys in one header", { "x-api-key": `${good}, ${good}` }],
    ["a key of 7,000 characters", { "x-api-key": "a".repeat(7_000) }],
    ["a key that is not ASCII", { "x-api-key": "ключ" }],
    ["SQL", { "x-api-key": "' or '1'='1" }],
    ["a key without a scheme", { authorization: good }],
    ["a key under another scheme", { authorization: `Basic ${btoa(`key:${good}`)}` }],
    ["a key in a cookie", { cookie: `x-api-key=${good}; session=${good}` }],
    [
      "two headers with two keys, the first valid",
      { "x-api-key": good, authorization: `Bearer ${generateKey()}` },
    ],
    [
      "two headers with two keys, the second valid",
      { "x-api-key": generateKey(), authorization: `Bearer ${good}` },
    ],
  ];
  for (const [name, headers] of presented) {
    test(name, async () => {
      const sent = Object.entries(headers).map(([header, value]) => [header, toHeaderBytes(value)]);
      await expectRefused(Object.fromEntries(sent));
    });
  }

  test("a key in the address", async () => {
    expect(
      (await presage.call("GET", `/v1/me?x-api-key=${good}&api_key=${good}`, undefined, {})).status,
    ).toBe(401);
  });

  test("a revoked key", async () => {
    const { id, key } = await create("revoked");
    expect(await use(key)).toBe(200);
    expect(await revoke(id)).toBe(204);
    await expectRefused({ "x-api-key": key });
    await expectRefused({ authorization: `Bearer ${key}` });
  });

  test("an expired key", async () => {
    const { key } = await create("expired", new Date(Date.now() + 1_000).toISOString());
    expect(await use(key)).toBe(200);
    setSystemTime(Date.now() + 1_100);
    await expectRefused({ "x-api-key": key });
    setSystemTime();
  });

  test("a key's digest, prefix or id", async () => {
    const { id, key, prefix } = await create("parts");
    await using store = await openStore(databaseUrl);
    for (const part of [store.keyDigest(key), prefix, id]) await expectRefused({ "x-api-key": part });
  });
});

/** `fetch` accepts one byte per character. */
function toHeaderBytes(text: string): string {
  return Buffer.from(text).toString("latin1");
}

describe("A valid key is accepted", () => {
  const good = testKey;
  const presented: [string, Headers][] = [
    ["as X-API-KEY", { "X-API-KEY": good }],
    ["as a bearer token", { authorization: `Bearer ${good}` }],
    ["as a bearer token with a scheme in upper case", { Authorization: `BEARER  ${good}` }],
    ["in both headers", { "x-api-key": good, authorization: `Bearer ${good}` }],
    ["beside another scheme's credentials", { "x-api-key": good, authorization: "Basic abc" }],
  ];
  for (const [name, headers] of presented)
    test(name, async () => expect((await me(headers)).status).toBe(200));
});

describe("Among all paths", () => {
  let paths: string[];
  const isBelowV1 = (path: string) => path.startsWith("/v1/");
  const statusOf = async (method: string, path: string) =>
    (await presage.call(method, path, undefined, {})).status;

  beforeAll(async () => {
    const config = readConfig({ PRESAGE_DATABASE_URL: "sqlite::memory:", PRESAGE_BOOTSTRAP_KEY: testKey });
    const { app, dispose } = await composeServer(config, createLog("silent"), "http://127.0.0.1:8080");
    paths = Object.keys(app.routes);
    await dispose();
  });

  test("every one below /v1 is closed without a key, for any method", async () => {
    const closed = paths.filter(isBelowV1);
    expect(closed.length).toBeGreaterThanOrEqual(9);
    expect(closed).toContain("/v1/predict");
    for (const path of closed.map((pattern) => pattern.replaceAll(/:\w+/g, crypto.randomUUID()))) {
      const statuses = await Promise.all(
        ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"].map((method) => statusOf(method, path)),
      );
      // Supported methods require the key; others are not allowed.
      expect([path, ...new Set(statuses)].sort()).toEqual([path, 401, 405].sort());
    }
  });

  test("no other spelling bypasses authentication", async () => {
    for (const path of [
      "/v1/me/",
      "/v1//me",
      "//v1/me",
      "/v1/%6de",
      "/%76%31/me",
      "/v1/./me",
      "/health/../v1/me",
      "/V1/me",
      "/v1/me?",
      "/v1/me;x",
    ])
      expect([401, 404]).toContain(await statusOf("GET", path));
    for (const path of ["/v1/nothing", "/v1", "/v1/"])
      expect((await presage.call("GET", path)).status).toBe(404);
  });

  test("only the probes, the API page and the sign-in page are public", async () => {
    const others = paths.filter((path) => !isBelowV1(path)).toSorted();
    const answers = await Promise.all(
      others.map(async (path) => {
        const { status, headers } = await fetch(presage.url + path, { redirect: "manual" });
        return { path, status, location: headers.get("location") };
      }),
    );
    const signIn = ["/sign-in", "/sign-in/pages.css", "/sign-in/sign-in.js"];
    expect(answers.filter(({ status }) => status === 200).map(({ path }) => path)).toEqual([
      "/docs",
      "/health",
      "/metrics",
      "/openapi.json",
      "/ready",
      ...signIn,
    ]);
    for (const { path, status, location } of answers) {
      // Routes that change something do not support GET, and no file of the dashboard has this name.
      if ([200, 404, 405].includes(status)) continue;
      if (/^(\/:env)?\/(prompt|splits|task_tools|tools)$|^\/list_environments$/.test(path)) {
        // These paths are for programs that speak the Open Reward Standard, which cannot sign in.
        expect([path, status, location]).toEqual([path, 401, null]);
        continue;
      }
      if (path === "/docs/") {
        expect([status, location]).toEqual([308, "/docs"]);
        continue;
      }
      const returnTo = encodeURIComponent(path);
      expect([path, status, location]).toEqual([path, 303, `/sign-in?return_to=${returnTo}`]);
    }
  });
});

describe("GET /v1/me", () => {
  test("returns the owner in local mode", async () => {
    expect(await (await me({ "x-api-key": testKey })).json()).toStrictEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      email: null,
      name: "Owner",
      oidc_issuer: "urn:presage:local",
      oidc_subject: "owner",
      role: "owner",
      capture: { setting: "off", max_age_days: 30 },
      server_version: expect.stringMatching(/^\d+\.\d+\.\d+/),
    });
  });

  test("returns the user whose key it is", async () => {
    const owner = await userOf(testKey);
    const { key } = await create("another of the owner's");
    expect(await userOf(key)).toEqual(owner);
    const stranger = await userOf(await keyOfAnotherAccount(databaseUrl));
    expect(stranger).toMatchObject({ oidc_issuer: "https://issuer.example", oidc_subject: "stranger" });
    expect(stranger.id).not.toBe(owner.id);
  });
});
