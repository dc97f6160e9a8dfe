// Work that takes many requests: datasets, runs and episodes, begun by one version and read or continued by the other. Fields are read
// leniently, as an earlier version's responses lack fields of today.

import { z } from "zod";
import { eventually } from "../../support/eventually.ts";
import { type TestPresage, testKey } from "../../support/presage/presage.ts";
import { completion, startUpstream } from "../../support/upstream/upstream.ts";

type Call = TestPresage["call"];

/** What the responses of one piece of work promise, to be compared with what is read at the end. */
interface Promised {
  name: string;
  expected: unknown;
  read(call: Call): Promise<unknown>;
}

interface Work {
  /** A version that has no such path has no such work. */
  path: string;
  pauseMs: number;
  run(name: string, fixtures: Fixtures): Promise<Promised>;
}

interface Fixtures {
  ask: Ask;
  datasetId: string;
}

type Ask = <Shape extends z.ZodType>(
  shape: Shape,
  method: string,
  path: string,
  body?: unknown,
  headers?: Record<string, string>,
) => Promise<z.output<Shape>>;

const environmentName = "across-versions";
const stepsEach = 6;
const samplesEach = 60;
/** Lasts through every phase, with one call at a time. */
const longRepeats = 8;
const answerMs = 50;
/** A run whose process was stopped or killed is taken over once its lease has ended. */
const runEndsWithinMs = 180_000;

const WithId = z.object({ id: z.string() });
const StartedEpisode = z.object({ episode_id: z.string() });
const TakenStep = z.object({ observation: z.string(), truncated: z.boolean() });

/** A model that repeats what it was told, after a while. */
export function startEchoingModel() {
  return startUpstream(async ({ body }) => {
    await Bun.sleep(answerMs);
    return Response.json(completion(`after ${body.messages.at(-1)?.content}`));
  });
}

const work: Record<string, Work> = {
  dataset: {
    path: "/v1/datasets",
    pauseMs: 100,
    async run(name, { ask }) {
      const { id } = await ask(WithId, "POST", "/v1/datasets", { name });
      const states = Array.from({ length: 5 }, (_, step) => `${name}, state ${step}`);
      await ask(z.unknown(), "POST", `/v1/datasets/${id}/revisions`, linesOf(name, states));
      const Line = z.object({ next_state: z.string() });
      const read = async (call: Call) =>
        (await textOf(call, `/v1/datasets/${id}/export`))
          .split("\n")
          .filter(Boolean)
          .map((line) => Line.parse(JSON.parse(line)).next_state);
      return { name, expected: states, read };
    },
  },
  run: {
    path: "/v1/runs",
    pauseMs: 1_000,
    run: (name, fixtures) => startRun(name, fixtures, { concurrency: 2 }),
  },
  "long run": {
    path: "/v1/runs",
    pauseMs: 6_000,
    run: (name, fixtures) => startRun(name, fixtures, { concurrency: 1, repeats: longRepeats }),
  },
  episode: {
    path: "/v1/episodes",
    pauseMs: 20,
    async run(name, { ask }) {
      const { episode_id: id } = await ask(StartedEpisode, "POST", "/v1/episodes", {
        environment: environmentName,
        index: 0,
      });
      const steps = [];
      for (let step = 0; step < stepsEach; step += 1) {
        const action = `${name} action ${step}`;
        const headers = { "x-api-key": testKey, "idempotency-key": action.replaceAll(" ", "-") };
        // The second time, usually the other version is asked.
        const send = () => ask(TakenStep, "POST", `/v1/episodes/${id}/step`, { action }, headers);
        const [taken, repeated] = [await send(), await send()];
        if (!Bun.deepEquals(taken, repeated)) throw new Error(`Step ${step} was answered in two ways`);
        steps.push({ action, ...taken });
      }
      const Stored = z.object({
        status: z.string(),
        steps: z.array(TakenStep.extend({ action: z.string() })),
      });
      const read = async (call: Call) => Stored.parse(JSON.parse(await textOf(call, `/v1/episodes/${id}`)));
      return { name, expected: { status: "finished", steps }, read };
    },
  },
};

async function startRun(name: string, { ask, datasetId }: Fixtures, more: object): Promise<Promised> {
  const { id } = await ask(WithId, "POST", "/v1/runs", {
    name,
    dataset_id: datasetId,
    target: { deployment: "default" },
    evaluators: [{ evaluator: "exact-match" }],
    ...more,
  });
  const samples = samplesEach * ("repeats" in more ? longRepeats : 1);
  const Stored = z.object({
    status: z.string(),
    progress: z.object({ samples: z.int(), predicted: z.int(), evaluated: z.int(), failed: z.int() }),
  });
  return {
    name,
    expected: {
      status: "finished",
      progress: { samples, predicted: samples, evaluated: samples, failed: 0 },
      predictions: samples,
    },
    async read(call) {
      const run = await eventually(
        async () => Stored.parse(JSON.parse(await textOf(call, `/v1/runs/${id}`))),
        ({ status }) => status !== "running" && status !== "queued",
        runEndsWithinMs,
      );
      const lines = (await textOf(call, `/v1/runs/${id}/export`)).split("\n").filter(Boolean);
      const Line = z.object({
        dataset_sample_id: z.string(),
        repeat: z.int(),
        verdicts: z.array(z.unknown()),
      });
      const judged = lines
        .map((line) => Line.parse(JSON.parse(line)))
        .filter((line) => line.verdicts.length === 1);
      const places = new Set(judged.map((line) => `${line.dataset_sample_id}/${line.repeat}`));
      return { ...run, predictions: places.size };
    },
  };
}

/** Does all kinds of work in loops that `version` has. */
export async function startWork(call: Call, version: Call) {
  const statuses: number[] = [];
  const promised: Promised[] = [];
  const failed: string[] = [];
  const left: string[] = [];

  const ask: Ask = async (shape, method, path, body, headers) => {
    const response = await call(method, path, body, headers);
    const text = await response.text();
    statuses.push(response.status);
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return shape.parse(JSON.parse(text));
  };

  const kinds: string[] = [];
  for (const [kind, { path }] of Object.entries(work)) {
    const { status } = await version("GET", path);
    (status === 404 ? left : kinds).push(kind);
  }
  const fixtures = { ask, datasetId: kinds.includes("run") ? await makeDataset(ask) : "" };
  if (kinds.includes("episode")) await makeEnvironment(ask);

  let isStopped = false;
  const loops = kinds.map(async (kind) => {
    for (let last = 1; !isStopped; last += 1) {
      const { run, pauseMs } = work[kind] as Work;
      const name = `${kind} ${last}`;
      await run(name, fixtures).then(
        (made) => promised.push(made),
        (error) => failed.push(`${name}: ${error.message}`),
      );
      await Bun.sleep(pauseMs);
    }
  });

  return {
    statuses,
    /** Kinds that the version does not have. */
    left,
    made: (kind: string) => promised.filter(({ name }) => new RegExp(`^${kind} \\d`).test(name)).length,
    kinds,
    async stop(): Promise<void> {
      isStopped = true;
      await Promise.all(loops);
    },
    /** Waits until all runs have ended, and returns whatever differs from the responses. */
    async contradictions(): Promise<string[]> {
      const found = [...failed];
      for (const { name, expected, read } of promised) {
        const stored = await read(call);
        if (!Bun.deepEquals(stored, expected))
          found.push(`${name}: ${JSON.stringify(stored)} instead of ${JSON.stringify(expected)}`);
      }
      return found;
    },
  };
}

async function makeDataset(ask: Ask): Promise<string> {
  const { id } = await ask(WithId, "POST", "/v1/datasets", { name: "of all runs" });
  const states = Array.from({ length: samplesEach }, (_, step) => `state ${step}`);
  await ask(z.unknown(), "POST", `/v1/datasets/${id}/revisions`, linesOf("trajectory", states));
  return id;
}

async function makeEnvironment(ask: Ask): Promise<void> {
  await ask(z.unknown(), "POST", "/v1/environments", { name: environmentName, max_steps: stepsEach });
  await ask(z.unknown(), "POST", `/v1/environments/${environmentName}/tasks`, { initial_state: "start" });
}

function linesOf(trajectory_id: string, states: readonly string[]): string {
  return states
    .map((next_state, step) => {
      const interaction = { state: `before ${step}`, action: "go on" };
      return `${JSON.stringify({ trajectory_id, step, interaction, next_state })}\n`;
    })
    .join("");
}

async function textOf(call: Call, path: string): Promise<string> {
  const response = await call("GET", path);
  const text = await response.text();
  if (!response.ok) throw new Error(`GET ${path}: ${response.status} ${text}`);
  return text;
}
