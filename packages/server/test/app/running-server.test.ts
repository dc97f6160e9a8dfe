import { afterEach, beforeEach, expect, test } from "bun:test";
import { chmod, mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AuditEventListResponse, RunListResponse } from "@presage/contract";
import { expectEventually } from "../support/eventually.ts";
import { killAfterTests } from "../support/presage/child-processes.ts";
import { presageCommand } from "../support/presage/main-file.ts";
import { type SpawnedPresage, spawnPresage } from "../support/presage/spawn-presage.ts";
import { toLines } from "../support/resources/datasets.ts";
import { completion } from "../support/upstream/upstream.ts";
import { useUpstream } from "../support/upstream/use-upstream.ts";
import { slowTest } from "../support/whole-run.ts";

const upstream = useUpstream();
let folder: string;
beforeEach(async () => {
  upstream.answer = () => Response.json(completion("from the server's model"));
  folder = await mkdtemp(join(tmpdir(), "presage-folder-"));
  const interaction = { state: "A door.", action: "open it" };
  const sample = { trajectory_id: "t", step: 0, interaction, next_state: "An open door." };
  await Bun.write(join(folder, "doors.jsonl"), toLines([sample]));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const file = () => join(folder, "data/presage.server.json");
const readFile = async () => await Bun.file(file()).json();

/** A server on the folder's database, on its own port. */
const startServer = (environment: Record<string, string> = {}) =>
  spawnPresage({
    PRESAGE_DATABASE_URL: `sqlite:${join(folder, "data/presage.db")}`,
    PRESAGE_UPSTREAM_URL: upstream.url,
    ...environment,
  });

/** Runs a command in the folder, as the README says: nothing is configured. */
async function runInFolder(args: string[], environment: Record<string, string> = {}) {
  const child = Bun.spawn([...presageCommand, ...args], {
    cwd: folder,
    env: { PATH: process.env.PATH ?? "", ...environment },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  killAfterTests(child);
  const [stderr, code] = [await child.stderr.text(), await child.exited];
  return { code, stderr };
}

const run = (environment?: Record<string, string>) =>
  runInFolder(["run", "--dataset", "doors.jsonl", "--evaluator", "exact-match"], environment);

async function runsOf(presage: SpawnedPresage): Promise<RunListResponse["data"]> {
  return RunListResponse.parse(await (await presage.call("GET", "/v1/runs")).json()).data;
}

const database = () => `the database ${join(folder, "data/presage.db")}`;

test("the command makes its run on the server of its folder, whose models predict, and says where", async () => {
  await using presage = await startServer({ PRESAGE_PUBLIC_URL: "https://presage.example" });
  const { code, stderr } = await run();
  expect([code, stderr]).toEqual([
    0,
    expect.stringContaining("written to the server at https://presage.example."),
  ]);
  const [made, ...others] = await runsOf(presage);
  expect([made?.target, others]).toEqual([{ deployment: "default" }, []]);
  expect(stderr).toContain(`  https://presage.example/runs/${made?.id}\n`);
  expect(stderr).not.toContain("sandbox");
  const exported = await (await presage.call("GET", `/v1/runs/${made?.id}/export`)).text();
  expect(exported).toContain("from the server's model");
  const events = await (await presage.call("GET", "/v1/audit-events?action=run.create")).json();
  expect(AuditEventListResponse.parse(events).data).toEqual([
    expect.objectContaining({
      actor: expect.objectContaining({ kind: "command_line", name: expect.any(String) }),
    }),
  ]);
});

slowTest("a world of the server's model is made and asked by commands in its folder", async () => {
  await using presage = await startServer();
  upstream.received.length = 0;
  expect((await runInFolder(["import", "doors.jsonl", "--name", "doors"])).code).toBe(0);
  const made = await runInFolder(["worlds", "create", "doors", "--examples", "doors", "--model", "default"]);
  expect([made.code, made.stderr]).toEqual([0, expect.stringContaining("  npx presage play doors\n")]);
  const step = ["--state", "A door.", "--action", "close it"];
  const asked = await runInFolder(["predict", "--world", "doors", "--explain", ...step]);
  expect([asked.code, asked.stderr]).toEqual([0, expect.stringContaining("open it → An open door.")]);
  expect(upstream.received).toHaveLength(1);
  expect((await presage.call("GET", "/v1/worlds/doors@1")).status).toBe(200);
});

test("a command with a model of its own asks that one, and says which database it writes to", async () => {
  const own = await startServer();
  await using presage = own;
  const { code, stderr } = await run({ PRESAGE_UPSTREAM_URL: upstream.url });
  expect([code, stderr]).toEqual([0, expect.stringContaining(`written to ${database()}.`)]);
  expect(await runsOf(presage)).toHaveLength(1);
});

test("only its user can read the file, which is removed at the stop and differs at each start", async () => {
  const presage = await startServer();
  const first = await readFile();
  expect(first).toEqual({
    address: presage.url,
    publicUrl: presage.url,
    key: expect.stringMatching(/^psc_[\w-]{43}$/),
    pid: presage.pid,
  });
  expect((await stat(file())).mode & 0o777).toBe(0o600);
  presage.kill("SIGTERM");
  expect(await presage.exited).toBe(0);
  expect(await Bun.file(file()).exists()).toBe(false);
  await using again = await startServer();
  expect((await readFile()).key).not.toBe(first.key);
  expect((await again.call("GET", "/v1/me", undefined, { "x-api-key": first.key })).status).toBe(401);
});

slowTest(
  "the file of a server that was killed is ignored, and so is one that others could have written",
  async () => {
    const presage = await startServer();
    const left = await readFile();
    presage.kill("SIGKILL");
    await presage.exited;
    expect(await Bun.file(file()).exists()).toBe(true);
    expect(await run()).toMatchObject({
      code: 0,
      stderr: expect.stringContaining(`written to ${database()}.`),
    });
    // Another process now has the killed server's id, and another program its port.
    const { port } = new URL(left.address);
    await using stranger = Bun.serve({
      port,
      hostname: "127.0.0.1",
      fetch: () => new Response("", { status: 401 }),
    });
    await Bun.write(file(), JSON.stringify({ ...left, pid: process.pid }));
    expect(await run()).toMatchObject({
      code: 0,
      stderr: expect.stringContaining(`written to ${database()}.`),
    });
    await stranger.stop(true);
    await using another = await startServer();
    await chmod(file(), 0o644);
    expect(await run()).toMatchObject({
      code: 0,
      stderr: expect.stringContaining(`written to ${database()}.`),
    });
    expect(await runsOf(another)).toHaveLength(3);
  },
);

test("the key lets in only from this machine, and only to predict, and to make and read runs", async () => {
  await using presage = await startServer();
  const { key } = await readFile();
  const status = async (method: string, path: string, headers = {}) =>
    (
      await presage.call(method, path, method === "POST" ? { name: "more" } : undefined, {
        "x-api-key": key,
        ...headers,
      })
    ).status;
  expect(await status("GET", "/v1/runs")).toBe(200);
  expect(await status("GET", "/v1/runs", { "x-forwarded-for": "192.0.2.1" })).toBe(401);
  expect(await (await presage.call("GET", "/v1/whoami", undefined, { "x-api-key": key })).json()).toEqual({
    caller: {},
  });
  expect(await status("GET", "/v1/api-keys")).toBe(403);
  expect(await status("POST", "/v1/api-keys")).toBe(403);
  expect(await status("GET", "/v1/members")).toBe(403);
  expect((await presage.call("GET", "/v1/runs", undefined, { "x-api-key": `${key}0` })).status).toBe(401);
});

slowTest("it is in no log and not in the database, and with a sign-in it works too", async () => {
  await using provider = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: () => new Response("", { status: 404 }),
  });
  await using presage = await startServer({
    PRESAGE_LOG_LEVEL: "trace",
    PRESAGE_OIDC_ISSUER: `http://127.0.0.1:${provider.port}`,
    PRESAGE_OIDC_CLIENT_ID: "presage",
    PRESAGE_OIDC_CLIENT_SECRET: "a-secret-of-the-client",
    PRESAGE_OIDC_ALLOWED_DOMAINS: "*",
    PRESAGE_PUBLIC_URL: "http://127.0.0.1:9",
  });
  const { key } = await readFile();
  expect(await run()).toMatchObject({ code: 0, stderr: expect.stringContaining("written to the server at") });
  await expectEventually(async () => (await presage.stdout()).includes("/v1/runs"), true);
  const written = [await presage.stdout(), await presage.stderr()];
  for (const name of ["presage.db", "presage.db-wal"])
    written.push(
      await Bun.file(join(folder, "data", name))
        .text()
        .catch(() => ""),
    );
  expect(written.map((text) => text.includes(key.slice(4)))).toEqual([false, false, false, false]);
});
