import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startPresage, testKey } from "../support/presage/presage.ts";
import { completion, startUpstream } from "../support/upstream/upstream.ts";

const main = join(import.meta.dir, "../../src/main.ts");
const upstream = startUpstream();
let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "presage-cli-"));
});
afterAll(async () => {
  await upstream.stop();
  await rm(directory, { recursive: true });
});

async function run(args: string[], environment: Record<string, string> = {}, bunOptions: string[] = []) {
  const { PATH = "" } = process.env;
  const child = Bun.spawn([process.execPath, ...bunOptions, main, ...args], {
    cwd: directory,
    env: { PATH, ...environment },
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, err] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  return { code: await child.exited, out, err };
}

async function linesOf(path: string): Promise<Record<string, unknown>[]> {
  const text = await Bun.file(path).text();
  return text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

function transition(step: number, nextState?: string): string {
  return JSON.stringify({
    step,
    interaction: { state: `state ${step}`, action: "wait" },
    next_state: nextState,
  });
}

/** Responds with the given state, so that a prediction is right if nothing should change. */
function echoState(): void {
  upstream.answer = ({ body }) =>
    Response.json(completion(/^State: (.*)$/m.exec(body.messages.at(-1)?.content ?? "")?.[1] ?? ""));
}

test("--help names every command and every variable in lines of at most 100 characters", async () => {
  const { code, out } = await run(["--help"]);
  expect(code).toBe(0);
  for (const word of [
    "serve",
    "config",
    "migrate",
    "keys",
    "users",
    "predict",
    "PRESAGE_UPSTREAM_URL",
    "8080",
  ])
    expect(out).toContain(word);
  expect(out.split("\n").filter((line) => line.length > 100)).toEqual([]);
});

test.each([
  [["--help"], 1],
  [["keys", "list"], 1],
  [["predict", "--state", "calm", "--action", "wait"], 1],
  [["serve"], 2],
  [[], 2],
])("%j starts the process %d time(s): only serve restarts it for Bun's settings", async (args, starts) => {
  const count = join(directory, `${crypto.randomUUID()}.ts`);
  await Bun.write(count, 'process.stderr.write("started\\n");');
  const { err } = await run(args, { PRESAGE_PORT: "x" }, ["--preload", count]);
  expect(err.match(/^started$/gm)).toHaveLength(starts);
});

test("a misspelt command is refused by its name, and no server starts", async () => {
  const { code, err } = await run(["evalute"]);
  expect([code, err]).toEqual([
    1,
    "Unknown command evalute; the commands are serve, config, migrate, keys, users, results, sign-in, predict, evaluate\n",
  ]);
});

test("config shows the effective values and hides secrets", async () => {
  const secrets = {
    PRESAGE_UPSTREAM_API_KEY: "upstream-secret",
    PRESAGE_DATABASE_URL: "postgres://me:pass-word@db/presage",
  };
  const { out } = await run(["config"], { ...secrets, PRESAGE_PORT: "9999" });
  expect(out).toMatch(/PRESAGE_PORT=9999 +# set/);
  expect(out).toMatch(/PRESAGE_HOST=127\.0\.0\.1 +# default/);
  expect(out).not.toContain("upstream-secret");
  expect(out).not.toContain("pass-word");
});

test("an invalid environment stops a command with one line per variable", async () => {
  const { code, err } = await run(["serve"], { PRESAGE_PORT: "x", PRESAGE_DEBUG_FIELDS: "maybe" });
  expect(code).toBe(1);
  expect(err.trimEnd().split("\n")).toEqual([
    'PRESAGE_PORT: got "x"; expected a whole number from 0 to 65535',
    'PRESAGE_DEBUG_FIELDS: got "maybe"; expected true or false',
  ]);
});

test("keys are created, listed and revoked", async () => {
  const environment = { PRESAGE_DATABASE_URL: `sqlite:${join(directory, "keys.db")}` };
  const made = await run(["keys", "create", "--name", "training"], environment);
  expect(made.out.trim()).toMatch(/^psg_[0-9A-Za-z]{38}$/);
  const { out: list } = await run(["keys", "list"], environment);
  const [id = ""] = list.split(" ");
  expect(list).toContain("training");
  expect((await run(["keys", "revoke", id], environment)).code).toBe(0);
  expect((await run(["keys", "list"], environment)).out).toContain("revoked");
  expect(await run(["keys", "revoke", crypto.randomUUID()], environment)).toMatchObject({ code: 1 });
});

test("commands on an in-memory database are refused, since what they print could never work", async () => {
  for (const command of [
    ["keys", "create", "--name", "training"],
    ["sign-in"],
    ["users", "end", "ada@example.org"],
  ]) {
    const { code, out, err } = await run(command, { PRESAGE_DATABASE_URL: "sqlite::memory:" });
    expect([code, out]).toEqual([1, ""]);
    expect(err).toMatch(/^PRESAGE_DATABASE_URL is sqlite::memory:, .*\n$/);
  }
});

describe("predict", () => {
  test("one state and action give one state, from the sandbox if no upstream is configured", async () => {
    const { code, out } = await run([
      "predict",
      "--state",
      "The fridge is closed.",
      "--action",
      "open fridge",
    ]);
    expect([code, out]).toEqual([0, "You open the fridge.\n"]);
  });

  test("a configured proxy is not used for the sandbox on this machine", async () => {
    const proxy = { HTTP_PROXY: "http://127.0.0.1:1" };
    expect((await run(["predict", "--state", "calm", "--action", "wait"], proxy)).code).toBe(0);
  });

  test("a file gives one output line for each input line, failures included, and a summary", async () => {
    echoState();
    const file = join(directory, "some.jsonl");
    const out = join(directory, "some.out.jsonl");
    await Bun.write(
      file,
      [
        transition(0, "state 0"),
        "no json",
        '{"interaction":{"state":""}}',
        transition(1, "other"),
        "",
        transition(2),
      ].join("\n"),
    );
    const result = await run(["predict", "--file", file, "--out", out, "--concurrency", "2"], {
      PRESAGE_UPSTREAM_URL: upstream.url,
    });
    expect(result.code).toBe(1);
    const lines = await linesOf(out);
    expect(lines.map(({ line }) => line)).toEqual([1, 2, 3, 4, 6]);
    expect(lines[0]).toMatchObject({
      step: 0,
      exact_match: true,
      prediction: { response: { content: "state 0" } },
    });
    expect(lines[1]).toMatchObject({ error: { category: "invalid" } });
    expect(lines[2]).toMatchObject({
      error: { category: "invalid", detail: expect.stringContaining("interaction.action") },
    });
    expect(lines[3]).toMatchObject({ exact_match: false });
    expect(lines[4]).not.toHaveProperty("exact_match");
    expect(result.err).toContain("3 predictions, 2 failures");
    expect(result.err).toContain("exact match: 1 of 2 (50.0 %)");
  });

  test("a second run predicts only lines that failed, were cut off or have changed", async () => {
    echoState();
    const file = join(directory, "again.jsonl");
    const out = join(directory, "again.out.jsonl");
    await Bun.write(file, [0, 1, 2, 3].map((step) => transition(step, `state ${step}`)).join("\n"));
    const environment = { PRESAGE_UPSTREAM_URL: upstream.url, PRESAGE_UPSTREAM_MODEL: "m" };
    const echo = upstream.answer;
    upstream.answer = (received, request) =>
      received.text.includes("state 1") ? new Response("", { status: 500 }) : echo(received, request);
    expect((await run(["predict", "--file", file, "--out", out], environment)).code).toBe(1);
    const written = await Bun.file(out).text();
    await Bun.write(out, written.slice(0, -20));
    await Bun.write(file, [0, 1, 9, 3].map((step) => transition(step, `state ${step}`)).join("\n"));
    upstream.answer = echo;
    upstream.received.length = 0;
    const second = await run(["predict", "--file", file, "--out", out], environment);
    expect(second.code).toBe(0);
    expect(second.err).toContain("4 predictions, 0 failures (3 requested");
    expect(second.err).toContain("exact match: 4 of 4");
    expect(upstream.received).toHaveLength(3);
    expect((await linesOf(out)).map(({ line }) => line).sort()).toEqual([1, 2, 3, 4]);
  });

  test("a file that it did not write is left unchanged", async () => {
    const file = join(directory, "precious.jsonl");
    const notes = join(directory, "notes.txt");
    await Bun.write(file, `${transition(0)}\n`);
    await Bun.write(notes, "Dear diary\nnothing happened\n");
    for (const out of [file, notes]) {
      expect(
        (await run(["predict", "--file", file, "--out", out], { PRESAGE_UPSTREAM_URL: upstream.url })).code,
      ).toBe(1);
    }
    expect(await Bun.file(file).text()).toBe(`${transition(0)}\n`);
    expect(await Bun.file(notes).text()).toBe("Dear diary\nnothing happened\n");
  });

  test("--server names another Presage, whose errors are reported", async () => {
    echoState();
    const presage = await startPresage({ PRESAGE_UPSTREAM_URL: upstream.url });
    const args = ["predict", "--state", "calm", "--action", "wait", "--server", presage.url];
    expect(await run(args, { PRESAGE_API_KEY: testKey })).toMatchObject({ code: 0, out: "calm\n" });
    const refused = await run(args, { PRESAGE_API_KEY: "wrong" });
    expect([refused.code, refused.err]).toEqual([
      1,
      `${presage.url} rejects the API key in PRESAGE_API_KEY\n`,
    ]);
    await presage.stop();
  });

  test("a server that answers 503 is called again", async () => {
    const answers = [
      () => Response.json({ detail: "overloaded" }, { status: 503, headers: { "retry-after": "0" } }),
      () => Response.json({ response: { content: "calm" } }),
    ];
    await using server = Bun.serve({ port: 0, fetch: () => answers.shift()?.() ?? Response.error() });
    const args = ["predict", "--state", "calm", "--action", "wait", "--server", server.url.href];
    expect(await run(args, { PRESAGE_API_KEY: testKey })).toMatchObject({ code: 0, out: "calm\n" });
  });

  test.each([
    ["localhost:8080", "--server: baseUrl must be an http or https URL.\n"],
    ["http://127.0.0.1:1", "http://127.0.0.1:1: Presage cannot be reached.\n"],
  ])("--server %s ends the command with one line", async (server, line) => {
    const args = ["predict", "--state", "calm", "--action", "wait", "--server", server];
    expect(await run(args, { PRESAGE_API_KEY: testKey })).toEqual({ code: 1, out: "", err: line });
  });
});
