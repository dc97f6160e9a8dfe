import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createPresage } from "@presage/sdk";
import { parseRealEnvironments } from "../../src/config/real-environments.ts";
import { sandboxTasks, type Task } from "../../src/environments/environment.ts";
import { matches } from "../../src/environments/rewards-and-ends.ts";
import {
  fill,
  type RealEnvironmentSettings,
  type RealStep,
  type Template,
} from "../../src/reality/real/real-environment.ts";
import { createRealEnvironments } from "../../src/reality/real/real-environments.ts";
import { describeFailure } from "../../src/reality/replays/compare.ts";
import { startPresage, type TestPresage, testKey } from "../support/presage/presage.ts";
import { runPresage } from "../support/presage/run-presage.ts";
import { usePresage } from "../support/presage/use-presage.ts";
import { anyRequester } from "../support/store/requester.ts";

const { signal } = new AbortController();
const [lantern = { initial_state: "" }] = sandboxTasks("train").map(({ task }) => task);

describe("A template", () => {
  const task: Task = {
    initial_state: "here",
    goal: "{prompt}",
    metadata: { task: "boil", variation: 3, of: { a: [1] } },
  };
  test.each([
    [
      { task: "{metadata.task}", variation: "{metadata.variation}", fixed: [true, null, 2.5] },
      { task: "boil", variation: 3, fixed: [true, null, 2.5] },
    ],
    ["{metadata}", task.metadata],
    ["{metadata.of.a}", [1]],
    ["task {metadata.variation} of {metadata.of}: {goal}", 'task 3 of {"a":[1]}: {prompt}'],
    [
      { message: "{action}", "{action}": "{ not } a {0} placeholder {}" },
      { message: "go", "{action}": "{ not } a {0} placeholder {}" },
    ],
    ["{task}", task],
  ] as [Template, unknown][])(
    "%j is filled once, and a lone placeholder keeps its type",
    (template, filled) => {
      expect(fill(template, task, "go")).toEqual(filled);
    },
  );

  test.each(["{prompt}", "{metadata.absent}", "{metadata.task.length}", "{metadata.constructor}"])(
    "with %s, which the task has not, is refused",
    (template) => {
      expect(() => fill(template, task)).toThrow(`The task has no ${template.slice(1, -1)}`);
    },
  );
});

describe("An episode has succeeded", () => {
  const step = (reward: number | null, done = false, observation = ""): RealStep => ({
    observation,
    reward,
    done,
    latencyMs: 1,
  });
  const tenth = Array.from({ length: 10 }, () => step(0.1));
  test.each([
    ["reward_at_least: 1", tenth, true],
    ["reward_at_least: 1", tenth.slice(1), false],
    ["reward_at_least: 1", [step(3), step(null), step(-2.5)], false],
    ["done_reward_at_least: 1", [step(1), step(0.5, true)], false],
    ["done_reward_at_least: 1", [step(0), step(1, true)], true],
    ["done_reward_at_least: 0", [step(1)], false],
    ["output_contains: 'is now {goal}'", [step(0, false, "It is now open. And"), step(0)], true],
    ["output_contains: 'is now {goal}'", [step(1, true, "It is now shut.")], false],
    ["output_matches: 'o(pe|x)n'", [step(0), step(0, false, "It is open.")], true],
    ["output_matches: 'o(pe|x)n'", [], false],
  ])("by %s", async (rule, steps, wanted) => {
    const text = `environments: { it: { protocol: openenv, url: "http://10.0.0.1", success: { ${rule} } } }`;
    const matches = async (pattern: string, output: string) => new RegExp(pattern).test(output);
    const environment = createRealEnvironments(parseRealEnvironments("real.yaml", text, {}), matches).find(
      "it",
    );
    expect(await environment?.succeeded({ initial_state: "", goal: "open" }, steps)).toBe(wanted);
  });
});

describe("Presage's episodes on another server", () => {
  const other = usePresage();
  const settings = (more = ""): RealEnvironmentSettings[] =>
    parseRealEnvironments(
      "real.yaml",
      `environments: { it: { protocol: http, url: '${other.url}', environment: sandbox, api_key_env: KEY, success: { output_contains: "{goal}" }, max_in_flight: 1 ${more} } }`,
      { KEY: testKey },
    );

  test("are reset to a task, played to their end and deleted", async () => {
    const real = createRealEnvironments(settings(), async () => false);
    const environment = real.find("it");
    const session = await environment?.open(lantern, signal);
    expect(session?.first).toBe(lantern.initial_state);
    const steps = [
      await session?.step("look around", signal),
      await session?.step("activate lantern", signal),
    ];
    expect(steps).toMatchObject([
      { reward: null, done: false },
      { observation: "The lantern is now activated.", done: true },
    ]);
    expect(
      await environment?.succeeded(
        lantern,
        steps.flatMap((step) => step ?? []),
      ),
    ).toBe(true);
    await Promise.all([session?.close(), session?.close()]);
    expect(await (await other.call("GET", "/v1/episodes")).json()).toMatchObject({ data: [] });
  });

  test("wait for their turn; settings that are the same keep what is in flight", async () => {
    const real = createRealEnvironments(settings(), async () => false);
    const environment = real.find("it");
    const first = await environment?.open(lantern, signal);
    const second = environment?.open(lantern, signal);
    real.replace(settings());
    expect([real.find("it") === environment, environment?.inFlight()]).toEqual([true, 1]);
    real.replace(settings(", timeout_ms: 9"));
    expect([real.find("it") === environment, real.find("it")?.inFlight()]).toEqual([false, 0]);
    await first?.close();
    await (await second)?.close();
    expect(environment?.inFlight()).toBe(0);
    real.replace([]);
    expect([real.find("it"), real.all()]).toEqual([undefined, []]);
  });
});

describe("The operator's file", () => {
  let folder: string;
  let file: string;
  let presage: TestPresage;
  const write = (text: string) => Bun.write(file, `environments:\n${text}`);
  const one = '  lab: { protocol: openenv, url: "http://127.0.0.1:1", api_key_env: LAB_KEY }\n';

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "presage-real-"));
    file = join(folder, "real.yaml");
    await write(one);
    presage = await startPresage({ PRESAGE_REAL_ENVIRONMENTS: file, LAB_KEY: "hidden" });
  });
  afterAll(async () => {
    await presage.stop();
    await rm(folder, { recursive: true });
  });

  test("is listed without addresses and keys, and read again; with an issue nothing changes", async () => {
    const list = () => createPresage({ baseUrl: presage.url, apiKey: testKey }).realEnvironments.list();
    const lab = { name: "lab", protocol: "openenv", in_flight: 0, max_in_flight: 4, last_failure: null };
    expect(await list()).toEqual([lab as never]);
    await write(
      `${one}  more: { protocol: ors, environment: e, url: "http://127.0.0.1:1", max_in_flight: 2 }\n`,
    );
    await presage.rereadFiles();
    const more = { ...lab, name: "more", protocol: "ors", max_in_flight: 2 };
    expect(await list()).toEqual([lab, more] as never);
    await write("  lab: { protocol: nothing }\n");
    await presage.rereadFiles();
    expect(await list()).toEqual([lab, more] as never);
  });

  test("is checked at the start and by presage doctor, which resets what needs no task", async () => {
    const environment = {
      PRESAGE_DATABASE_URL: "sqlite::memory:",
      PRESAGE_PORT: "0",
      PRESAGE_REAL_ENVIRONMENTS: file,
      LAB_KEY: "hidden",
    };
    await write("  lab: { protocol: nothing }\n");
    const started = await runPresage(["serve"], environment);
    expect([started.code, started.stderr]).toEqual([
      1,
      expect.stringContaining("real.yaml:2: environments.lab.protocol"),
    ]);
    const bad = await runPresage(["doctor"], environment);
    expect([bad.code, bad.stdout]).toEqual([
      1,
      expect.stringMatching(/^bad +real +real.yaml:2: environments.lab/m),
    ]);
    const task = 'reset: { task: { initial_state: "A room." } }';
    await write(
      `${one}  works: { protocol: http, environment: sandbox, url: "${presage.url}", api_key_env: KEY, ${task} }\n` +
        `  usual: { protocol: http, environment: sandbox, url: "${presage.url}" }\n`,
    );
    const { code, stdout } = await runPresage(["doctor"], { ...environment, KEY: testKey });
    expect(code).toBe(1);
    expect(stdout).toMatch(/^bad +real +lab: The real environment cannot be reached/m);
    expect(stdout).toMatch(/^good +real +works begins an episode$/m);
    expect(stdout).toMatch(/^off +real +usual: not tried, as its reset needs a task$/m);
    expect(stdout).not.toContain("hidden");
  });
});

test("a rule that cannot be decided is a failure of its episode, which ends and is counted", async () => {
  const undecided = {
    status: "timeout" as const,
    errorMessage: "No verdict within 10000 ms.",
    evaluationMicros: 1,
  };
  const services = { runEvaluator: async () => undecided };
  const error = await matches(services as never, anyRequester(), "x", "x").catch((error: unknown) => error);
  expect(describeFailure(error)).toBe(
    "A rule of the environment could not be decided: No verdict within 10000 ms.",
  );
});
