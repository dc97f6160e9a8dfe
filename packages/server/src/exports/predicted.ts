import type { DatasetSample, RunExportLine, RunExportQuery } from "@presage/contract";
import { exportSamples } from "../datasets/samples.ts";
import type { Requester } from "../platform/storage/store.ts";
import type { Run, RunDataset } from "../runs/run.ts";
import { readPredictions } from "../runs/run-samples.ts";
import type { FindNeeds } from "../runs/runs.ts";
import { findEvaluator } from "../runs/samples-route.ts";
import type { Trajectory } from "./trajectory.ts";

export type RunOfDataset = Run & { dataset: RunDataset };

/** A sample with what some runs predicted of it, by run and repeat. */
export interface PredictedSample {
  sample: DatasetSample;
  predictions: RunExportLine[][];
}

/** The samples of a revision in its order, with what runs of it predicted. */
export async function* readPredicted(
  services: FindNeeds,
  requester: Requester,
  runs: readonly [RunOfDataset, ...RunOfDataset[]],
): AsyncGenerator<PredictedSample, void> {
  const { datasetId: id, revision: number } = runs[0].dataset;
  const takes = runs.map((run) => takingTurns(readPredictions(services, requester, run)));
  try {
    for await (const lines of await exportSamples(services, requester, { id, number })) {
      for (const line of lines) {
        // It was written as one.
        const sample: DatasetSample = JSON.parse(line);
        const predictions: RunExportLine[][] = [];
        for (const { take } of takes) predictions.push(await take(sample.dataset_sample_id));
        yield { sample, predictions };
      }
    }
  } finally {
    for (const { end } of takes) await end();
  }
}

/** Takes the predictions of one sample after the other, which come in the order of the samples. */
function takingTurns(pieces: AsyncGenerator<RunExportLine[], void>) {
  let waiting: RunExportLine[] = [];
  let isAtEnd = false;
  return {
    async take(sampleId: string): Promise<RunExportLine[]> {
      const taken: RunExportLine[] = [];
      for (;;) {
        const next = waiting.findIndex(({ dataset_sample_id }) => dataset_sample_id !== sampleId);
        taken.push(...waiting.splice(0, next < 0 ? waiting.length : next));
        if (next >= 0 || isAtEnd) return taken;
        const { done, value } = await pieces.next();
        if (done) isAtEnd = true;
        else waiting = value;
      }
    },
    end: () => pieces.return(),
  };
}

/** How an evaluator scored a prediction; undefined if it did not. */
export type Score = (prediction: RunExportLine) => number | undefined;

/** The scores of the evaluator that a query names, of the run's first if it names none. */
export function scorerOf(run: Run, { evaluator, profile_name }: RunExportQuery): Score {
  const place = evaluator === undefined ? 0 : findEvaluator(run, "evaluator", evaluator, profile_name);
  const wanted = run.evaluators[place];
  return ({ verdicts }) => {
    const verdict = verdicts.find(
      (one) => one.evaluator === wanted?.id && one.profile_name === wanted.profile.name,
    );
    return verdict && numberOf(verdict);
  };
}

/** A verdict as a number: its score, otherwise whether it passed. */
export function numberOf({ score, pass }: RunExportLine["verdicts"][number]): number | undefined {
  return score ?? (pass === null ? undefined : Number(pass));
}

/** The trajectories as a run predicted them, one for each repeat, with scores as rewards. What failed is left out. */
export async function* trajectoriesOf(
  predicted: AsyncIterable<PredictedSample>,
  { mode }: Pick<Run, "mode">,
  score: Score,
): AsyncGenerator<Trajectory, void> {
  let id: string | undefined;
  let repeats: DatasetSample[][] = [];
  for await (const {
    sample,
    predictions: [made = []],
  } of predicted) {
    if (sample.trajectory_id !== id) yield* ended(repeats);
    if (sample.trajectory_id !== id) repeats = [];
    id = sample.trajectory_id;
    for (const line of made) {
      if (line.prediction === null) continue;
      const samples = repeats[line.repeat] ?? [];
      repeats[line.repeat] = samples;
      const before = mode === "free-running" ? samples.at(-1)?.next_state : undefined;
      samples.push(predictedSample(sample, line.prediction, score(line), before));
    }
  }
  yield* ended(repeats);
}

function* ended(repeats: readonly (DatasetSample[] | undefined)[]): Generator<Trajectory, void> {
  for (const [repeat, samples] of repeats.entries()) {
    const id = samples?.[0]?.trajectory_id;
    if (samples === undefined || id === undefined) continue;
    yield { id: repeats.length > 1 ? `${id}/repeat-${repeat}` : id, samples };
  }
}

/** What was predicted in place of what the environment answered. In free-running mode the state was predicted before. */
function predictedSample(
  { reward: _, done: __, at: ___, usage: ____, ...sample }: DatasetSample,
  next_state: string,
  reward: number | undefined,
  before: string | undefined,
): DatasetSample {
  const { interaction } = sample;
  return {
    ...sample,
    ...(interaction && before !== undefined && { interaction: { ...interaction, state: before } }),
    next_state,
    ...(reward !== undefined && { reward }),
  };
}
