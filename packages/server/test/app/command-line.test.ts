import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually } from "../support/eventually.ts";
import { killAfterTests } from "../support/presage/child-processes.ts";
import { mainFile, presageCommand } from "../support/presage/main-file.ts";
import { startPresage, testKey } from "../support/presage/presage.ts";
import { runPresage, runPresageProcess } from "../support/presage/run-presage.ts";
import { completion, startUpstream } from "../support/upstream/upstream.ts";

const upstream = startUpstream();
let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "presage-cli-"));
});
afterAll(async () => {
  await upstream.stop();
  await rm(directory, { recursive: true });
});

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

test.each([
  [["--help"], 1],
  [["keys", "list"], 1],
  [["predict", "--state", "calm", "--action", "wait"], 1],
  [["predict", "--state", "calm", "--action", "wait", "--concurrency", "257"], 2],
  [["serve"], 2],
  [[], 2],
])(
  "%j starts the process %d time(s): it is restarted only where Bun's settings are needed",
  async (args, starts) => {
    const count = join(directory, `${crypto.randomUUID()}.ts`);
    await Bun.write(count, 'process.stderr.write("started\\n");');
    const { stderr } = Bun.spawnSync([process.execPath, "--preload", count, mainFile, ...args], {
      env: { PATH: process.env.PATH ?? "", PRESAGE_PORT: "x" },
    });
    expect(stderr.toString().match(/^started$/gm)).toHaveLength(starts);
  },
);

test("config shows the effective values and hides secrets", async () => {
  const secrets = {
    PRESAGE_UPSTREAM_API_KEY: "upstream-secret",
    PRESAGE_DATABASE_URL: "postgres://me:pass-word@db/presage",
  };
  const { stdout } = await runPresage(["config"], { ...secrets, PRESAGE_PORT: "9999" });
  expect(stdout).toMatch(/PRESAGE_PORT=9999 +# set/);
  expect(stdout).toMatch(/PRESAGE_HOST=127\.0\.0\.1 +# default/);
  expect(stdout).toMatch(/PRESAGE_UPSTREAM_MODEL= +# not set/);
  expect(stdout).not.toContain("upstream-secret");
  expect(stdout).not.toContain("pass-word");
});

test("config shows what follows from other variables, with where it is from", async () => {
  const { stdout } = await runPresage(["config"], {
    PRESAGE_RATE_LIMIT_RPM: "6",
    PRESAGE_HOST: "0.0.0.0",
    PRESAGE_UPSTREAM_URL: "http://gpu:8000/v1",
  });
  expect(stdout).toMatch(/PRESAGE_RATE_LIMIT_USER_RPM=60 +# derived/);
  expect(stdout).toMatch(/PRESAGE_PUBLIC_URL=http:\/\/localhost:8080 +# derived/);
  expect(stdout).toMatch(/PRESAGE_JUDGE_URL=http:\/\/gpu:8000\/v1 +# derived/);
  expect(stdout).toMatch(/PRESAGE_MEMORY_BUDGET_BYTES=\d+ +# derived/);
});

test("config --json has one variable a line", async () => {
  const { stdout } = await runPresage(["config", "--json"], { PRESAGE_PORT: "9999" });
  const variables = stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(variables).toContainEqual({ name: "PRESAGE_PORT", value: "9999", from: "set" });
});

test.each(["config", "keys list", "predict --state calm --action wait"])(
  "%s warns of a misspelt variable",
  async (command) => {
    const { stderr } = await runPresage(command.split(" "), {
      PRESAGE_UPSTREM_URL: "http://gpu:8000/v1",
      PRESAGE_DATABASE_URL: `sqlite:${join(directory, "misspelt.db")}`,
    });
    expect(stderr).toContain(
      "PRESAGE_UPSTREM_URL is unknown and has no effect; did you mean PRESAGE_UPSTREAM_URL?\n",
    );
  },
);

test.each([
  ["| true", ""],
  ["> /dev/full", "The output cannot be written: ENOSPC: no space left on device, write\n"],
])("a command whose output cannot be written ends: %s", async (output, said) => {
  const { PATH = "" } = process.env;
  const child = Bun.spawn(["sh", "-c", `"${process.execPath}" "${mainFile}" config ${output}`], {
    env: { PATH },
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, err] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  expect([out, err]).toEqual(["", said]);
});

test("an invalid environment stops a command with one line per variable", async () => {
  const { code, stderr } = await runPresage(["serve"], { PRESAGE_PORT: "x", PRESAGE_DEBUG_FIELDS: "maybe" });
  expect(code).toBe(1);
  expect(stderr.trimEnd().split("\n")).toEqual([
    'PRESAGE_PORT: got "x"; expected a whole number from 0 to 65535',
    'PRESAGE_DEBUG_FIELDS: got "maybe"; expected true or false',
  ]);
});

test("commands on an in-memory database are refused, since what they print could never work", async () => {
  for (const command of [
    ["keys", "create", "--name", "training"],
    ["sign-in"],
    ["users", "end", "ada@example.org"],
  ]) {
    const { code, stdout, stderr } = await runPresage(command, { PRESAGE_DATABASE_URL: "sqlite::memory:" });
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(/^PRESAGE_DATABASE_URL is sqlite::memory:, .*\n$/);
  }
});

describe("predict", () => {
  test("one state and action give one state, from the sandbox if no upstream is configured", async () => {
    const { code, stdout } = await runPresage([
      "predict",
      "--state",
      "The fridge is closed.",
      "--action",
      "open fridge",
    ]);
    expect([code, stdout]).toEqual([0, "You open the fridge.\n"]);
  });

  test("a configured proxy is not used for the sandbox on this machine", async () => {
    const proxy = { HTTP_PROXY: "http://127.0.0.1:1" };
    const args = ["predict", "--state", "calm", "--action", "wait"];
    expect((await runPresageProcess(args, proxy)).code).toBe(0);
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
    const result = await runPresage(["predict", "--file", file, "--out", out, "--concurrency", "2"], {
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
      error: {
        category: "invalid",
        detail:
          "interaction.state: String should have at least 1 character; interaction.action: Field required",
      },
    });
    expect(lines[3]).toMatchObject({ exact_match: false });
    expect(lines[4]).not.toHaveProperty("exact_match");
    expect(result.stderr).toContain("3 predictions, 2 failures");
    expect(result.stderr).toContain("exact match: 1 of 2 (50.0 %)");
    expect(result.stderr).toContain(
      "Failures:\n  line 2: the line is not JSON\n  line 3: interaction.state: ",
    );
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
    expect((await runPresage(["predict", "--file", file, "--out", out], environment)).code).toBe(1);
    const written = await Bun.file(out).text();
    await Bun.write(out, written.slice(0, -20));
    await Bun.write(file, [0, 1, 9, 3].map((step) => transition(step, `state ${step}`)).join("\n"));
    upstream.answer = echo;
    upstream.received.length = 0;
    const second = await runPresage(["predict", "--file", file, "--out", out], environment);
    expect(second.code).toBe(0);
    expect(second.stderr).toContain("4 predictions, 0 failures (3 requested");
    expect(second.stderr).toContain("exact match: 4 of 4");
    expect(upstream.received).toHaveLength(3);
    expect((await linesOf(out)).map(({ line }) => line).sort()).toEqual([1, 2, 3, 4]);
  });

  test("only a line feed ends a line, in what is read and what is resumed, and an id is never rounded", async () => {
    upstream.answer = () => Response.json(completion("a\u2028b\u2029c"));
    const file = join(directory, "separators.jsonl");
    const out = join(directory, "separators.out.jsonl");
    const spaced = transition(1).replace(":", ":\r");
    const rounded = transition(2).replace('"step":2', '"trajectory_id":9007199254740993');
    await Bun.write(file, `\ufeff${transition(0, "a\u2028b")}\r\n${spaced}\n${rounded}\n`);
    const args = ["predict", "--file", file, "--out", out];
    const environment = { PRESAGE_UPSTREAM_URL: upstream.url };
    for (const requested of [3, 1])
      expect(await runPresage(args, environment)).toMatchObject({
        code: 1,
        stderr: expect.stringContaining(`2 predictions, 1 failure (${requested} requested`),
      });
    expect(await linesOf(out)).toMatchObject([
      { line: 1, next_state: "a\u2028b", prediction: { response: { content: "a\u2028b\u2029c" } } },
      { line: 2, step: 1 },
      { line: 3, error: { detail: expect.stringContaining("trajectory_id: an integer beyond 2^53") } },
    ]);
  });

  test("what is paid for is kept on Ctrl-C, also behind a line that is not answered yet", async () => {
    const held = Promise.withResolvers<void>();
    upstream.received.length = 0;
    upstream.answer = async ({ text }) => {
      if (text.includes("state 0")) await held.promise;
      return Response.json(completion("an answer"));
    };
    const file = join(directory, "held.jsonl");
    const out = join(directory, "held.out.jsonl");
    await Bun.write(file, [0, 1, 2, 3].map((step) => transition(step)).join("\n"));
    const child = Bun.spawn(
      [...presageCommand, "predict", "--file", file, "--out", out, "--concurrency", "2"],
      {
        env: { PATH: process.env.PATH ?? "", PRESAGE_UPSTREAM_URL: upstream.url },
        stdin: "ignore",
        stdout: "ignore",
        stderr: "pipe",
      },
    );
    killAfterTests(child);
    // With two calls at a time, one of them held, the last is asked for once the others have answers.
    await eventually(
      () => upstream.received.length,
      (asked) => asked === 4,
    );
    child.kill("SIGINT");
    expect(await child.exited).toBe(130);
    held.resolve();
    expect(await child.stderr.text()).toBe("Stopped. The same command resumes where it stopped.\n");
    expect((await linesOf(out)).slice(0, 2)).toMatchObject([{ line: 2 }, { line: 3 }]);
  });

  test("a file that it did not write is left unchanged", async () => {
    const file = join(directory, "precious.jsonl");
    const notes = join(directory, "notes.txt");
    await Bun.write(file, `${transition(0)}\n`);
    await Bun.write(notes, "Dear diary\nnothing happened\n");
    for (const out of [file, notes]) {
      expect(
        (await runPresage(["predict", "--file", file, "--out", out], { PRESAGE_UPSTREAM_URL: upstream.url }))
          .code,
      ).toBe(1);
    }
    expect(await Bun.file(file).text()).toBe(`${transition(0)}\n`);
    expect(await Bun.file(notes).text()).toBe("Dear diary\nnothing happened\n");
    const pipe = join(directory, "pipe");
    Bun.spawnSync(["mkfifo", pipe]);
    const piped = await runPresage(["predict", "--file", file, "--out", pipe], {});
    expect([piped.code, piped.stderr]).toEqual([1, expect.stringContaining("is not a regular file")]);
  });

  test("--server names another Presage, whose errors are reported", async () => {
    echoState();
    const presage = await startPresage({ PRESAGE_UPSTREAM_URL: upstream.url });
    const args = ["predict", "--state", "calm", "--action", "wait", "--server", presage.url];
    expect(await runPresage(args, { PRESAGE_API_KEY: testKey })).toMatchObject({ code: 0, stdout: "calm\n" });
    const refused = await runPresage(args, { PRESAGE_API_KEY: "wrong" });
    expect([refused.code, refused.stderr]).toEqual([
      1,
      `${presage.url} rejects the API key in PRESAGE_API_KEY\n`,
    ]);
    const file = join(directory, "remote.jsonl");
    await Bun.write(file, `${transition(0)}\n${transition(1)}\n`);
    const ofFile = ["predict", "--file", file, "--server", presage.url];
    expect(await runPresage(ofFile, { PRESAGE_API_KEY: "wrong" })).toEqual({ ...refused, stdout: "" });
    expect((await runPresage(ofFile, { PRESAGE_API_KEY: testKey })).stderr).toContain(
      "2 predictions, 0 failures",
    );
    await presage.stop();
  });

  test("a server that is not Presage is named, not a fault of the command", async () => {
    await using server = Bun.serve({ port: 0, fetch: () => Response.json({ ok: true }) });
    const args = ["worlds", "list", "--server", server.url.origin];
    const { code, stderr } = await runPresage(args, { PRESAGE_API_KEY: testKey });
    expect([code, stderr]).toEqual([1, `${server.url.origin} does not answer as Presage does\n`]);
    const predicting = ["predict", "--state", "calm", "--action", "wait", "--server", server.url.origin];
    expect((await runPresage(predicting, { PRESAGE_API_KEY: testKey })).stderr).toBe(stderr);
  });

  test("a server that answers 503 is called again", async () => {
    const answers = [
      () => Response.json({ detail: "overloaded" }, { status: 503, headers: { "retry-after": "0" } }),
      () => Response.json({ response: { content: "calm" } }),
    ];
    await using server = Bun.serve({ port: 0, fetch: () => answers.shift()?.() ?? Response.error() });
    const args = ["predict", "--state", "calm", "--action", "wait", "--server", server.url.href];
    expect(await runPresage(args, { PRESAGE_API_KEY: testKey })).toMatchObject({ code: 0, stdout: "calm\n" });
  });

  test("--server without a scheme names a server on this machine", async () => {
    await using server = Bun.serve({
      port: 0,
      fetch: () => Response.json({ response: { content: "calm" } }),
    });
    const args = ["predict", "--state", "calm", "--action", "wait", "--server", `localhost:${server.port}`];
    expect(await runPresage(args, { PRESAGE_API_KEY: testKey })).toMatchObject({ code: 0, stdout: "calm\n" });
  });

  test.each([
    ["ftp://127.0.0.1", "--server: baseUrl must be an http or https URL.\n"],
    ["http://127.0.0.1:1", "Presage cannot be reached at http://127.0.0.1:1.\n"],
    ["127.0.0.1:1", "Presage cannot be reached at http://127.0.0.1:1.\n"],
    [
      "gpu.invalid:8080",
      "Presage cannot be reached at https://gpu.invalid:8080. If it serves plain HTTP, use --server http://gpu.invalid:8080.\n",
    ],
  ])("--server %s ends the command with one line", async (server, line) => {
    const args = ["predict", "--state", "calm", "--action", "wait", "--server", server];
    expect(await runPresage(args, { PRESAGE_API_KEY: testKey })).toEqual({
      code: 1,
      stdout: "",
      stderr: line,
    });
  });

  test("an upstream that cannot be reached is named", async () => {
    const { code, stderr } = await runPresage(["predict", "--state", "calm", "--action", "wait"], {
      PRESAGE_UPSTREAM_URL: "http://127.0.0.1:1/v1",
      PRESAGE_UPSTREAM_MODEL: "m",
      PRESAGE_UPSTREAM_RETRIES: "0",
    });
    expect([code, stderr]).toEqual([1, "http://127.0.0.1:1/v1: The upstream cannot be reached.\n"]);
  });

  test.each([
    [[], "predict needs --state and --action, or --file\n"],
    [["--state", "calm"], "predict needs --state and --action, or --file\n"],
    [["--state", "", "--action", "wait"], "--state: String should have at least 1 character\n"],
    [
      ["--state", "calm", "--action", "wait", "--params", '{"temperature": "hot"}'],
      "--params temperature: Input should be a valid number\n",
    ],
    [["--file", "nowhere.jsonl"], "There is no file nowhere.jsonl\n"],
    [["--state", "calm", "--action", "wait", "--out", "x"], "--out needs --file\n"],
    [
      ["--file", "nowhere.jsonl", "--params", "{}"],
      "--file cannot be combined with --params, which a line has itself\n",
    ],
  ])("%j are refused before anything else is said", async (options, line) => {
    expect(await runPresage(["predict", ...options])).toEqual({ code: 1, stdout: "", stderr: line });
  });

  test.each([
    [["predict", "--state", "calm", "--action", "wait", "--context", "{"], "--context takes JSON\n"],
    [["predict", "--file", import.meta.path, "--out", import.meta.path], "--out would overwrite --file\n"],
    [
      ["predict", "--file", import.meta.path, "--out", "no-folder/out.jsonl"],
      "The directory of no-folder/out.jsonl does not exist\n",
    ],
    [["keys", "create", "--name", ""], "--name takes 1 to 120 characters\n"],
    [
      ["keys", "create", "--name", "a", "--scopes", "fly"],
      "--scopes takes one or more of predict, evaluate, read, manage, separated by commas\n",
    ],
    [["users", "add", ""], "The name takes 1 to 200 characters.\n"],
    [["users", "add", "ada", "--email", "ada"], "--email takes an e-mail address.\n"],
    [
      ["audit", "--from", "yesterday"],
      "--from takes a date such as 2027-01-31, or a date-time such as 2027-01-31T12:00:00Z\n",
    ],
  ])("%j say what is wrong in one line", async (args, line) => {
    expect(await runPresage(args)).toEqual({ code: 1, stdout: "", stderr: line });
  });

  test("more concurrent requests than Bun allows are allowed, or the limit is named", async () => {
    echoState();
    const file = join(directory, "concurrent.jsonl");
    await Bun.write(file, transition(0));
    const args = ["predict", "--file", file, "--concurrency", "300"];
    const environment = { PRESAGE_UPSTREAM_URL: upstream.url, PRESAGE_UPSTREAM_MODEL: "m" };
    expect((await runPresageProcess(args, environment)).stderr).not.toContain("requests are sent at a time");
    const limited = await runPresage(args, { ...environment, BUN_CONFIG_MAX_HTTP_REQUESTS: "100" });
    expect(limited.stderr).toStartWith(
      "Only 100 requests are sent at a time; for 300, set BUN_CONFIG_MAX_HTTP_REQUESTS=300.\n",
    );
  });
});
