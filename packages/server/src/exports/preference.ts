import type { DatasetSample, RunExportQuery } from "@presage/contract";
import { composePrompt } from "@presage/contract/compose-prompt";
import { InvalidRequestError, valueError } from "../http/validate.ts";
import type { Requester } from "../platform/storage/store.ts";
import { withDataset } from "../runs/run-samples.ts";
import { type FindNeeds, findRun } from "../runs/runs.ts";
import { type PredictedSample, type RunOfDataset, readPredicted, type Score, scorerOf } from "./predicted.ts";

/** A pair of answers of which one was scored higher, as TRL's trainers read it. */
interface Pair {
  prompt: { role: string; content: string }[];
  chosen: [{ role: "assistant"; content: string }];
  rejected: [{ role: "assistant"; content: string }];
  margin: number;
}

const defaultMargin = 0.1;
/** Of a reference, which is right by definition. */
const referenceScore = 1;

/** Pairs of predictions of the same sample, of one run's repeats or of two runs. */
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
  if (run.evaluators.length === 0)
    throw new InvalidRequestError([
      valueError(["query", "format"], "The run has no evaluator to compare by"),
    ]);
  const scores = [run, ...(other === undefined ? [] : [other])].map((one) => scorerOf(one, query));
  const predicted = readPredicted(services, requester, other === undefined ? [run] : [run, other]);
  const options = {
    margin: Number(margin),
    perSample: Number(per_sample),
    isReferenceChosen: chosen === "reference",
  };
  return pairs(predicted, scores, options);
}

async function* pairs(
  predicted: AsyncIterable<PredictedSample>,
  scores: readonly Score[],
  options: { margin: number; perSample: number; isReferenceChosen: boolean },
): AsyncGenerator<Pair[], void> {
  for await (const { sample, predictions } of predicted) {
    const answers = predictions.flatMap((lines, run) =>
      lines.flatMap((line) => {
        const score = scores[run]?.(line);
        return score === undefined || line.prediction === null ? [] : [{ text: line.prediction, score }];
      }),
    );
    const found = pairsOf(sample, answers, options);
    if (found.length > 0) yield found;
  }
}

interface Answer {
  text: string;
  score: number;
}

/** The pairs of one sample that are furthest apart. Equal texts are none, and each pair of texts is there once. */
function pairsOf(
  sample: DatasetSample,
  answers: readonly Answer[],
  { margin, perSample, isReferenceChosen }: { margin: number; perSample: number; isReferenceChosen: boolean },
): Pair[] {
  const { interaction, messages = [], context } = sample;
  const prompt = interaction ? composePrompt(context, interaction) : messages;
  const best = isReferenceChosen ? [{ text: sample.next_state, score: referenceScore }] : answers;
  const found = best.flatMap((chosen) =>
    answers
      .filter(({ text, score }) => text !== chosen.text && chosen.score - score >= margin)
      .map((rejected) => ({ chosen, rejected, margin: chosen.score - rejected.score })),
  );
  const once = new Map(found.map((pair) => [JSON.stringify([pair.chosen.text, pair.rejected.text]), pair]));
  return [...once.values()]
    .sort((one, other) => other.margin - one.margin)
    .slice(0, perSample)
    .map(({ chosen, rejected, margin }) => ({
      prompt,
      chosen: [{ role: "assistant", content: chosen.text }],
      rejected: [{ role: "assistant", content: rejected.text }],
      margin,
    }));
}
