import { RunPredictionLine } from "@presage/contract";
import { checkLine, LineError } from "../../datasets/readers/line-error.ts";
import { predictionFields, readAnswer } from "../../datasets/readers/predictions.ts";

/** How a line names its sample: once, or several times alike. */
export interface SampleNames {
  id: string | undefined;
  trajectoryId: string | undefined;
  step: number | undefined;
  /** Of a line without an id: a sample's id, or its number from 0. */
  index: string | number | undefined;
}

/** A prediction that was made elsewhere. */
export interface PredictionLine {
  sample: SampleNames;
  repeat: number;
  answer: ReturnType<typeof readAnswer>;
  reasoning: string | null;
}

const answerFields = ["prediction", ...predictionFields] as const;

/** Reads a line of an upload: our own export's, or one of the files that evaluation scripts write. */
export function readPredictionLine(value: unknown): PredictionLine {
  const line = checkLine(RunPredictionLine, value);
  if (!answerFields.some((name) => name in line) && line.skipped_overlong !== true)
    throw new LineError("Field required", ["prediction"]);
  return {
    sample: readNames(line),
    repeat: line.repeat ?? 0,
    answer: readAnswer(line, answerFields),
    reasoning: line.reasoning ?? null,
  };
}

function readNames(line: RunPredictionLine): SampleNames {
  const [id, trajectoryId] = [line.dataset_sample_id ?? undefined, line.trajectory_id ?? undefined];
  const [step, index] = [line.step ?? undefined, line.index ?? undefined];
  const isNamed = (id ?? index) !== undefined || (trajectoryId !== undefined && step !== undefined);
  if (isNamed) return { id, trajectoryId, step, index };
  throw new LineError("Field required; or give trajectory_id and step, or index", ["dataset_sample_id"]);
}
