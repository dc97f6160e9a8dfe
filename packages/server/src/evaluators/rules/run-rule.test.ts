import { afterEach, expect, test } from "bun:test";
import type { ExplainStrategy } from "@presage/contract";
import { z } from "zod";
import type { RuleFamily } from "../family.ts";
import type { EvaluatorOutcome, Sample } from "../outcome.ts";
import { ruleFamilies } from "../registry.ts";
import { fixtureFamilies } from "./run-rule.fixture.ts";
import {
  createRuleEvaluator,
  createRuleRunner,
  type MainThreadAllowance,
  type RuleRunner,
  type RuleRunnerOptions,
  ruleRunnerDefaults,
} from "./run-rule.ts";

const patient = new AbortController().signal;
const started: RuleRunner[] = [];

afterEach(async () => {
  for (const runner of started.splice(0)) await runner.dispose();
});

/** Runs for one account, on the main thread for as long as it takes, unless the options say otherwise. */
function start(options: Partial<RuleRunnerOptions> = {}) {
  const runner = createRuleRunner({
    ...ruleRunnerDefaults,
    families: fixtureFamilies,
    threadModule: new URL("./run-rule.fixture.ts", import.meta.url),
    ...options,
  });
  started.push(runner);
  return {
    run: (
      familyName: string,
      config: unknown,
      sample: Sample,
      signal: AbortSignal,
      explainStrategy: ExplainStrategy,
      accountId = "account",
      allowance: MainThreadAllowance = { mainThreadMs: Number.POSITIVE_INFINITY },
    ) => runner.run({ familyName, config, sample, explainStrategy }, accountId, signal, allowance),
    check: runner.check,
    dispose: runner.dispose,
  };
}

const errorOf = (run: Promise<unknown>) =>
  run.then(
    () => "no error",
    (error: unknown) => error,
  );

function spinning() {
  const beats = new Int32Array(new SharedArrayBuffer(4));
  const untilItSpins = async () => {
    while (Atomics.load(beats, 0) === 0) await Bun.sleep(5);
  };
  const hasStopped = async () => {
    // A thread that was told to end may take a moment.
    for (let attempt = 0; attempt < 100; attempt += 1) {
      const before = Atomics.load(beats, 0);
      await Bun.sleep(50);
      if (Atomics.load(beats, 0) === before) return true;
    }
    return false;
  };
  return { config: { beats }, untilItSpins, hasStopped };
}

test.each(["cheap", "expensive"])(
  "a %s evaluation gives its verdict, its explanation and its durations",
  async (name) => {
    const verdict = await start().run(name, {}, { output: "ab" }, patient, "always");
    expect(verdict).toMatchObject({
      pass: true,
      score: 0.75,
      positions: [[0, 2]],
      extra: { found: ["a"] },
      explanation: "It passes.",
    });
    expect(verdict.evaluationMicros).toBeGreaterThanOrEqual(0);
    expect(verdict.explanationMicros).toBeGreaterThanOrEqual(0);
    expect("explain" in verdict).toBe(false);
  },
);

test("an explanation is made only if it is wanted", async () => {
  const runner = start();
  for (const name of ["cheap", "expensive"]) {
    expect(await runner.run(name, {}, {}, patient, "on-fail")).not.toHaveProperty("explanation");
    expect(await runner.run(name, {}, {}, patient, "never")).not.toHaveProperty("explanationMicros");
    expect(await runner.run(name, {}, {}, patient, "on-success")).toHaveProperty("explanation");
  }
});

test("the real threads know the real families", async () => {
  const runner = start({ families: ruleFamilies, threadModule: ruleRunnerDefaults.threadModule });
  const text = "x".repeat(ruleRunnerDefaults.maxMainThreadCharacters);
  const config = { variant: "presage", trim: true, ignore_case: false, strip_tags: false };
  const sample = { output: text, goldAnswer: text };
  expect(await runner.run("exact-match", config, sample, patient, "never")).toMatchObject({ score: 1 });
});

test("short texts of a thousand sentences are not compared on the main thread", async () => {
  const runner = start({ families: ruleFamilies, threadModule: ruleRunnerDefaults.threadModule });
  const one = Array.from({ length: 833 }, (_, index) => `x y ${index}.`).join("");
  const other = Array.from({ length: 833 }, (_, index) => `y x ${-index}.`).join("");
  const config = { threshold: 0.5, variant: "pltrdy", strip_tags: false };
  for (const [output, goldAnswer] of [
    [one, other],
    [other, one],
  ]) {
    const allowance = { mainThreadMs: 10 };
    const outcome = await runner.run(
      "rouge-l",
      config,
      { output, goldAnswer },
      patient,
      "never",
      "account",
      allowance,
    );
    expect(outcome).toMatchObject({
      status: "validation_error",
      errorMessage: "unusable_input: The output and the gold answer are too long to be compared.",
    });
    expect(allowance.mainThreadMs).toBe(10);
  }
});

test("a sample longer than its family accepts is unusable, and one exactly as long is not", async () => {
  const runner = start({ families: ruleFamilies, threadModule: ruleRunnerDefaults.threadModule });
  for (const { name, needs, maxCharacters, builtInProfiles } of ruleFamilies) {
    if (maxCharacters === undefined) continue;
    const run = (characters: number) => {
      const text = " ".repeat(Math.ceil(characters / needs.length));
      const sample = { input: text, output: text, goldAnswer: text, systemPrompt: text };
      return runner.run(name, builtInProfiles[0]?.config, sample, patient, "never").catch(() => undefined);
    };
    const tooLong: EvaluatorOutcome = {
      status: "validation_error",
      errorMessage: expect.stringContaining(
        `unusable_input: ${name} accepts at most ${maxCharacters} characters`,
      ),
    };
    expect(await run(maxCharacters + needs.length)).toEqual(tooLong);
    expect(await run(maxCharacters - needs.length)).not.toEqual(tooLong);
  }
});

test("an evaluation that does not end is killed at its deadline, and later ones run", async () => {
  const runner = start({ maxThreads: 1, runTimeoutMs: 1000 });
  const spin = spinning();
  const killed = errorOf(runner.run("spin", spin.config, {}, patient, "never"));
  const after = runner.run("expensive", {}, {}, patient, "never");
  expect(await killed).toMatchObject({ name: "EvaluationError", code: "timeout" });
  expect(await after).toMatchObject({ pass: true });
  expect(await spin.hasStopped()).toBe(true);
});

test("time in the queue does not count towards the deadline", async () => {
  const runner = start({ maxThreads: 1, runTimeoutMs: 1900 });
  // Together they take longer than one is allowed to.
  const runs = Array.from({ length: 4 }, () => runner.run("busy", {}, {}, patient, "never"));
  for (const run of runs) expect(await run).toMatchObject({ pass: true });
});

test("the queue is bounded in length and time", async () => {
  const runner = start({ maxThreads: 1, maxWaitingEach: 1, maxWaitMs: 50 });
  const spin = spinning();
  const first = errorOf(runner.run("spin", spin.config, {}, patient, "never"));
  const second = errorOf(runner.run("expensive", {}, {}, patient, "never"));
  const third = await errorOf(runner.run("expensive", {}, {}, patient, "never"));
  expect(third).toMatchObject({ code: "overloaded" });
  expect(await second).toMatchObject({ code: "overloaded" });
  expect(await runner.run("cheap", {}, {}, patient, "never")).toMatchObject({ pass: true });
  await runner.dispose();
  expect(await first).toMatchObject({ code: "overloaded" });
});

test("an account whose evaluations fill the queue does not keep others from the next thread", async () => {
  const runner = start({ maxThreads: 1, maxWaitingEach: 3 });
  const ended: string[] = [];
  const run = async (accountId: string) => {
    await runner.run("busy", {}, {}, patient, "never", accountId);
    ended.push(accountId);
  };
  const crowded = Array.from({ length: 4 }, () => run("a"));
  expect(await errorOf(run("a"))).toMatchObject({ code: "overloaded" });
  await Promise.all([...crowded, run("b")]);
  expect(ended).toEqual(["a", "b", "a", "a", "a"]);
});

test("cheap evaluations that add up leave the main thread", async () => {
  const runner = start({ maxMainThreadCharacters: 1_000 });
  await runner.run("expensive", {}, {}, patient, "never");
  const allowance = { mainThreadMs: 10 };
  const { config } = spinning();
  const runs = Array.from({ length: 20 }, () =>
    runner.run("cheap-busy", config, { output: "x" }, patient, "never", "account", allowance),
  );
  for (const run of runs) expect(await run).toMatchObject({ pass: true });
  // Each takes 20 ms: one is started within the allowance.
  expect(Atomics.load(config.beats, 0)).toBe(1);
  expect(allowance.mainThreadMs).toBeLessThanOrEqual(-10);
});

test("a client that disconnects ends the evaluation", async () => {
  const runner = start();
  const spin = spinning();
  const caller = new AbortController();
  const run = errorOf(runner.run("spin", spin.config, {}, caller.signal, "never"));
  await spin.untilItSpins();
  caller.abort(new Error("disconnected"));
  expect(await run).toMatchObject({ message: "disconnected" });
  expect(await spin.hasStopped()).toBe(true);
  expect(await errorOf(runner.run("cheap", {}, {}, caller.signal, "never"))).toMatchObject({
    message: "disconnected",
  });
});

test("a client that disconnects as its evaluation ends does not fail the next one", async () => {
  const client = new AbortController();
  const runner = start({ maxThreads: 1 });
  await runner.run("expensive", {}, {}, patient, "never");
  const first = errorOf(runner.run("busy", {}, {}, client.signal, "never"));
  await Bun.sleep(50);
  // Its verdict arrives while the thread is told to end.
  Bun.sleepSync(600);
  client.abort(new Error("the client is gone"));
  expect(await runner.run("expensive", {}, {}, patient, "never")).toMatchObject({ score: 0.75 });
  expect(await first).toEqual(new Error("the client is gone"));
});

test("nothing is checked for a client that has disconnected", async () => {
  const runner = start();
  const gone = AbortSignal.abort(new Error("disconnected"));
  const check = runner.check({ familyName: "expensive", config: {} }, { accountId: "account", signal: gone });
  expect(await errorOf(check)).toMatchObject({ message: "disconnected" });
});

test("errors keep their meaning when they leave a thread", async () => {
  const runner = start();
  const run = (name: string) => runner.run(name, {}, {}, patient, "never");
  expect(await run("unusable")).toEqual({
    status: "validation_error",
    errorMessage: "unusable_input: No number in the gold answer.",
  });
  expect(await run("failing")).toEqual({
    status: "failed",
    errorMessage: "overloaded: Come back later.",
  });
});

test.each(["crash", "cheap-crash", "nan", "uncloneable"])(
  "an error in %s is reported without its text",
  async (name) => {
    const runner = start();
    const error = await errorOf(runner.run(name, {}, {}, patient, "never"));
    expect(error).toMatchObject({ name: "EvaluationError", code: "internal_error" });
    expect(String(error)).not.toContain("secret");
    expect(await runner.run("expensive", {}, {}, patient, "never")).toMatchObject({ pass: true });
  },
);

test("the main thread is free while an expensive evaluation runs", async () => {
  const runner = start();
  const spin = spinning();
  const caller = new AbortController();
  const run = errorOf(runner.run("spin", spin.config, {}, caller.signal, "never"));
  await spin.untilItSpins();
  // This line would never be reached if the main thread had to wait for the evaluation to end.
  for (let turn = 0; turn < 20; turn += 1) await Bun.sleep(1);
  expect(await runner.run("cheap", {}, {}, patient, "never")).toMatchObject({ pass: true });
  caller.abort(new Error("enough"));
  expect(await run).toMatchObject({ message: "enough" });
});

test("disposal ends what runs", async () => {
  const runner = start();
  const spin = spinning();
  const run = errorOf(runner.run("spin", spin.config, {}, patient, "never"));
  await spin.untilItSpins();
  await runner.dispose();
  expect(await run).toMatchObject({ code: "overloaded" });
  expect(await spin.hasStopped()).toBe(true);
  expect(await errorOf(runner.run("expensive", {}, {}, patient, "never"))).toMatchObject({
    code: "overloaded",
  });
});

function counting(score = 1) {
  const prepared: unknown[] = [];
  const family: RuleFamily = {
    kind: "rule",
    name: "counting",
    description: "Counts how often a config is prepared.",
    versions: ["2026-11-21"],
    needs: [],
    config: z.unknown(),
    builtInProfiles: [],
    prepare(config) {
      prepared.push(config);
      return ({ output }) => ({ pass: true, score, explain: () => `It is ${output}.` });
    },
  };
  const evaluate = createRuleEvaluator([family]);
  return {
    prepared,
    run: (config: unknown, output = "x") =>
      evaluate({ familyName: "counting", config, sample: { output }, explainStrategy: "on-success" }),
  };
}

test("a config is prepared once for many samples", () => {
  const { prepared, run } = counting();
  expect(run({ a: 1 }, "first").explanation).toBe("It is first.");
  expect(run({ a: 1 }, "second").explanation).toBe("It is second.");
  expect(prepared).toEqual([{ a: 1 }]);
  run({ a: 2 });
  expect(prepared).toHaveLength(2);
});

test("at most 500 prepared configs are cached", () => {
  const { prepared, run } = counting();
  for (let a = 0; a <= 500; a += 1) run({ a });
  run({ a: 500 });
  expect(prepared).toHaveLength(501);
  run({ a: 0 });
  expect(prepared).toHaveLength(502);
});

test("a config too large to be cached still works", () => {
  const { prepared, run } = counting();
  const config = { text: "x".repeat(5_000_000) };
  expect(run(config).pass).toBe(true);
  run(config);
  expect(prepared).toHaveLength(2);
});

test.each([Number.NaN, -0.1, 1.0001, Number.POSITIVE_INFINITY])("a score of %p is an error", (score) => {
  expect(() => counting(score).run({})).toThrow("gave the score");
});
