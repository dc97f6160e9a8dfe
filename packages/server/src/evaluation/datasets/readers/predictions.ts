import { z } from "zod";
import { checkLine, LineError } from "./line-error.ts";
import type { ReadSample } from "./reader.ts";

/** Of several the first that a line has. */
export const predictionFields = ["prediction_raw", "predicted", "generated"] as const;
const referenceFields = ["reference", "expected", "ground_truth"] as const;

const text = z.string().nullish();
const Row = z.looseObject({
  index: z.union([z.string(), z.int()]).nullish(),
  prediction_raw: text,
  predicted: text,
  generated: text,
  reference: text,
  expected: text,
  ground_truth: text,
  skipped_overlong: z.boolean().nullish(),
});

/** With it begins what mdlm_world_modeling writes in place of a prediction that failed. */
const failure = "ERROR";

/**
 * A prediction made elsewhere beside its reference, as mdlm_world_modeling writes them. What was asked is not in such a file, so the
 * sample has no messages, and each line is a trajectory of its own. A failed prediction is left out.
 */
export function* readPrediction(value: unknown, line: number): Generator<ReadSample, void> {
  const row = checkLine(Row, value);
  const reference = firstOf(row, referenceFields);
  if (typeof reference !== "string") throw new LineError("Field required", ["reference"]);
  const prediction = firstOf(row, predictionFields);
  const hasFailed =
    typeof prediction !== "string" || prediction.startsWith(failure) || row.skipped_overlong === true;
  const id = String(row.index ?? `line-${line}`);
  yield {
    dataset_sample_id: id,
    trajectory_id: id,
    step: 0,
    messages: [],
    next_state: reference,
    ...(hasFailed ? {} : { prediction }),
  };
}

function firstOf<Field extends string>(
  row: { [field in Field]?: string | null | undefined },
  fields: readonly Field[],
): string | null | undefined {
  const field = fields.find((one) => one in row);
  return field === undefined ? undefined : row[field];
}
