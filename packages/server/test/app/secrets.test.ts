import { afterAll, beforeAll, expect, test } from "bun:test";
import { readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { generateSecret } from "../../src/accounts/verify-api-key.ts";
import { eventually, expectEventually } from "../support/eventually.ts";
import { freePort } from "../support/free-port.ts";
import { launchPresage, type SpawnedPresage, spawnPresage } from "../support/presage/spawn-presage.ts";
import { type Browser, openBrowser } from "../support/sign-in/browser.ts";
import { startOpenidProvider } from "../support/sign-in/openid-provider.ts";
import { sessionOf, signInLocally, type TestSession } from "../support/sign-in/session.ts";
import { callbackAddress } from "../support/sign-in/sign-in-at-provider.ts";
import { onAnyDatabase, onPostgres } from "../support/store/databases.ts";
import { startRelay } from "../support/store/relay.ts";
import { startCollector } from "../support/telemetry/collector.ts";
import { completion, startUpstream, type TestUpstream } from "../support/upstream/upstream.ts";
import { slowTest } from "../support/whole-run.ts";

const bootstrapKey = "bootstrap-secret-Zk3v9Qx1-0123456789";
const upstreamKey = "upstream-secret-Wm8r2Lp5";
const clientSecret = "oidc-secret-Hd6t4Ny7";
const wrongKey = "wrong-key-secret-Bc1s0Fg9";
const [state, action, prompt] = ["state-text-Jq5w", "action-text-Vu2x", "prompt-text-Ae8k"];
const texts = [state, action, prompt];

let upstream: TestUpstream;
beforeAll(() => {
  upstream = startUpstream();
});
afterAll(() => upstream.stop());

const predictBody = { interaction: { state, action } };
const chatBody = { messages: [{ role: "user", content: prompt }] };

/** Every way in which the upstream can echo what it received. */
const echoes: ((authorization: string, text: string) => Response)[] = [
  () => Response.json(completion("The door is open.")),
  (authorization, text) =>
    Response.json({ error: { message: `Bad key ${authorization}`, text } }, { status: 401 }),
  (authorization, text) => new Response(`<h1>${authorization}</h1>${text}`, { status: 500 }),
  (authorization, text) => Response.json({ authorization, text }),
  (authorization) =>
    Response.json({ error: authorization }, { status: 503, headers: { "retry-after": "9" } }),
  (authorization) => new Response(null, { status: 302, headers: { location: `/?key=${authorization}` } }),
];

interface Answers {
  /** All responses with headers and bodies, except those that return a new key. */
  text: string;
  statuses: Set<number>;
  createdKeys: string[];
}

/** Calls every error path with secrets. */
async function callEverything(presage: SpawnedPresage): Promise<Answers> {
  const answers: Answers = { text: "", statuses: new Set(), createdKeys: [] };
  const call = async (method: string, path: string, body: unknown, headers: Record<string, string>) => {
    const response = await presage.call(method, path, body, headers);
    answers.statuses.add(response.status);
    answers.text += `${JSON.stringify([...response.headers])}\n${await response.text()}\n`;
  };
  const create = async (expiresInMs?: number): Promise<{ id: string; key: string }> => {
    const expires_at = expiresInMs === undefined ? null : new Date(Date.now() + expiresInMs).toISOString();
    const own = { "x-api-key": bootstrapKey };
    const response = await presage.call("POST", "/v1/api-keys", { name: "of the test", expires_at }, own);
    const created = (await response.json()) as { id: string; key: string };
    answers.createdKeys.push(created.key);
    return created;
  };
  const [usual, revoked, expired] = [await create(), await create(), await create(600)];
  await call("DELETE", `/v1/api-keys/${revoked.id}`, undefined, { "x-api-key": usual.key });
  const isRefused = async () =>
    (await presage.call("GET", "/v1/me", undefined, { "x-api-key": expired.key })).status === 401;
  await expectEventually(isRefused, true);

  for (const echo of echoes) {
    upstream.answer = ({ headers, text }) => echo(headers.get("authorization") ?? "", text);
    await call("POST", "/v1/predict", predictBody, { "x-api-key": bootstrapKey });
    await call("POST", "/v1/chat/completions", chatBody, { authorization: `Bearer ${usual.key}` });
  }
  for (const key of [usual.key, bootstrapKey, revoked.key, expired.key, wrongKey]) {
    const headers = { "x-api-key": key };
    await call("POST", "/v1/predict", predictBody, { authorization: `Bearer ${key}` });
    await call("POST", "/v1/predict", predictBody, { authorization: `Basic ${btoa(key)}` });
    await call("POST", "/v1/predict", predictBody, { "x-api-key": key, authorization: `Bearer ${wrongKey}` });
    await call("GET", `/v1/me?api_key=${key}`, undefined, {});
    await call("GET", "/v1/nothing", undefined, headers);
    await call("PUT", "/v1/predict", predictBody, headers);
    await call("POST", "/v1/api-keys", { name: "" }, headers);
    await call("POST", "/v1/api-keys", "{", headers);
    await call("DELETE", "/v1/api-keys/no-id", undefined, headers);
    await call("POST", "/v1/predict", { interaction: { state, action: 7 } }, headers);
    await call("POST", "/v1/chat/completions", { ...chatBody, stream: true }, headers);
    await call("POST", "/v1/predict", "x".repeat(2_000), headers);
    for (const path of [
      "/v1/me",
      "/v1/api-keys",
      "/v1/models",
      "/metrics",
      "/openapi.json",
      "/docs",
      "/ready",
    ]) {
      await call("GET", path, undefined, headers);
    }
  }
  return answers;
}

function expectNone(secrets: string[], text: string): void {
  expect(secrets.filter((secret) => text.includes(secret))).toStrictEqual([]);
}

/** The database's files as text, one character per byte. */
async function readFiles(path: string): Promise<string> {
  const directory = dirname(path);
  const files = (await readdir(directory)).map((name) => Bun.file(join(directory, name)).bytes());
  return Buffer.concat(await Promise.all(files)).toString("latin1");
}

onAnyDatabase((database) => {
  test("no secret appears in any response, the log, the metrics or the database's files", async () => {
    const url = await database.create();
    const direct = url.startsWith("postgres:") ? new URL(url) : undefined;
    const relay = await startRelay(Number(direct?.port ?? 0));
    if (direct !== undefined) direct.port = String(relay.port);
    await using presage = await spawnPresage({
      PRESAGE_DATABASE_URL: direct?.href ?? url,
      PRESAGE_UPSTREAM_URL: upstream.url,
      PRESAGE_UPSTREAM_API_KEY: upstreamKey,
      PRESAGE_BOOTSTRAP_KEY: bootstrapKey,
      PRESAGE_OIDC_ISSUER: `http://127.0.0.1:${await freePort()}`,
      PRESAGE_OIDC_CLIENT_ID: "presage",
      PRESAGE_OIDC_CLIENT_SECRET: clientSecret,
      PRESAGE_OIDC_ALLOWED_DOMAINS: "*",
      PRESAGE_UPSTREAM_APIKEY: upstreamKey,
      PRESAGE_MAX_BODY_BYTES: "1000",
      PRESAGE_LOG_LEVEL: "trace",
    });
    const answers = await callEverything(presage);
    expect([...answers.statuses].sort()).toStrictEqual([200, 204, 400, 401, 404, 405, 413, 422, 502, 503]);
    // The database's connections break, and none of their secrets may reach the log.
    await relay.stop();
    await presage.call("GET", "/v1/api-keys", undefined, { "x-api-key": wrongKey });
    const files = url.startsWith("sqlite:") ? await readFiles(url.slice("sqlite:".length)) : "";
    presage.kill("SIGTERM");
    await presage.exited;

    const secrets = [...answers.createdKeys, bootstrapKey, upstreamKey, clientSecret, wrongKey];
    if (direct !== undefined) secrets.push(direct.password);
    expect(secrets.every((secret) => secret.length > 12)).toBe(true);
    const log = (await presage.stdout()) + (await presage.stderr());
    expect(log.split("\n").length).toBeGreaterThan(100);
    expectNone(secrets, answers.text);
    expectNone([...secrets, ...texts], log);
    // What the driver knows about a connection, including the key to cancel its statements.
    expectNone(["connectionParameters", "secretKey"], log);
    expectNone([...secrets, ...texts], files);
    if (url.startsWith("sqlite:")) expect(files).toContain("of the test");
  }, 300_000);

  /** Makes calls with a session and valid or invalid CSRF tokens; returns all responses except pages, which contain the token. */
  async function callWithSession(
    browser: Browser,
    url: string,
    { token, csrfToken }: TestSession,
  ): Promise<string> {
    let text = "";
    const call = async (method: string, path: string, headers: Record<string, string>, body?: string) => {
      const response = await browser.fetch(url + path, { method, headers, ...(body ? { body } : {}) });
      text += `${JSON.stringify([...response.headers])}\n${await response.text()}\n`;
    };
    const proof = { "x-csrf-token": csrfToken };
    for (const path of ["/v1/me", "/v1/sessions", "/v1/whoami", "/v1/nothing", `/v1/me?session=${token}`])
      await call("GET", path, {});
    await call("POST", "/v1/api-keys", proof, "{");
    await call("POST", "/v1/api-keys", { "x-csrf-token": `${csrfToken}x` }, "{}");
    await call("POST", `/v1/api-keys?csrf=${csrfToken}`, {}, "{}");
    await call("PUT", "/v1/me", proof, "{}");
    await call("GET", "/v1/me", { "x-api-key": token });
    await call("POST", "/auth/local", {}, JSON.stringify({ token }));
    await call("GET", "/metrics", {});
    await call("POST", "/auth/sign-out", proof);
    await call("GET", "/v1/me", {});
    return text;
  }

  /** The log of a server after its exit. */
  async function logOf(presage: SpawnedPresage): Promise<string> {
    presage.kill("SIGTERM");
    await presage.exited;
    const log = await presage.stdout();
    expect(log).toContain('"route":"/v1/sessions"');
    return log;
  }

  slowTest(
    "no secret of a printed address appears in any response, the log or the database's files",
    async () => {
      const url = await database.create();
      await using presage = await spawnPresage({ PRESAGE_DATABASE_URL: url, PRESAGE_LOG_LEVEL: "trace" });
      const signInAddress = /http\S+\/sign-in#\S+/.exec(await presage.stderr())?.[0];
      const browser = await signInLocally({ url: presage.url, signInAddress });
      const session = await sessionOf(browser, url);
      const secrets = [new URL(signInAddress ?? "").hash.slice(1), session.token, session.csrfToken];
      expectNone(secrets, await callWithSession(browser, presage.url, session));
      if (url.startsWith("sqlite:")) expectNone(secrets, await readFiles(url.slice("sqlite:".length)));
      expectNone(secrets, await logOf(presage));
    },
    120_000,
  );

  test("a shared link's address is in no log, trace, metric, error or file", async () => {
    const url = await database.create();
    const collector = startCollector();
    await using presage = await spawnPresage({
      PRESAGE_DATABASE_URL: url,
      PRESAGE_BOOTSTRAP_KEY: bootstrapKey,
      PRESAGE_LOG_LEVEL: "trace",
      ...collector.environment(),
    });
    const own = { "x-api-key": bootstrapKey };
    const json = async (method: string, path: string, body?: unknown) =>
      (await (await presage.call(method, path, body, own)).json()) as Record<string, string>;
    const dataset = await json("POST", "/v1/datasets", { name: "doors" });
    const sample = {
      trajectory_id: "t",
      step: 0,
      interaction: { state: "A door.", action: "open" },
      next_state: "x",
    };
    await json("POST", `/v1/datasets/${dataset.id}/revisions`, sample);
    const run = await json("POST", "/v1/runs", {
      dataset_id: dataset.id,
      target: { baseline: "no-change" },
      evaluators: [{ evaluator: "exact-match" }],
    });
    const link = await json("POST", "/v1/shares", { kind: "run", ids: [run.id] });
    const [token = "", other] = [link.path?.split("/").at(-1), generateSecret("pss_")];
    let seen = "";
    const open = async (path: string, method = "GET") => {
      const headers = { referer: `${presage.url}/share/${token}`, "sec-fetch-mode": "navigate" };
      const response = await fetch(presage.url + path, { method, headers });
      seen += `${JSON.stringify([...response.headers])}\n${await response.text()}\n`;
      return response.status;
    };
    expect(await open(`/share/${token}`)).toBe(200);
    expect(await open(`/share/${token}`, "POST")).toBe(405);
    for (const path of [
      `/share/${other}`,
      `/share/${token}/`,
      `/share/${token}/tools`,
      `/runs?share=${token}`,
    ])
      await open(path);
    await presage.call("DELETE", `/v1/shares/${link.id}`, undefined, own);
    expect(await open(`/share/${token}`)).toBe(404);
    seen += await (await presage.call("GET", "/metrics", undefined, own)).text();
    const events = await (await presage.call("GET", "/v1/audit-events", undefined, own)).text();
    const files = url.startsWith("sqlite:") ? await readFiles(url.slice("sqlite:".length)) : "";
    presage.kill("SIGTERM");
    await presage.exited;
    const log = (await presage.stdout()) + (await presage.stderr());
    expect(log).toContain('"route":"/share/:token"');
    expect(collector.texts().join()).toContain("/share/:token");
    expectNone([token, other], [seen, log, events, files, ...collector.texts()].join("\n"));
    await collector.stop();
  }, 300_000);

  slowTest(
    "no secret of a provider sign-in appears in any response, the log or the database's files",
    async () => {
      const url = await database.create();
      // The tests' browser calls the server directly instead of this address, which is registered at the provider.
      const publicUrl = `http://127.0.0.1:${await freePort()}`;
      const provider = await startOpenidProvider([publicUrl]);
      await using presage = await spawnPresage({
        PRESAGE_DATABASE_URL: url,
        PRESAGE_PUBLIC_URL: publicUrl,
        PRESAGE_LOG_LEVEL: "trace",
        ...provider.environment,
      });
      const browser = openBrowser();
      const { search, searchParams } = await callbackAddress(browser, presage.url);
      const attempt = [...browser.cookies].find(([name]) => name.startsWith("presage_sign_in"))?.[1] ?? "";
      const callback = await browser.fetch(`${presage.url}/auth/callback${search}`);
      expect(callback.status).toBe(303);
      const again = await (await browser.fetch(`${presage.url}/auth/callback${search}`)).text();
      const session = await sessionOf(browser, url);
      const { token, csrfToken } = session;
      await provider.stop();
      const secrets = [provider.environment.PRESAGE_OIDC_CLIENT_SECRET ?? "", token, csrfToken, attempt];
      secrets.push(searchParams.get("code") ?? "", searchParams.get("state") ?? "");
      expect(secrets.every((secret) => secret.length > 12)).toBe(true);
      expectNone(secrets, again + (await callWithSession(browser, presage.url, session)));
      if (url.startsWith("sqlite:")) expectNone(secrets, await readFiles(url.slice("sqlite:".length)));
      expectNone(secrets, (await logOf(presage)) + (await presage.stderr()));
    },
    120_000,
  );
});

const databasePassword = "database-secret-Rt7y3Mz1";

/** Starts a server that must fail to start, and returns its output. */
async function failToStart(environment: Record<string, string>): Promise<string> {
  await using presage = await launchPresage({ PRESAGE_DATABASE_URL: "sqlite::memory:", ...environment });
  const code = await Promise.race([presage.exited, Bun.sleep(20_000).then(() => "did not end")]);
  expect(code).toBe(1);
  return (await presage.stdout()) + (await presage.stderr());
}

test("an invalid configuration is rejected without showing its secrets", async () => {
  const output = await failToStart({
    PRESAGE_PORT: "eighty",
    PRESAGE_BOOTSTRAP_KEY: "short-secret-Kp2",
    PRESAGE_DATABASE_URL: `mysql://user:${databasePassword}@host/presage`,
    PRESAGE_UPSTREAM_URL: `http://user:${upstreamKey}@127.0.0.1/v1`,
    PRESAGE_UPSTREAM_API_KEY: upstreamKey,
    PRESAGE_OIDC_CLIENT_SECRET: clientSecret,
  });
  for (const name of [
    "PRESAGE_PORT",
    "PRESAGE_BOOTSTRAP_KEY",
    "PRESAGE_DATABASE_URL",
    "PRESAGE_UPSTREAM_URL",
  ]) {
    expect(output).toContain(name);
  }
  expectNone(["short-secret-Kp2", databasePassword, upstreamKey, clientSecret], output);
});

test("an unreachable database at startup is reported without its password", async () => {
  await using presage = await launchPresage({
    PRESAGE_DATABASE_URL: `postgres://user:${databasePassword}@127.0.0.1:${await freePort()}/presage`,
    PRESAGE_UPSTREAM_API_KEY: upstreamKey,
    PRESAGE_BOOTSTRAP_KEY: bootstrapKey,
    PRESAGE_LOG_LEVEL: "trace",
  });
  const isRefused = (text: string) => text.includes("ECONNREFUSED");
  const output = await eventually(async () => (await presage.stdout()) + (await presage.stderr()), isRefused);
  expect(isRefused(output)).toBe(true);
  expectNone([databasePassword, upstreamKey, bootstrapKey], output);
}, 300_000);

onPostgres((database) => {
  test("a rejected database password is reported without showing it", async () => {
    const url = new URL(await database.create());
    url.username = "nobody";
    url.password = databasePassword;
    const output = await failToStart({ PRESAGE_DATABASE_URL: url.href });
    expect(output).toContain("nobody");
    expectNone([databasePassword], output);
  }, 300_000);
});
