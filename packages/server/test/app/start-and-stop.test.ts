import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually, expectEventually } from "../support/eventually.ts";
import { freePort } from "../support/free-port.ts";
import { killAfterTests } from "../support/presage/child-processes.ts";
import { presageCommand } from "../support/presage/main-file.ts";
import { callWithKey, testKey } from "../support/presage/presage.ts";
import { completion, startUpstream } from "../support/upstream/upstream.ts";
import { slowTest } from "../support/whole-run.ts";

const repository = join(import.meta.dir, "../../../..");
const upstream = startUpstream();
let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "presage-start-"));
});
afterAll(async () => {
  await upstream.stop();
  await rm(directory, { recursive: true, force: true });
});

function start(argv: string[], environment: Record<string, string> = {}, detached = false) {
  const { PATH = "" } = process.env;
  const child = Bun.spawn(argv, {
    cwd: repository,
    env: {
      PATH,
      PRESAGE_DATABASE_URL: `sqlite:${join(directory, "presage.db")}`,
      PRESAGE_UPSTREAM_URL: upstream.url,
      PRESAGE_UPSTREAM_MODEL: "m",
      ...environment,
    },
    stdout: "pipe",
    stderr: "pipe",
    detached,
  });
  killAfterTests(child);
  return child;
}

async function isReady(url: string): Promise<boolean> {
  return await fetch(`${url}/ready`).then(
    ({ status }) => status === 200,
    () => false,
  );
}

async function readiness(url: string): Promise<string> {
  return await fetch(`${url}/ready`).then(
    async (answer) => `${answer.status} ${await answer.text()}`,
    () => "nothing listens",
  );
}

slowTest("Ctrl-C in npm start's terminal, which signals all its processes, loses no prediction", async () => {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const launcher = start(
    ["node", join(repository, "scripts/start.mjs")],
    { PRESAGE_PORT: String(port), PRESAGE_BOOTSTRAP_KEY: testKey },
    true,
  );
  await expectEventually(() => isReady(url), true);
  const held = Promise.withResolvers<Response>();
  upstream.answer = () => held.promise;
  const call = callWithKey(url, "POST", "/v1/predict", { interaction: { state: "s", action: "a" } });
  expect(
    await eventually(
      () => upstream.received.length,
      (count) => count > 0,
    ),
  ).toBe(1);
  process.kill(-launcher.pid, "SIGINT");
  await expectEventually(() => isReady(url), false);
  held.resolve(Response.json(completion("done")));
  expect((await call).status).toBe(200);
  expect(await launcher.exited).toBe(0);
  expect(await new Response(launcher.stdout).text()).toContain('"msg":"stopped"');
});

test("an address in use is one clear line, exit code 1, and does not use up the first key", async () => {
  const database = { PRESAGE_DATABASE_URL: `sqlite:${join(directory, "first.db")}` };
  const blocker = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response("taken") });
  const refused = start([...presageCommand, "serve"], {
    ...database,
    PRESAGE_PORT: String(blocker.port),
  });
  expect(await refused.exited).toBe(1);
  expect(await new Response(refused.stderr).text()).toBe(
    `127.0.0.1:${blocker.port} is in use; set PRESAGE_PORT or PRESAGE_HOST to a free address.\n`,
  );
  await blocker.stop(true);
  const port = await freePort();
  const started = start([...presageCommand, "serve"], { ...database, PRESAGE_PORT: String(port) });
  await expectEventually(() => isReady(`http://127.0.0.1:${port}`), true);
  started.kill("SIGTERM");
  expect(await new Response(started.stderr).text()).toMatch(/psg_[0-9A-Za-z]{38}/);
});

test("a second server on the port of a running one does not start", async () => {
  const port = String(await freePort());
  const serve = (name: string) =>
    start([...presageCommand, "serve"], {
      PRESAGE_DATABASE_URL: `sqlite:${join(directory, `${name}.db`)}`,
      PRESAGE_PORT: port,
    });
  const first = serve("first-of-two");
  await expectEventually(() => isReady(`http://127.0.0.1:${port}`), true);
  const second = serve("second-of-two");
  expect(await second.exited).toBe(1);
  expect(await new Response(second.stderr).text()).toBe(
    `127.0.0.1:${port} is in use; set PRESAGE_PORT or PRESAGE_HOST to a free address.\n`,
  );
  first.kill("SIGTERM");
  expect(await first.exited).toBe(0);
}, 300_000);

test.each(["192.0.2.1", "no-such-host.invalid"])(
  "%s, which is no address of this machine, is one clear line",
  async (host) => {
    const refused = start([...presageCommand, "serve"], { PRESAGE_HOST: host, PRESAGE_PORT: "8080" });
    expect(await refused.exited).toBe(1);
    const said = await new Response(refused.stderr).text();
    expect(said).toContain(`${host} is not an address of this machine; set PRESAGE_`);
    expect(said.trimEnd().split("\n")).toHaveLength(1);
  },
);

test("while the database is being opened the server is up and says that it is starting", async () => {
  const path = join(directory, "locked.db");
  const holder = new Database(path);
  holder.run("PRAGMA journal_mode = WAL");
  holder.run("BEGIN IMMEDIATE");
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const server = start([...presageCommand, "serve"], {
    PRESAGE_PORT: String(port),
    PRESAGE_DATABASE_URL: `sqlite:${path}`,
  });
  const starting = '503 {"status":"starting"}';
  await expectEventually(() => readiness(url), starting);
  expect((await fetch(`${url}/health`)).status).toBe(200);
  expect((await fetch(`${url}/v1/me`)).status).toBe(503);
  holder.run("ROLLBACK");
  holder.close();
  await expectEventually(() => isReady(url), true);
  server.kill("SIGTERM");
  expect(await server.exited).toBe(0);
});

test("a process that locks the SQLite file blocks only writers", async () => {
  const path = join(directory, "shared.db");
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const server = start([...presageCommand, "serve"], {
    PRESAGE_PORT: String(port),
    PRESAGE_DATABASE_URL: `sqlite:${path}`,
    PRESAGE_BOOTSTRAP_KEY: testKey,
  });
  await expectEventually(() => isReady(url), true);
  expect((await callWithKey(url, "GET", "/v1/me")).status).toBe(200);
  const holder = new Database(path);
  holder.run("PRAGMA busy_timeout = 5000");
  holder.run("BEGIN IMMEDIATE");
  const creating = callWithKey(url, "POST", "/v1/api-keys", { name: "waits" });
  // If these requests waited for the lock, the write would give up before the lock is released.
  for (let call = 0; call < 20; call++) expect((await fetch(`${url}/health`)).status).toBe(200);
  holder.run("ROLLBACK");
  holder.close();
  expect((await creating).status).toBe(201);
  server.kill("SIGTERM");
  expect(await server.exited).toBe(0);
});

test("an unreachable trace collector does not keep the process from stopping", async () => {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const server = start([...presageCommand, "serve"], {
    PRESAGE_PORT: String(port),
    PRESAGE_BOOTSTRAP_KEY: testKey,
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${await freePort()}`,
  });
  await expectEventually(() => isReady(url), true);
  await callWithKey(url, "GET", "/v1/me");
  server.kill("SIGTERM");
  expect(await server.exited).toBe(0);
});

test("the database file is readable by its owner only", async () => {
  const path = join(directory, "private.db");
  const migrate = start([...presageCommand, "migrate"], { PRESAGE_DATABASE_URL: `sqlite:${path}` });
  expect(await migrate.exited).toBe(0);
  expect((await stat(path)).mode & 0o077).toBe(0);
});
