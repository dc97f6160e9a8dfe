import { type Presage, PresageError, type Run } from "@presage/sdk";
import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { PageError } from "../format/errors.ts";
import { usePresage } from "./client.ts";
import { worldsKey } from "./worlds.ts";

/** What the build makes from the sandbox's rooms: the lines of a dataset, and predictions for them. */
interface ExampleFile {
  samples: unknown[];
  predictions: unknown[];
}

/** The example in an account, recognised by its dataset's tag. */
export interface LoadedExample {
  datasetId: string;
  /** The baseline first, as comparisons expect. */
  runIds: string[];
  /** Whether its dataset has other runs, which would be deleted with it. */
  hasOtherRuns: boolean;
}

const tag = { name: "example", value: "rooms" };
const name = "Example: rooms of the sandbox";
const worldName = "example-rooms";
const evaluators = [{ evaluator: "exact-match" }, { evaluator: "state-change" }, { evaluator: "rouge-l" }];
const exampleKey = ["example"];

/** The example, if it is loaded. */
export function exampleQuery(presage: Presage) {
  return queryOptions({
    queryKey: exampleKey,
    async queryFn({ signal }): Promise<LoadedExample | null> {
      const datasets = await presage.datasets.list({ signal });
      const found = datasets.find(({ tags }) => tags?.[tag.name] === tag.value);
      if (found === undefined) return null;
      const runs = await presage.runs.list({ dataset_id: found.id }, { signal });
      const own = runs.filter((run) => run.tags?.[tag.name] === tag.value);
      return {
        datasetId: found.id,
        runIds: baselineFirst(own).map(({ id }) => id),
        hasOtherRuns: own.length < runs.length,
      };
    },
  });
}

function baselineFirst(runs: readonly Run[]): Run[] {
  const isBaseline = ({ target }: Run) => "baseline" in target;
  return [...runs.filter(isBaseline), ...runs.filter((run) => !isBaseline(run))];
}

export function useLoadExample({ onSuccess }: { onSuccess(example: LoadedExample): void }) {
  const presage = usePresage();
  const refresh = useRefresh();
  return useMutation({
    mutationFn: () => loadExample(presage),
    onSuccess,
    onSettled: refresh,
  });
}

export function useRemoveExample({ onSuccess }: { onSuccess(): void }) {
  const presage = usePresage();
  const refresh = useRefresh();
  return useMutation({
    mutationFn: (datasetId: string) => removeExample(presage, datasetId),
    onSuccess,
    onSettled: refresh,
  });
}

/** Reloads everything that the example adds to or removes from. */
function useRefresh(): () => Promise<unknown> {
  const queryClient = useQueryClient();
  const keys = [
    exampleKey,
    worldsKey,
    ["datasets"],
    ["runs"],
    ["comparisons"],
    ["stored predictions"],
    ["results"],
  ];
  return () => Promise.all(keys.map((queryKey) => queryClient.invalidateQueries({ queryKey })));
}

/** Uploads the trajectories and their predictions, makes a world from them, and runs the baseline. On failure, nothing is left. */
async function loadExample(presage: Presage): Promise<LoadedExample> {
  const file = await readExample();
  const dataset = await presage.datasets.create({
    name,
    description:
      "Trajectories through rooms of the built-in sandbox, which remembers what has happened. One run predicts them with the same rules, told the last observation only; the other predicts that nothing changes.",
    tags: { [tag.name]: tag.value },
  });
  const dataset_id = dataset.id;
  try {
    await presage.datasets.upload(dataset_id, toLines(file.samples));
    await makeWorld(presage, dataset_id);
    const tags = { [tag.name]: tag.value };
    const baseline = await presage.runs.create({
      name: "Example: no change",
      dataset_id,
      target: { baseline: "no-change" },
      evaluators,
      tags,
    });
    const sandbox = await presage.runs.create({
      name: "Example: sandbox without memory",
      dataset_id,
      target: { predictions: "imported" },
      evaluators,
      tags,
    });
    await presage.runs.uploadPredictions(sandbox.id, toLines(file.predictions));
    const wait = { pollEveryMs: 300 };
    await Promise.all([baseline, sandbox].map(({ id }) => presage.runs.waitUntilEnded(id, wait)));
    return { datasetId: dataset_id, runIds: [baseline.id, sandbox.id], hasOtherRuns: false };
  } catch (error) {
    await removeExample(presage, dataset_id).catch(() => {});
    throw error;
  }
}

/** Creates the world, unless there is one of that name: someone made it, and it stays. */
async function makeWorld({ worlds }: Presage, dataset: string): Promise<void> {
  try {
    await worlds.create({
      name: worldName,
      description: "Answers from the example’s trajectories through rooms of the sandbox, without a model.",
      examples: { dataset },
      model: { kind: "retrieval", answer: "adapted" },
    });
  } catch (error) {
    if (!(error instanceof PresageError) || error.category !== "conflict") throw error;
  }
}

async function removeExample({ datasets, worlds }: Presage, datasetId: string): Promise<void> {
  const world = (await worlds.list()).find(({ name }) => name === worldName);
  if (world?.pinned.examples?.dataset_id === datasetId) await worlds.delete(worldName);
  await datasets.delete(datasetId, { withRuns: true });
}

async function readExample(): Promise<ExampleFile> {
  const response = await fetch("/assets/example.json");
  if (!response.ok)
    throw new PageError(`The example could not be loaded: status ${response.status}. Try again.`);
  return await response.json();
}

function toLines(objects: readonly unknown[]): string {
  return objects.map((object) => `${JSON.stringify(object)}\n`).join("");
}
