import { z } from "zod";
import { countOf } from "../platform/count-of.ts";
import type { ReadSample } from "./reader.ts";
import { checkLine, LineError } from "./upload/line-error.ts";

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
  const answer = readAnswer(row);
  const id = String(row.index ?? `line-${line}`);
  yield {
    dataset_sample_id: id,
    trajectory_id: id,
    step: 0,
    messages: [],
    next_state: reference,
    ...("prediction" in answer ? answer : {}),
  };
}

type Answer = { prediction: string } | { failure: "error" | "skipped" };
type AnswerField = (typeof predictionFields)[number] | "prediction";

/** What a line predicts, or why it has no answer: one rule for all files of predictions, also those that are uploaded to a run. */
export function readAnswer(
  line: { [field in AnswerField]?: string | null | undefined } & {
    skipped_overlong?: boolean | null | undefined;
  },
  fields: readonly AnswerField[] = predictionFields,
): Answer {
  if (line.skipped_overlong === true) return { failure: "skipped" };
  const prediction = firstOf(line, fields);
  const isOfScript = predictionFields.some((field) => field in line);
  if (typeof prediction !== "string" || (isOfScript && prediction.startsWith(failure)))
    return { failure: "error" };
  return { prediction };
}

/** Counts lines whose index an earlier one has. Of these the first counts, as in the script. */
export function countRepeatedIndexes() {
  // There may be millions, and most are numbers, which take less memory.
  const seen = new Set<string | number>();
  let repeated = 0;
  return {
    isRepeated(index: string | number): boolean {
      const key = String(Number(index)) === String(index) ? Number(index) : index;
      if (!seen.has(key)) return !seen.add(key);
      repeated += 1;
      return true;
    },
    warnings: () =>
      repeated === 0
        ? undefined
        : [`${countOf(repeated, "line")} passed over: of lines with the same index the first counts.`],
  };
}

function firstOf<Field extends string>(
  row: { [field in Field]?: string | null | undefined },
  fields: readonly Field[],
): string | null | undefined {
  const field = fields.find((one) => one in row);
  return field === undefined ? undefined : row[field];
}
