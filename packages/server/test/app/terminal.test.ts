import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import packageJson from "../../package.json" with { type: "json" };
import { eventually } from "../support/eventually.ts";
import { freePort } from "../support/free-port.ts";
import { killAfterTests } from "../support/presage/child-processes.ts";
import { presageCommand } from "../support/presage/main-file.ts";
import { callWithKey } from "../support/presage/presage.ts";
import { prediction } from "../support/presage/presage-with-raw-upstream.ts";
import { spawnPresage } from "../support/presage/spawn-presage.ts";
import { sessionOf, signInLocally } from "../support/sign-in/session.ts";
import { startUpstream } from "../support/upstream/upstream.ts";

const upstream = startUpstream();
let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "presage-terminal-"));
});
afterAll(async () => {
  await upstream.stop();
  await rm(directory, { recursive: true });
});

/** Starts a server in a terminal of 80 columns, and returns it with what the terminal shows. */
async function startInTerminal(environment: Record<string, string>) {
  const port = await freePort();
  const chunks: Uint8Array[] = [];
  const server = Bun.spawn([...presageCommand, "serve"], {
    cwd: directory,
    env: {
      PATH: process.env.PATH ?? "",
      PRESAGE_PORT: String(port),
      PRESAGE_UPSTREAM_URL: upstream.url,
      PRESAGE_UPSTREAM_MODEL: "test-model",
      ...environment,
    },
    terminal: { cols: 80, rows: 24, data: (_, chunk) => chunks.push(chunk) },
  });
  killAfterTests(server);
  const shown = () => stripVTControlCharacters(Buffer.concat(chunks).toString()).replaceAll("\r\n", "\n");
  const url = `http://127.0.0.1:${port}`;
  expect(await eventually(shown, (text) => text.endsWith("}}'\n\n") || server.exitCode !== null)).toContain(
    `Presage ${packageJson.version} is ready`,
  );
  return {
    url,
    shown,
    key: /psg_[0-9A-Za-z]{38}/.exec(shown())?.[0] ?? "",
    async stop() {
      server.kill("SIGTERM");
      expect(await server.exited).toBe(0);
    },
  };
}

test("a start in a terminal ends with one block: name, version, addresses, the key and a first prediction", async () => {
  const server = await startInTerminal({ PRESAGE_DATABASE_URL: "sqlite::memory:" });
  const { url, key } = server;
  expect(key).not.toBe("");
  const token = /#([\w-]{43})\n/.exec(server.shown())?.[1];
  expect(server.shown()).toEndWith(`
  Presage ${packageJson.version} is ready

  Dashboard  This link signs in one browser, once, within 12 hours:
  ${url}/sign-in#${token}
             npx presage sign-in prints another.
  API        ${url}/v1
  API key    ${key}
             It is shown only once. npx presage keys create makes another.

  A first prediction:

  curl ${url}/v1/predict \\
    -H 'X-API-KEY: ${key}' \\
    -H 'Content-Type: application/json' \\
    -d '{"interaction": {
          "state": "You are in the kitchen. The fridge is closed.",
          "action": "open fridge"}}'

`);
  const tooWide = server
    .shown()
    .split("\n")
    .filter((line) => Bun.stringWidth(line) > 80);
  expect(tooWide).toEqual([]);
  const command = server.shown().slice(server.shown().indexOf("curl "));
  const curl = Bun.spawn(["sh", "-c", command], { stdout: "pipe", stderr: "ignore" });
  expect(await new Response(curl.stdout).json()).toMatchObject({
    response: { content: "The door is open." },
  });
  await server.stop();
});

test("a terminal shows a request as one line, and none for what the dashboard loads and calls", async () => {
  const databaseUrl = `sqlite:${join(directory, "dashboard.db")}`;
  const server = await startInTerminal({ PRESAGE_DATABASE_URL: databaseUrl });
  const { url, key } = server;
  const signInAddress = /http\S+\/sign-in#\S+/.exec(server.shown())?.[0];
  const before = server.shown();
  for (const path of ["/", "/docs"]) expect((await fetch(url + path)).status).toBe(200);
  const browser = await signInLocally({ url, signInAddress });
  const { headers } = await sessionOf(browser, databaseUrl);
  const docs = await (await browser.fetch(`${url}/docs`)).text();
  const filesOfDocs = [...docs.matchAll(/(?:src|href)="(\/assets\/[^"]+|\/[\w.]+json)"/g)].map(
    ([, path = ""]) => path,
  );
  expect(filesOfDocs).toHaveLength(5);
  const paths = ["/", "/v1/me", "/v1/usage", "/sign-in/pages.css", "/assets/none.js", ...filesOfDocs];
  for (const path of paths) await browser.fetch(url + path);
  await callWithKey(url, "POST", "/v1/predict", prediction, headers);
  await callWithKey(url, "POST", "/v1/predict", prediction, { "x-api-key": key });
  const requests = () => server.shown().slice(before.length).trimEnd().split("\n");
  await eventually(requests, (lines) => lines.at(-1)?.includes("/v1/predict") === true);
  const time = String.raw`^\d\d:\d\d:\d\d`;
  expect(requests()).toEqual([
    expect.stringMatching(RegExp(`${time} POST /auth/local 200 [\\d.]+ ms$`)),
    expect.stringMatching(RegExp(`${time} POST /v1/predict 200 [\\d.]+ ms 11→7 tokens "first key"$`)),
  ]);
  await server.stop();
});

test("elsewhere each request is a JSON line, and those of the dashboard are at level debug", async () => {
  for (const level of ["info", "debug"]) {
    const databaseUrl = `sqlite:${join(directory, `${level}.db`)}`;
    await using server = await spawnPresage({
      PRESAGE_DATABASE_URL: databaseUrl,
      PRESAGE_UPSTREAM_URL: upstream.url,
      PRESAGE_UPSTREAM_MODEL: "test-model",
      PRESAGE_LOG_LEVEL: level,
    });
    expect(await server.stderr()).toContain(`Presage ${packageJson.version} is ready`);
    const signInAddress = /http\S+\/sign-in#\S+/.exec(await server.stderr())?.[0];
    const browser = await signInLocally({ url: server.url, signInAddress });
    await browser.fetch(`${server.url}/v1/me`);
    await browser.fetch(`${server.url}/assets/none.js`);
    await server.call("POST", "/v1/predict", prediction);
    server.kill("SIGTERM");
    await server.exited;
    const lines = (await server.stdout()).trimEnd().split("\n");
    const records = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    const requests = records.filter(({ msg, route }) => msg === "request" && route !== "/ready");
    expect(requests.map(({ level, route, status }) => [level, route, status])).toEqual([
      [30, "/auth/local", 200],
      ...(level === "debug"
        ? [
            [20, "/v1/me", 200],
            [20, "/assets/:name", 404],
          ]
        : []),
      [30, "/v1/predict", 200],
    ]);
    expect(requests.at(-1)).toMatchObject({
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      requestId: expect.any(String),
      keyId: expect.any(String),
      method: "POST",
      totalMs: expect.any(Number),
      promptTokens: 11,
      completionTokens: 7,
    });
    expect(records).toContainEqual(
      expect.objectContaining({ msg: "ready", address: server.url, version: packageJson.version }),
    );
  }
}, 300_000);
