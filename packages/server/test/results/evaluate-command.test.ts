import { expect, test } from "bun:test";
import { testKey } from "../support/presage/presage.ts";
import { runPresage } from "../support/presage/run-presage.ts";
import { sampleLine, useEvaluateCommand } from "../support/presage/use-evaluate-command.ts";
import { evaluationResultsClient } from "../support/resources/evaluation-results.ts";
import { completion } from "../support/upstream/upstream.ts";

const command = useEvaluateCommand();
const { search } = evaluationResultsClient(() => command.presage);

async function linesOf(path: string): Promise<Record<string, unknown>[]> {
  const text = (await Bun.file(path).text()).trimEnd();
  return text.split("\n").map((line) => JSON.parse(line) as Record<string, unknown>);
}

test("evaluates every line, stores the results and prints a table at the end", async () => {
  const file = await command.fileOf([
    sampleLine("a", "a"),
    sampleLine("a", "b"),
    sampleLine("b", "b"),
    sampleLine("c", "c"),
  ]);
  const out = `${file}.out`;
  const ran = await command.evaluate(
    file,
    ...["--evaluator", "exact-match", "--evaluator", "contains=system:default"],
    ...["--out", out, "--app", "cli", "--tag", "model=m 1", "--run-id", "run-1"],
  );
  expect([ran.code, ran.stdout]).toEqual([0, ""]);
  expect(ran.stderr).toMatch(/^exact-match system:default +3\/4 +75\.0 % +13\.5 – 98\.3 % +0\.750 +0$/m);
  expect(ran.stderr).toEndWith(
    `Run run-1, in the dashboard:\n  ${command.presage.url}/evaluations?run=run-1\n`,
  );
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

test("names the run's path where no server runs on the database, and neither where nobody can see it", async () => {
  const file = await command.fileOf([sampleLine("a", "a")]);
  const args = ["evaluate", "--file", file, "--evaluator", "exact-match", "--run-id", "run 1"];
  // A server on another database has the port.
  const PRESAGE_PORT = new URL(command.presage.url).port;
  const created = await runPresage(args, { PRESAGE_PORT, PRESAGE_DATABASE_URL: `sqlite:${file}.db` });
  expect(created.code).toBe(0);
  expect(created.stderr).toEndWith("Run run 1. Start the server to see it at\n  /evaluations?run=run%201\n");
  const inMemory = await runPresage(args, { PRESAGE_PORT, PRESAGE_DATABASE_URL: "sqlite::memory:" });
  expect(inMemory.stderr).toEndWith("\nRun run 1\n");
});

test("keeps a line's place in its trajectory, and names dataset and model", async () => {
  const lines = [
    { trajectory_id: "t-1", step: 0, ...sampleLine("a", "a") },
    { trajectory_id: 7, step: 1, dataset_id: "of the line", tags: { seed: "1" }, ...sampleLine("a", "a") },
    { evaluated_model_name: "of the line", ...sampleLine("a", "a") },
  ];
  const options = ["--evaluator", "exact-match", "--dataset", "sciworld", "--tag", "split=test"];
  const file = await command.fileOf(lines);
  const out = `${file}.out`;
  expect((await command.evaluate(file, ...options, "--app", "placed", "--out", out)).code).toBe(0);
  expect((await linesOf(out)).map(({ trajectory_id, step }) => [trajectory_id, step])).toEqual([
    ["t-1", 0],
    [7, 1],
    [undefined, undefined],
  ]);
  const named = ["--model", "world-1", "--server", command.presage.url];
  const ran = await runPresage(
    ["evaluate", "--file", file, ...options, ...named, "--app", "placed-remotely"],
    {
      PRESAGE_API_KEY: testKey,
    },
  );
  expect(ran.code).toBe(0);
  const placed = async (app: string) => {
    const results = (await search({ app })).toSorted(
      (one, other) => Number(one.dataset_sample_id) - Number(other.dataset_sample_id),
    );
    return results.map(({ dataset_id, evaluated_model_name, tags }) => [
      dataset_id,
      evaluated_model_name,
      tags,
    ]);
  };
  const first = { trajectory_id: "t-1", step: "0", split: "test" };
  const second = { trajectory_id: "7", step: "1", seed: "1", split: "test" };
  const third = { split: "test" };
  expect(await placed("placed")).toEqual([
    ["sciworld", null, first],
    ["sciworld", null, second],
    ["sciworld", "of the line", third],
  ]);
  expect(await placed("placed-remotely")).toEqual(
    [first, second, third].map((tags) => ["sciworld", "world-1", tags]),
  );
});

test("reads the output of presage predict", async () => {
  const line = {
    interaction: { state: "closed", action: "open" },
    next_state: "open",
    prediction: { response: { content: "open" } },
  };
  const ran = await command.evaluate(
    await command.fileOf([line]),
    "--evaluator",
    "exact-match",
    "--app",
    "predicted",
  );
  expect(ran.code).toBe(0);
  expect((await search({ app: "predicted" }))[0]).toMatchObject({
    pass: true,
    evaluated_model_input: "State: closed\n\nAction: open",
  });
});

test("resumes where it stopped: retries what failed and stores nothing twice", async () => {
  const file = await command.fileOf([sampleLine("a", "a"), sampleLine("b", "b")]);
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
  command.upstream.answer = () => new Response("no", { status: 500 });
  const first = await command.evaluate(file, ...judged);
  expect(first.code).toBe(1);
  expect(first.stderr).toMatch(/^judge system:is-concise +0\/0 +– +– +– +2$/m);
  const verdict = JSON.stringify({ reasoning: "It is short.", verdict: "pass" });
  command.upstream.answer = () => Response.json(completion(verdict));
  expect((await command.evaluate(file, ...judged)).code).toBe(0);
  expect((await command.evaluate(file, ...judged)).stderr).toContain("0 lines in");
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

test("a file of other evaluations is no one's to resume, and a line that was cut off is written again", async () => {
  const file = await command.fileOf([sampleLine("a", "a")]);
  const out = `${file}.out`;
  const named = (evaluator: string, run: string) =>
    command.evaluate(file, "--evaluator", evaluator, "--out", out, "--run-id", run);
  expect((await named("exact-match", "ci")).code).toBe(0);
  const [others, another] = [await named("contains", "ci"), await named("exact-match", "cj")];
  expect([others.code, others.stderr]).toEqual([1, expect.stringContaining("evaluations by exact-match")]);
  expect([another.code, another.stderr]).toEqual([1, expect.stringContaining("evaluations of the run ci")]);
  await Bun.write(out, '{"line":1,"dig');
  expect((await named("exact-match", "ci")).code).toBe(0);
  await Bun.write(out, "null\n");
  const foreign = await named("exact-match", "ci");
  expect([foreign.code, foreign.stderr]).toEqual([
    1,
    expect.stringContaining("other than evaluations; nothing"),
  ]);
});

test("with --min-pass-rate exits with 2 if the pass rate is too low", async () => {
  const file = await command.fileOf([sampleLine("a", "a"), sampleLine("a", "b")]);
  const evaluator = ["--evaluator", "exact-match"];
  expect((await command.evaluate(file, ...evaluator, "--min-pass-rate", "0.5")).code).toBe(0);
  const missed = await command.evaluate(file, ...evaluator, "--min-pass-rate", "0.51");
  expect(missed.code).toBe(2);
  expect(missed.stderr).toContain(
    "exact-match system:default: 1 of 2 passed (50.0 %), which is below --min-pass-rate 0.51\n",
  );
});

test("a failed evaluation does not count as a pass: exit 1", async () => {
  const file = await command.fileOf([sampleLine("a", "a"), { evaluated_model_output: "a" }]);
  const ran = await command.evaluate(file, "--evaluator", "exact-match", "--min-pass-rate", "0.5");
  expect(ran.code).toBe(1);
});

test("a failed evaluation has the id of its stored result, also on a server", async () => {
  const file = await command.fileOf([{ evaluated_model_output: "a" }]);
  const [here, there] = [`${file}.here`, `${file}.there`];
  await command.evaluate(file, "--evaluator", "exact-match", "--out", here);
  const options = ["--evaluator", "exact-match", "--out", there, "--server", command.presage.url];
  await runPresage(["evaluate", "--file", file, ...options], { PRESAGE_API_KEY: testKey });
  for (const out of [here, there]) {
    const [line] = await linesOf(out);
    expect(line?.results).toMatchObject([{ status: "validation_error", id: expect.stringMatching(/^\d+$/) }]);
  }
});

test.each([
  [[], "error: required option '--evaluator <name[=profile]>' not specified"],
  [["--evaluator", "judge"], "--evaluator judge: name a profile, as FAMILY=PROFILE"],
  [["--evaluator", "exact-match", "--min-pass-rate", "2"], "--min-pass-rate takes a number from 0 to 1"],
  [["--evaluator", "exact-match", "--tag", "x"], "--tag takes NAME=VALUE"],
  [["--evaluator", "exact-match", "--json", "--out", "x"], "--json cannot be combined with --out"],
  [["--evaluator", "exact-match", "--dataset", ""], "--dataset: String should have at least 1 character"],
  [
    ["--evaluator", "exact-match", "--model", "m".repeat(201)],
    "--model: String should have at most 200 characters",
  ],
  [
    ["--evaluator", "exact-match=nothing"],
    "--evaluator exact-match=nothing: The family exact-match has no profile of this name, or it is archived; the built-in ones are system:default, system:word2world-exact, system:mdlm-exact, system:mdlm-semantic",
  ],
  [["--evaluator", "exact-match", "--server", "http://x"], "--server needs an API key in PRESAGE_API_KEY"],
])("refuses %j in one line", async (options, line) => {
  const ran = await command.evaluate(
    await command.fileOf([sampleLine("a", "a"), sampleLine("b", "b")]),
    ...options,
  );
  expect([ran.code, ran.stderr]).toEqual([1, `${line}\n`]);
});

test("a judge is refused where no model is configured, and nothing is stored", async () => {
  const file = await command.fileOf([sampleLine("a", "a")]);
  const args = ["evaluate", "--file", file, "--evaluator", "judge=system:is-concise", "--app", "no model"];
  const ran = await runPresage(args, { PRESAGE_DATABASE_URL: command.databaseUrl });
  expect([ran.code, ran.stderr]).toEqual([
    1,
    "--evaluator judge=system:is-concise: needs a model; set PRESAGE_UPSTREAM_URL or PRESAGE_JUDGE_URL\n",
  ]);
  expect(await search({ app: "no model" })).toEqual([]);
});

test("an unknown evaluator ends the command with a list of the known ones", async () => {
  const ran = await command.evaluate(
    await command.fileOf([sampleLine("a", "a"), sampleLine("b", "b")]),
    "--evaluator",
    "exact-mach",
  );
  expect(ran.code).toBe(1);
  expect(ran.stderr).toStartWith(
    "--evaluator exact-mach: Unknown evaluator; available: exact-match, contains, ",
  );
});

test("an output file with outcomes of other evaluators is left unchanged", async () => {
  const file = await command.fileOf([sampleLine("a", "a")]);
  const out = `${file}.out`;
  await command.evaluate(file, "--evaluator", "exact-match", "--out", out);
  const before = await Bun.file(out).text();
  const ran = await command.evaluate(file, "--evaluator", "contains", "--out", out);
  expect([ran.code, ran.stderr]).toEqual([
    1,
    `${out} contains evaluations by exact-match; name another file. Nothing was changed.\n`,
  ]);
  expect(await Bun.file(out).text()).toBe(before);
});

test("an empty file does not reach the minimum pass rate", async () => {
  const ran = await command.evaluate(
    await command.fileOf([]),
    "--evaluator",
    "exact-match",
    "--min-pass-rate",
    "0.5",
  );
  expect(ran.code).toBe(1);
});

test("a judge sees the context that predict --keep-context wrote", async () => {
  const transition = {
    context: { task_context: "Find the lamp." },
    interaction: { state: "dark", action: "look" },
  };
  command.upstream.answer = () => Response.json(completion("a lamp"));
  const out = `${await command.fileOf([])}.predicted`;
  await runPresage(
    ["predict", "--file", await command.fileOf([transition]), "--out", out, "--keep-context"],
    {
      PRESAGE_UPSTREAM_URL: command.upstream.url,
    },
  );
  command.upstream.answer = () =>
    Response.json(completion(JSON.stringify({ reasoning: "It is short.", verdict: "pass" })));
  const ran = await command.evaluate(out, "--evaluator", "judge=system:is-concise", "--app", "context");
  expect(ran.code).toBe(0);
  expect((await search({ app: "context" }))[0]).toMatchObject({
    evaluated_model_system_prompt: "## TASK CONTEXT\nFind the lamp.",
    evaluated_model_output: "a lamp",
  });
});

test("with --server another Presage evaluates, and its rejections end the command", async () => {
  const file = await command.fileOf([sampleLine("a", "a"), sampleLine("a", "b")]);
  const remotely = (key: string, ...more: string[]) =>
    runPresage(["evaluate", "--file", file, "--server", `${command.presage.url}/v1`, ...more], {
      PRESAGE_API_KEY: key,
    });
  const ran = await remotely(testKey, "--evaluator", "exact-match", "--app", "remote");
  expect(ran.code).toBe(0);
  expect((await search({ app: "remote" })).map(({ pass }) => pass).toSorted()).toEqual([false, true]);
  expect(await remotely("wrong", "--evaluator", "exact-match")).toMatchObject({
    code: 1,
    stderr: `${command.presage.url}/v1 rejects the API key in PRESAGE_API_KEY\n`,
  });
  for (const [evaluator, reason] of [
    ["nothing", "Unknown evaluator; available: "],
    ["judge", "name a profile, as FAMILY=PROFILE\n"],
    ["exact-match=nothing", "The family exact-match has no profile of this name, or it is archived\n"],
  ] as const) {
    const unknown = await remotely(testKey, "--evaluator", evaluator);
    expect([unknown.code, unknown.stderr]).toEqual([
      1,
      expect.stringContaining(`--evaluator ${evaluator}: ${reason}`),
    ]);
  }
  const builtIn = ["--evaluator", "contains=system:default", "--evaluator", "judge=system:is-concise"];
  expect((await remotely(testKey, ...builtIn)).stderr).toContain("contains system:default");
});

test("a server that cannot be reached ends the command before the first line", async () => {
  const file = await command.fileOf([sampleLine("a", "a")]);
  const args = ["evaluate", "--file", file, "--evaluator", "exact-match", "--server", "127.0.0.1:1"];
  expect(await runPresage(args, { PRESAGE_API_KEY: testKey })).toEqual({
    code: 1,
    stdout: "",
    stderr: "Presage cannot be reached at http://127.0.0.1:1.\n",
  });
});

test("a line that a server answers with 503 is sent again, and evaluated once", async () => {
  let requests = 0;
  const relay = Bun.serve({
    port: 0,
    async fetch(request) {
      const { pathname } = new URL(request.url);
      requests += pathname === "/v1/evaluate" ? 1 : 0;
      const { method, headers } = request;
      const body = method === "POST" ? await request.text() : null;
      const response = await fetch(command.presage.url + pathname, { method, headers, body });
      if (pathname !== "/v1/evaluate" || requests > 1) return response;
      return new Response("{}", { status: 503, headers: { "retry-after": "0" } });
    },
  });
  const ran = await runPresage(
    [
      ...["evaluate", "--file", await command.fileOf([sampleLine("a", "a")]), "--evaluator", "exact-match"],
      ...["--app", "retried", "--server", relay.url.href],
    ],
    { PRESAGE_API_KEY: testKey },
  );
  expect([ran.code, requests]).toEqual([0, 2]);
  expect(await search({ app: "retried" })).toHaveLength(1);
  await relay.stop(true);
});
