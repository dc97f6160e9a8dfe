import { readdir } from "node:fs/promises";
import { basename, join } from "node:path";
import { composePrompt } from "@presage/contract/compose-prompt";
import { createPresage, type Presage, PresageError, type Run, type WorldModelRequest } from "@presage/sdk";
import { makeExample } from "../../sandbox/src/example.ts";
import { startServer } from "./start-server.ts";

/** A recorded step of an environment. */
interface Transition extends Pick<WorldModelRequest, "context" | "interaction"> {
  /** The environment's name. */
  environment: string;
  /** The transition's name in its file. */
  sampleId: string;
  nextState: string;
  /** Absent if the file does not say which steps follow each other. */
  trajectory?: { trajectory_id: string; step: number };
}

interface SetUp {
  profileId: string;
  trainingKey: string;
  nightlyKey: string;
}

/** How many days to fill, including today. */
const days = 28;

const dayMs = 86_400_000;

/** When the profile's threshold was raised. */
const revisedDaysAgo = 9;

const nightlyEvery = 3;

/** Fills a database with four weeks of usage: for each day, a server whose clock is set to that day predicts and evaluates. */
export async function fill(
  environment: Record<string, string>,
  apiKey: string,
  transitions: readonly Transition[],
): Promise<void> {
  let fixtures: SetUp | undefined;
  for (let daysAgo = days - 1; daysAgo >= 0; daysAgo -= 1) {
    const server = await startServer(environment, -daysAgo * dayMs);
    const as = (key: string) => createPresage({ baseUrl: server.url, apiKey: key, retries: 0 });
    fixtures ??= await setUp(as(apiKey));
    if (daysAgo === revisedDaysAgo)
      await as(apiKey).profiles.revise(fixtures.profileId, { config: { threshold: 0.9 } });
    const day = String(days - daysAgo).padStart(2, "0");
    await evaluateTransitions(
      as(fixtures.trainingKey),
      sampleOf(transitions, daysAgo, 25 + ((daysAgo * 7) % 18)),
      {
        runId: `training-${day}`,
        app: "world-model",
        model: "presage-sandbox",
      },
    );
    if (daysAgo % nightlyEvery === 0) {
      await evaluateTransitions(as(fixtures.nightlyKey), sampleOf(transitions, daysAgo + 100, 30), {
        runId: `nightly-${day}`,
        app: "nightly",
        model: "presage-sandbox",
      });
    }
    await sendInvalidRequests(as(fixtures.nightlyKey), 1 + (daysAgo % 4));
    if (daysAgo === 0) {
      await correctAndFail(as(apiKey));
      await fillRuns(server.url, apiKey, transitions);
      await fillEpisodes(as(apiKey));
      await setGoals(as(apiKey));
    }
    await server.stop();
  }
}

/** Creates profiles, a taxonomy with two revisions, and API keys. */
async function setUp(presage: Presage): Promise<SetUp> {
  const profile = await presage.profiles.create({
    evaluator_family: "rouge-l",
    name: "close enough",
    config: { threshold: 0.6 },
    description: "Nearly the words of the environment.",
  });
  await presage.profiles.create({
    evaluator_family: "contains",
    name: "names no tool",
    config: { substrings: ["spotify__", "supervisor__"], mode: "none" },
    description: "A state says what is there, not which tool to call.",
  });
  await makeTaxonomy(presage);
  const training = await presage.apiKeys.create({ name: "training cluster" });
  const nightly = await presage.apiKeys.create({ name: "nightly evaluation" });
  const expiry = new Date(Date.now() + 5 * dayMs).toISOString();
  await presage.apiKeys.create({ name: "notebook", expires_at: expiry });
  return { profileId: profile.public_id, trainingKey: training.key, nightlyKey: nightly.key };
}

async function makeTaxonomy(presage: Presage): Promise<void> {
  const State = ["Forgets a change", "Invents an object", "Keeps what is gone"];
  const Form = ["Not the environment’s words", "Broken JSON"];
  const first = await presage.errorTaxonomies.create({
    error_taxonomy_name: "world-model slips",
    error_taxonomy_description: "What our world model gets wrong.",
    body: { State, Form },
    labels: ["production"],
  });
  await presage.errorTaxonomies.create({
    error_taxonomy_id: first.error_taxonomy_id,
    body: { State: [...State, "Wrong room"], Form },
    labels: ["candidate"],
  });
  await presage.profiles.create({
    evaluator_family: "error-taxonomy",
    name: "slips",
    config: { error_taxonomy_name: "world-model slips", label: "production" },
    description: "Which errors of our taxonomy a prediction has.",
  });
}

interface EvaluationRun {
  runId: string;
  app: string;
  /** Recorded as the evaluated model's name. */
  model: string;
}

const concurrency = 8;

/** Predicts the next state of each transition, and evaluates it against the real one. */
async function evaluateTransitions(
  presage: Presage,
  transitions: readonly Transition[],
  run: EvaluationRun,
): Promise<void> {
  const waiting = transitions.values();
  const work = async () => {
    for (const transition of waiting) await evaluateOne(presage, transition, run);
  };
  await Promise.all(Array.from({ length: concurrency }, work));
}

async function evaluateOne(
  presage: Presage,
  { environment, sampleId, context, interaction, nextState }: Transition,
  { runId, app, model }: EvaluationRun,
): Promise<void> {
  const prediction = await presage.predict({ ...(context && { context }), interaction });
  const messages = composePrompt(context, interaction);
  const system = messages.find(({ role }) => role === "system")?.content;
  const user = messages.find(({ role }) => role === "user")?.content;
  await presage.evaluate({
    evaluators: [
      { evaluator: "exact-match" },
      { evaluator: "rouge-l", profile_name: "close enough" },
      { evaluator: "state-change" },
      { evaluator: "error-taxonomy", profile_name: "slips" },
      ...(isJson(nextState) ? [{ evaluator: "json-match" }] : []),
    ],
    evaluated_model_system_prompt: system,
    evaluated_model_input: user,
    evaluated_model_output: prediction.response.content,
    evaluated_model_gold_answer: nextState,
    evaluated_model_name: model,
    app,
    tags: {
      environment,
      action: interaction.action.split(/[\s_[{"]+/).find((word) => word !== "") ?? "none",
    },
    dataset_id: environment,
    dataset_sample_id: sampleId,
    evaluation_run_id: runId,
  });
}

/** Tool responses are JSON between tags; prose cannot be matched as JSON. */
function isJson(text: string): boolean {
  return /^\s*(<tool_response>)?\s*[[{]/.test(text);
}

/** A different sample for each day, but the same in every run. */
function sampleOf(transitions: readonly Transition[], seed: number, count: number): Transition[] {
  const indexes = Array.from(
    { length: Math.min(count, transitions.length) },
    (_, index) => seed * 37 + index * 11,
  );
  return indexes.flatMap((index) => transitions[index % transitions.length] ?? []);
}

/** Sends requests that are rejected, so that the charts show failures. */
async function sendInvalidRequests(presage: Presage, times: number): Promise<void> {
  for (let time = 0; time < times; time += 1) {
    const refusal = await presage
      .predict({ interaction: { state: "", action: "look" } })
      .catch((error: unknown) => error);
    if (!(refusal instanceof PresageError)) throw refusal;
  }
}

/** Makes a failed evaluation, and corrections by people. */
async function correctAndFail(presage: Presage): Promise<void> {
  await presage.evaluate({
    evaluators: [
      { evaluator: "judge", profile_name: "system:state-consistent" },
      { evaluator: "contains", profile_name: "names no tool" },
    ],
    evaluated_model_input: "State: You stand in the hall.\n\nAction: open the oak door",
    evaluated_model_output: "You open the oak door. Behind it lies the garden.",
    app: "world-model",
  });
  for (const evaluator_family of ["exact-match", "rouge-l"]) {
    const fails = await presage.results.search({ evaluator_family, pass: false, limit: 6 });
    for (const [index, { id }] of fails.entries()) {
      if (id === null) continue;
      const isRight = index % 3 === 0;
      const comment = isRight ? "Rightly failed." : "The same state in other words.";
      await presage.results.correct(id, { pass: !isRight, comment });
    }
  }
}

/** Creates a dataset for each environment, with runs of the sandbox, both baselines and a degraded copy of the sandbox. */
async function fillRuns(url: string, apiKey: string, transitions: readonly Transition[]): Promise<void> {
  const presage = createPresage({ baseUrl: url, apiKey });
  const recorded = transitions.filter(({ trajectory }) => trajectory !== undefined);
  const environments = Map.groupBy(recorded, ({ environment }) => environment);
  for (const [name, some] of environments) await fillDataset(presage, name, some.map(toLine));
  if (environments.size === 0) await fillDataset(presage, "rooms", makeExample().samples);
}

const evaluators = [{ evaluator: "exact-match" }, { evaluator: "state-change" }, { evaluator: "rouge-l" }];

async function fillDataset(presage: Presage, name: string, lines: readonly object[]): Promise<void> {
  const { id: dataset_id } = await presage.datasets.create({ name });
  await presage.datasets.upload(dataset_id, toText(lines));
  await presage.worlds.create({
    name: name.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-"),
    examples: { dataset: dataset_id },
    model: { kind: "retrieval" },
  });
  const deployments = await presage.deployments.list();
  const target = { deployment: deployments[0]?.name ?? "sandbox" };
  const create = (title: string, request: Partial<Parameters<Presage["runs"]["create"]>[0]>) =>
    presage.runs.create({ name: `${name}, ${title}`, dataset_id, target, evaluators, ...request });
  const end = ({ id }: Run) => presage.runs.waitUntilEnded(id, { pollEveryMs: 300 });

  const mostFrequent = await end(await create("most frequent", { target: { baseline: "most-frequent" } }));
  const noChange = await end(await create("no change", { target: { baseline: "no-change" } }));
  await end(await create("sandbox, free-running", { mode: "free-running" }));
  const sandbox = await end(await create("sandbox", {}));
  const degraded = await create("degraded sandbox", { target: { predictions: "imported" } });
  await presage.runs.uploadPredictions(degraded.id, toText(await degrade(presage, sandbox, dataset_id)));
  await end(degraded);
  for (const { id } of [mostFrequent, noChange, sandbox, degraded]) {
    await presage.runs.addEvaluators(id, [{ evaluator: "error-taxonomy", profile_name: "slips" }]);
    await presage.runs.waitUntilEnded(id, { pollEveryMs: 300 });
  }
}

function toText(objects: readonly object[]): string {
  return objects.map((object) => `${JSON.stringify(object)}\n`).join("");
}

/** The degraded copy forgets the change in one of this many predictions. */
const forgetsEvery = 3;

/** The sandbox's predictions; in some, the change is forgotten. */
async function degrade(presage: Presage, run: Run, datasetId: string): Promise<object[]> {
  const states = new Map<string, string>();
  for await (const { dataset_sample_id, interaction } of presage.datasets.iterateSamples(datasetId))
    states.set(dataset_sample_id, interaction?.state ?? "");
  const lines = await Array.fromAsync(presage.runs.exportLines(run.id));
  return lines.map((line) => {
    const { dataset_sample_id, prediction } = JSON.parse(line);
    const forgets = Number(Bun.hash(dataset_sample_id) % BigInt(forgetsEvery)) === 0;
    return { dataset_sample_id, prediction: forgets ? states.get(dataset_sample_id) : prediction };
  });
}

function toLine({ trajectory, context, interaction, nextState }: Transition): object {
  return { ...trajectory, ...(context && { context }), interaction, next_state: nextState };
}

/** The actions of agents in the sandbox, successful or not. */
const attempts = [
  ["look around", "activate lantern"],
  ["look around", "open chest"],
  ["move hammer to inventory"],
  ["look around", "move hammer to inventory", "look around", "move hammer to jar"],
  ["look around", "look around", "look around", "look around", "look around"],
  ["open door to yard"],
];

/** Plays episodes of the sandbox that end differently. */
async function fillEpisodes({ episodes }: Presage): Promise<void> {
  for (let index = 0; index < 24; index += 1) {
    const actions = attempts[index % attempts.length] ?? [];
    const start = { environment: "sandbox", index: index % 5 };
    const { episode_id } = await episodes.start(start);
    for (const action of actions) {
      const { terminated, truncated } = await episodes.step(episode_id, action);
      if (terminated || truncated) break;
    }
  }
}

/** Sets what a team decides: goals, a budget, verdicts to label, and reality checks. */
async function setGoals(presage: Presage): Promise<void> {
  for (const { id, name } of await presage.runs.list()) {
    if (name.endsWith(", sandbox")) {
      await presage.goals.set(name, { evaluator: "exact-match", pass_rate: 0.5 });
      await presage.labels.draw(id, { size: 20, evaluator: "exact-match" });
    }
  }
  await presage.budgets.set({ limit: 25, stops: false });
  const pairs = Array.from({ length: 120 }, (_, index) => ({
    task_id: `task ${index % 24}`,
    policy: `step-${index < 60 ? 400 : 800}`,
    simulated: index % 5 < 3,
    real: index % 7 < 4,
    episode_id: `episode ${index}`,
  }));
  await presage.realityChecks.create({
    name: "robot, first week",
    environment: "sandbox",
    false_success_limit: 0.2,
    pairs,
  });
}

/** Reads a JSONL file, or all JSONL files in a folder: lines with `interaction`, `next_state` and optionally `context`. */
export async function readTransitions(path: string): Promise<Transition[]> {
  const files = path.endsWith(".jsonl")
    ? [path]
    : (await readdir(path)).filter((name) => name.endsWith(".jsonl")).map((name) => join(path, name));
  const perFile = await Promise.all(files.sort().map(readFile));
  return perFile.flat();
}

async function readFile(file: string): Promise<Transition[]> {
  const [environment = "transitions"] = basename(file).split(".");
  const lines = (await Bun.file(file).text()).split("\n").filter((line) => line.trim() !== "");
  return lines.map((line, index) => {
    const { id, trajectory_id, step, context, interaction, next_state } = JSON.parse(line);
    const sampleId = id ?? (trajectory_id === undefined ? `line ${index + 1}` : `${trajectory_id} #${step}`);
    const trajectory = trajectory_id === undefined ? {} : { trajectory: { trajectory_id, step } };
    return { environment, sampleId, context, interaction, nextState: next_state, ...trajectory };
  });
}
