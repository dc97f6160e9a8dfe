import { createPresage, type Presage, type Run } from "@presage/sdk";
import { makeExample } from "../../sandbox/src/example.ts";
import type { Transition } from "./read-transitions.ts";

const evaluators = [{ evaluator: "exact-match" }, { evaluator: "state-change" }, { evaluator: "rouge-l" }];
/** In one of this many predictions, the degraded copy forgets the change. */
const forgetsEvery = 3;

/** A dataset of each environment with runs of the sandbox, both baselines and a degraded copy of the sandbox. */
export async function fillRuns(
  url: string,
  apiKey: string,
  transitions: readonly Transition[],
): Promise<void> {
  const presage = createPresage({ baseUrl: url, apiKey });
  const recorded = transitions.filter(({ trajectory }) => trajectory !== undefined);
  const environments = Map.groupBy(recorded, ({ environment }) => environment);
  for (const [name, some] of environments) await fillDataset(presage, name, some.map(toLine));
  if (environments.size === 0) await fillDataset(presage, "rooms", makeExample().samples);
}

function toLine({ trajectory, context, interaction, nextState }: Transition): object {
  return { ...trajectory, ...(context && { context }), interaction, next_state: nextState };
}

async function fillDataset(presage: Presage, name: string, lines: readonly object[]): Promise<void> {
  const { id: dataset_id } = await presage.datasets.create({ name });
  await presage.datasets.upload(dataset_id, toText(lines));
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

/** The sandbox's predictions, of which some are the state before the action. */
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

function toText(objects: readonly object[]): string {
  return objects.map((object) => `${JSON.stringify(object)}\n`).join("");
}
