import type { DatasetSample, RunExportLine, RunExportQuery } from "@presage/contract";
import { composePrompt } from "@presage/contract/compose-prompt";
import { readByTrajectory } from "../datasets/samples.ts";
import { InvalidRequestError, valueError } from "../http/validate.ts";
import type { Requester } from "../platform/storage/store.ts";
import type { Run, RunDataset } from "../runs/run.ts";
import { ownEvaluatorNamed, readPredictions, withDataset } from "../runs/run-samples.ts";
import { promptOf } from "../runs/runner/steps.ts";
import { type FindNeeds, findRun } from "../runs/runs.ts";
import type { Trajectory } from "./trajectories.ts";

export type RunOfDataset = Run & { dataset: RunDataset };

/** A sample with the predictions of some runs for it, by run and repeat. */
interface PredictedSample {
  sample: DatasetSample;
  predictions: RunExportLine[][];
}

/** How many predictions are read in one query, unless one sample has more. One less than a page, so that no second page follows. */
const predictionsAtOnce = 49;

/** The samples of a revision by trajectory and step, with the predictions of runs on it. */
export async function* readPredicted(
  services: FindNeeds,
  requester: Requester,
  runs: readonly [RunOfDataset, ...RunOfDataset[]],
  onHeld?: (characters: number) => void,
): AsyncGenerator<PredictedSample, void> {
  const { datasetId: id, revision: number } = runs[0].dataset;
  const repeats = Math.max(...runs.map((run) => run.repeats));
  const size = Math.max(1, Math.floor(predictionsAtOnce / repeats));
  for await (const piece of readByTrajectory(services, requester, { id, number }, onHeld)) {
    for (let from = 0; from < piece.length; from += size) {
      const samples = piece.slice(from, from + size);
      const sampleId = samples.map(({ dataset_sample_id }) => dataset_sample_id);
      const made: Map<string, RunExportLine[]>[] = [];
      for (const run of runs) {
        const lines = await Array.fromAsync(readPredictions(services, requester, run, { sampleId }));
        made.push(Map.groupBy(lines.flat(), ({ dataset_sample_id }) => dataset_sample_id));
      }
      for (const sample of samples)
        yield { sample, predictions: made.map((of) => of.get(sample.dataset_sample_id) ?? []) };
    }
  }
}

type Verdict = RunExportLine["verdicts"][number];

/** An evaluator's verdict on a prediction; undefined if it gave none. */
type Judge = (prediction: RunExportLine) => Verdict | undefined;

/** The evaluator that a query names; the run's first if the query names none. */
export function judgeOf(run: Run, { evaluator, profile_name }: RunExportQuery): Judge {
  const wanted =
    evaluator === undefined ? run.evaluators[0] : ownEvaluatorNamed(run, { evaluator, profile_name }).own;
  return ({ verdicts }) =>
    verdicts.find((one) => one.evaluator === wanted?.id && one.profile_name === wanted.profile.name);
}

/** A verdict as a number: its score, otherwise whether it passed. */
export function numberOf({ score, pass }: Verdict): number | undefined {
  return score ?? (pass === null ? undefined : Number(pass));
}

/** A trajectory as one repeat of a run predicts it. */
interface Repeat {
  samples: DatasetSample[];
  isSuccess: boolean;
}

/**
 * The trajectories as a run predicted them, one for each repeat, with scores as rewards. Failed predictions are left out. If the
 * evaluator only scores and gives no pass or fail, a score above 0 counts as success.
 */
export async function* trajectoriesOf(
  predicted: AsyncIterable<PredictedSample>,
  { mode, repeats: wanted }: Pick<Run, "mode" | "repeats">,
  judge: Judge,
): AsyncGenerator<Trajectory, void> {
  let id: string | undefined;
  let repeats: Repeat[] = [];
  for await (const {
    sample,
    predictions: [made = []],
  } of predicted) {
    if (sample.trajectory_id !== id) yield* ended(repeats);
    if (sample.trajectory_id !== id) repeats = [];
    id = sample.trajectory_id;
    for (let number = 0; number < wanted; number += 1) {
      const repeat = repeats[number] ?? { samples: [], isSuccess: true };
      repeats[number] = repeat;
      const { samples } = repeat;
      const line = made.find((one) => one.repeat === number);
      // The run ended before this sample, or did not draw it.
      if (line === undefined) {
        repeat.isSuccess = false;
        continue;
      }
      const verdict = judge(line);
      const score = verdict && numberOf(verdict);
      repeat.isSuccess &&= line.prediction !== null && (verdict?.pass ?? (score ?? 0) > 0);
      if (line.prediction === null) continue;
      const told = mode === "free-running" ? samples : [];
      samples.push(predictedSample(sample, line.prediction, score, told));
    }
  }
  yield* ended(repeats);
}

function* ended(repeats: readonly Repeat[]): Generator<Trajectory, void> {
  for (const [number, repeat] of repeats.entries()) {
    const id = repeat.samples[0]?.trajectory_id;
    if (id !== undefined) yield { ...repeat, id: repeats.length > 1 ? `${id}/repeat-${number}` : id };
  }
}

/** The sample with the predicted next state, and with the `told` predictions in place of the environment's earlier answers. */
function predictedSample(
  { reward: _, done: __, at: ___, usage: ____, ...sample }: DatasetSample,
  next_state: string,
  reward: number | undefined,
  told: readonly DatasetSample[],
): DatasetSample {
  const { interaction, messages } = sample;
  const before = told.at(-1)?.next_state;
  return {
    ...sample,
    ...(interaction && before !== undefined && { interaction: { ...interaction, state: before } }),
    ...(messages &&
      before !== undefined && {
        messages: promptOf(
          sample,
          told.map((one) => one.next_state),
        ),
      }),
    next_state,
    ...(reward !== undefined && { reward }),
  };
}

/** A pair of answers, one of which scored higher, as TRL's trainers read it. */
interface Pair {
  prompt: { role: string; content: string }[];
  chosen: [{ role: "assistant"; content: string }];
  rejected: [{ role: "assistant"; content: string }];
  margin: number;
}

const defaultMargin = 0.1;
/** In floating point, 1 − 0.9 is slightly less than 0.1. */
const roundingError = 1e-9;
/** The score of a reference, which is right by definition. */
const referenceScore = 1;

/** Pairs of predictions for the same sample, from one run's repeats or from two runs. */
export async function readPairs(
  services: FindNeeds,
  requester: Requester,
  run: RunOfDataset,
  query: RunExportQuery,
): Promise<AsyncGenerator<Pair[], void>> {
  const { against, margin = defaultMargin, per_sample = 1, chosen = "prediction" } = query;
  const other = against === undefined ? undefined : withDataset(await findRun(services, requester, against));
  if (other !== undefined && other.dataset.revisionId !== run.dataset.revisionId)
    throw new InvalidRequestError([
      valueError(["query", "against"], "The run is of another revision", against),
    ]);
  if ([run, other].some((one) => one?.mode === "free-running"))
    throw new InvalidRequestError([
      valueError(
        ["query", "format"],
        "A free-running run's answers are to prompts of their own, so they make no pairs",
      ),
    ]);
  if (run.evaluators.length === 0)
    throw new InvalidRequestError([
      valueError(["query", "format"], "The run has no evaluator to compare by"),
    ]);
  const judges = [run, ...(other === undefined ? [] : [other])].map((one) => judgeOf(one, query));
  const predicted = readPredicted(services, requester, other === undefined ? [run] : [run, other]);
  const options = {
    margin: Number(margin),
    perSample: Number(per_sample),
    isReferenceChosen: chosen === "reference",
  };
  return pairs(predicted, judges, options);
}

async function* pairs(
  predicted: AsyncIterable<PredictedSample>,
  judges: readonly Judge[],
  options: { margin: number; perSample: number; isReferenceChosen: boolean },
): AsyncGenerator<Pair[], void> {
  for await (const { sample, predictions } of predicted) {
    const answers = predictions.flatMap((lines, run) =>
      lines.flatMap((line) => {
        const verdict = judges[run]?.(line);
        const score = verdict && numberOf(verdict);
        return score === undefined || line.prediction === null ? [] : [{ text: line.prediction, score }];
      }),
    );
    const found = pairsOf(sample, answers, options);
    if (found.length > 0) yield found;
  }
}

/** The pairs of one sample that are furthest apart. Equal texts make no pair, and each pair of texts occurs once. */
function pairsOf(
  sample: DatasetSample,
  answers: readonly { text: string; score: number }[],
  { margin, perSample, isReferenceChosen }: { margin: number; perSample: number; isReferenceChosen: boolean },
): Pair[] {
  const { interaction, messages = [], context } = sample;
  const prompt = interaction ? composePrompt(context, interaction) : messages;
  const best = isReferenceChosen ? [{ text: sample.next_state, score: referenceScore }] : answers;
  const found = best.flatMap((chosen) =>
    answers
      .filter(({ text, score }) => text !== chosen.text && chosen.score - score >= margin - roundingError)
      .map((rejected) => ({ chosen, rejected, margin: chosen.score - rejected.score })),
  );
  found.sort((one, other) => other.margin - one.margin);
  const once = Map.groupBy(found, (pair) => JSON.stringify([pair.chosen.text, pair.rejected.text]));
  return [...once.values()]
    .flatMap(([furthest]) => furthest ?? [])
    .slice(0, perSample)
    .map(({ chosen, rejected, margin }) => ({
      prompt,
      chosen: [{ role: "assistant", content: chosen.text }],
      rejected: [{ role: "assistant", content: rejected.text }],
      margin,
    }));
}
