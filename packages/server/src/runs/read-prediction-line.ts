import { RunPredictionLine } from "@presage/contract";
import { predictionFields, readAnswer } from "../datasets/formats.ts";
import { checkLine, LineError } from "../datasets/upload/lines.ts";

/** How a line names its sample: once, or several times alike. Its index is the sample's id, or its number from 0. */
export type SampleNames = ReturnType<typeof readNames>;

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

function readNames(line: RunPredictionLine) {
  const names = {
    id: line.dataset_sample_id ?? undefined,
    trajectoryId: line.trajectory_id ?? undefined,
    step: line.step ?? undefined,
    index: line.index ?? undefined,
  };
  const { id, trajectoryId, step, index } = names;
  if ((id ?? index) !== undefined || (trajectoryId !== undefined && step !== undefined)) return names;
  throw new LineError("Field required; or give trajectory_id and step, or index", ["dataset_sample_id"]);
}
