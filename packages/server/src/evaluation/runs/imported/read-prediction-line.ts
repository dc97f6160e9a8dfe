import { RunPredictionLine } from "@presage/contract";
import { checkLine, LineError } from "../../datasets/readers/line-error.ts";

/** How a line names its sample. */
export type SampleName = { id: string } | { trajectoryId: string; step: number } | { index: number };

/** A prediction that was made elsewhere. */
export interface PredictionLine {
  sample: SampleName;
  repeat: number;
  /** Null: it failed. */
  prediction: string | null;
  reasoning: string | null;
}

const predictionFields = ["prediction", "prediction_raw", "predicted", "generated"] as const;

/** Reads a line of an upload: our own export's, or one of the files that evaluation scripts write. */
export function readPredictionLine(value: unknown): PredictionLine {
  const line = checkLine(RunPredictionLine, value);
  const field = predictionFields.find((name) => name in line);
  if (field === undefined) throw new LineError("Field required", ["prediction"]);
  return {
    sample: readName(line),
    repeat: line.repeat ?? 0,
    prediction: line[field] ?? null,
    reasoning: line.reasoning ?? null,
  };
}

function readName({ dataset_sample_id, trajectory_id, step, index }: RunPredictionLine): SampleName {
  if (typeof dataset_sample_id === "string") return { id: dataset_sample_id };
  if (typeof trajectory_id === "string" && typeof step === "number")
    return { trajectoryId: trajectory_id, step };
  if (typeof index === "string") return { id: index };
  if (typeof index === "number") return { index };
  throw new LineError("Field required; or give trajectory_id and step, or index", ["dataset_sample_id"]);
}
