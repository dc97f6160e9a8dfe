import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startPresage, type TestPresage, testKey } from "../support/presage/presage.ts";
import { type Ran, runPresage } from "../support/presage/run-presage.ts";
import { evaluationResultsClient } from "../support/resources/evaluation-results.ts";
import { completion, startUpstream, type TestUpstream } from "../support/upstream/upstream.ts";

let directory: string;
let upstream: TestUpstream;
let presage: TestPresage;
const { search } = evaluationResultsClient(() => presage);

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "presage-evaluate-"));
  upstream = startUpstream();
  presage = await startPresage({
    PRESAGE_UPSTREAM_URL: upstream.url,
    PRESAGE_DATABASE_URL: `sqlite:${join(directory, "presage.db")}`,
  });
});
afterAll(async () => {
  await presage.stop();
  await upstream.stop();
  await rm(directory, { recursive: true });
});

/** Writes lines to a new file and returns its path. */
async function fileOf(lines: unknown[]): Promise<string> {
  const path = join(directory, `${crypto.randomUUID()}.jsonl`);
  await Bun.write(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  return path;
}

async function linesOf(path: string): Promise<Record<string, unknown>[]> {
  const text = (await Bun.file(path).text()).trimEnd();
  return text.split("\n").map((line) => JSON.parse(line) as Record<string, unknown>);
}

/** Runs the command on the database that the tests search. */
function evaluate(file: string, ...more: string[]): Promise<Ran> {
  const url = `sqlite:${join(directory, "presage.db")}`;
  return runPresage(["evaluate", "--file", file, ...more], {
    PRESAGE_DATABASE_URL: url,
    PRESAGE_UPSTREAM_URL: upstream.url,
  });
}

const sample = (output: string, gold: string) => ({
  evaluated_model_output: output,
  evaluated_model_gold_answer: gold,
});

test("evaluates every line, stores the results and prints a table at the end", async () => {
  const file = await fileOf([sample("a", "a"), sample("a", "b"), sample("b", "b"), sample("c", "c")]);
  const out = `${file}.out`;
  const ran = await evaluate(
    file,
    ...["--evaluator", "exact-match", "--evaluator", "contains=system:default"],
    ...["--out", out, "--app", "cli", "--tag", "model=m 1", "--run-id", "run-1"],
  );
  expect([ran.code, ran.stdout]).toEqual([0, ""]);
  expect(ran.stderr).toMatch(/exact-match-\S+ system:default +│ 4 +│ 3 +│ 75\.0 % +│ 30\.1 % – 95\.4 %/);
  const lines = await linesOf(out);
  expect(lines.map(({ line, evaluation_run_id }) => [line, evaluation_run_id])).toEqual([
    [1, "run-1"],
    [2, "run-1"],
    [3, "run-1"],
    [4, "run-1"],
  ]);
  const results = await search({ app: "cli", evaluation_run_id: "run-1", evaluator_family: "exact-match" });
  const bySample = new Map(results.map((result) => [result.dataset_sample_id, result]));
  expect([1, 2, 3, 4].map((line) => bySample.get(line)?.pass)).toEqual([true, false, true, true]);
  expect(results[0]?.tags).toEqual({ model: "m 1" });
});

test("reads the output of presage predict", async () => {
  const line = {
    interaction: { state: "closed", action: "open" },
    next_state: "open",
    prediction: { response: { content: "open" } },
  };
  const ran = await evaluate(await fileOf([line]), "--evaluator", "exact-match", "--app", "predicted");
  expect(ran.code).toBe(0);
  expect((await search({ app: "predicted" }))[0]).toMatchObject({
    pass: true,
    evaluated_model_input: "State: closed\n\nAction: open",
  });
});

test("resumes where it stopped: retries what failed and stores nothing twice", async () => {
  const file = await fileOf([sample("a", "a"), sample("b", "b")]);
  const out = `${file}.out`;
  const judged = [
    "--evaluator",
    "exact-match",
    "--evaluator",
    "judge=system:is-concise",
    "--out",
    out,
    "--app",
    "again",
  ];
  upstream.answer = () => new Response("no", { status: 500 });
  const first = await evaluate(file, ...judged);
  expect(first.code).toBe(1);
  expect(first.stderr).toMatch(/judge-\S+ system:is-concise +│ 2 +│ 0 +│ – +│ – +│ – +│ 2 /);
  const verdict = JSON.stringify({ reasoning: "It is short.", verdict: "pass" });
  upstream.answer = () => Response.json(completion(verdict));
  expect((await evaluate(file, ...judged)).code).toBe(0);
  expect((await evaluate(file, ...judged)).stderr).toContain("0 lines in");
  const kept = await search({ app: "again" });
  expect(kept.map(({ evaluator_family }) => evaluator_family).toSorted()).toEqual([
    "exact-match",
    "exact-match",
    "judge",
    "judge",
  ]);
  expect(await search({ app: "again", status: "failed" })).toHaveLength(2);
  expect(new Set(kept.map(({ evaluation_run_id }) => evaluation_run_id)).size).toBe(1);
});

test("with --min-pass-rate exits with 2 if the pass rate is too low", async () => {
  const file = await fileOf([sample("a", "a"), sample("a", "b")]);
  const evaluator = ["--evaluator", "exact-match"];
  expect((await evaluate(file, ...evaluator, "--min-pass-rate", "0.5")).code).toBe(0);
  expect((await evaluate(file, ...evaluator, "--min-pass-rate", "0.51")).code).toBe(2);
});

test("a failed evaluation does not count as a pass: exit 1", async () => {
  const file = await fileOf([sample("a", "a"), { evaluated_model_output: "a" }]);
  const ran = await evaluate(file, "--evaluator", "exact-match", "--min-pass-rate", "0.5");
  expect(ran.code).toBe(1);
});

test.each([
  [[], "error: required option '--evaluator <name[=profile]>' not specified"],
  [["--evaluator", "judge"], "--evaluator judge: name a profile, as FAMILY=PROFILE"],
  [["--evaluator", "exact-match", "--min-pass-rate", "2"], "--min-pass-rate takes a number from 0 to 1"],
  [["--evaluator", "exact-match", "--tag", "x"], "--tag takes NAME=VALUE"],
  [["--evaluator", "exact-match", "--server", "http://x"], "--server needs an API key in PRESAGE_API_KEY"],
])("refuses %j in one line", async (options, line) => {
  const ran = await evaluate(await fileOf([sample("a", "a"), sample("b", "b")]), ...options);
  expect([ran.code, ran.stderr]).toEqual([1, `${line}\n`]);
});

test("an unknown evaluator ends the command with a list of the known ones", async () => {
  const ran = await evaluate(await fileOf([sample("a", "a"), sample("b", "b")]), "--evaluator", "exact-mach");
  expect(ran.code).toBe(1);
  expect(ran.stderr).toStartWith(
    "--evaluator exact-mach: Unknown evaluator; available: exact-match, contains, ",
  );
});

test("an output file with outcomes of other evaluators is left unchanged", async () => {
  const file = await fileOf([sample("a", "a")]);
  const out = `${file}.out`;
  await evaluate(file, "--evaluator", "exact-match", "--out", out);
  const before = await Bun.file(out).text();
  const ran = await evaluate(file, "--evaluator", "contains", "--out", out);
  expect([ran.code, ran.stderr]).toEqual([
    1,
    `${out} contains evaluations by exact-match; name another file. Nothing was changed.\n`,
  ]);
  expect(await Bun.file(out).text()).toBe(before);
});

test("an empty file does not reach the minimum pass rate", async () => {
  const ran = await evaluate(await fileOf([]), "--evaluator", "exact-match", "--min-pass-rate", "0.5");
  expect(ran.code).toBe(1);
});

test("a judge sees the context that predict --keep-context wrote", async () => {
  const transition = {
    context: { task_context: "Find the lamp." },
    interaction: { state: "dark", action: "look" },
  };
  upstream.answer = () => Response.json(completion("a lamp"));
  const out = `${await fileOf([])}.predicted`;
  await runPresage(["predict", "--file", await fileOf([transition]), "--out", out, "--keep-context"], {
    PRESAGE_UPSTREAM_URL: upstream.url,
  });
  upstream.answer = () =>
    Response.json(completion(JSON.stringify({ reasoning: "It is short.", verdict: "pass" })));
  const ran = await evaluate(out, "--evaluator", "judge=system:is-concise", "--app", "context");
  expect(ran.code).toBe(0);
  expect((await search({ app: "context" }))[0]).toMatchObject({
    evaluated_model_system_prompt: "## TASK CONTEXT\nFind the lamp.",
    evaluated_model_output: "a lamp",
  });
});

test("with --server another Presage evaluates, and its rejections end the command", async () => {
  const file = await fileOf([sample("a", "a"), sample("a", "b")]);
  const remotely = (key: string, ...more: string[]) =>
    runPresage(["evaluate", "--file", file, "--server", `${presage.url}/v1`, ...more], {
      PRESAGE_API_KEY: key,
    });
  const ran = await remotely(testKey, "--evaluator", "exact-match", "--app", "remote");
  expect(ran.code).toBe(0);
  expect((await search({ app: "remote" })).map(({ pass }) => pass).toSorted()).toEqual([false, true]);
  expect(await remotely("wrong", "--evaluator", "exact-match")).toMatchObject({
    code: 1,
    stderr: `${presage.url}/v1 rejects the API key in PRESAGE_API_KEY\n`,
  });
  const unknown = await remotely(testKey, "--evaluator", "nothing");
  expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining("Unknown evaluator")]);
});

test("a line that a server answers with 503 is sent again, and evaluated once", async () => {
  let requests = 0;
  const relay = Bun.serve({
    port: 0,
    async fetch(request) {
      requests += 1;
      const { pathname } = new URL(request.url);
      const { method, headers } = request;
      const response = await fetch(presage.url + pathname, { method, headers, body: await request.text() });
      if (requests > 1) return response;
      return new Response("{}", { status: 503, headers: { "retry-after": "0" } });
    },
  });
  const ran = await runPresage(
    [
      ...["evaluate", "--file", await fileOf([sample("a", "a")]), "--evaluator", "exact-match"],
      ...["--app", "retried", "--server", relay.url.href],
    ],
    { PRESAGE_API_KEY: testKey },
  );
  expect([ran.code, requests]).toEqual([0, 2]);
  expect(await search({ app: "retried" })).toHaveLength(1);
  await relay.stop(true);
});
