import { z } from "zod";
import { list } from "../list.ts";
import { objectWithRule } from "../object-with-rule.ts";
import { boundedText, shortText } from "../text.ts";
import {
  appOrExperiment,
  described,
  evaluatedModelFields,
  instant,
  metadataFields,
  sampleFields,
  score,
} from "./result-fields.ts";

const seconds = "\\d+([.,]\\d+)?S";
const timeOfDay = `T(\\d+H(\\d+M)?(${seconds})?|\\d+M(${seconds})?|${seconds})`;
/** Years and months have no fixed length. The reader refuses them with an error of its own. */
const importedDuration = z.iso
  .duration()
  .meta({
    format: undefined,
    pattern: `^P(\\d+W|\\d+D(${timeOfDay})?|${timeOfDay})$`,
  })
  .nullish();
const isoUnits = "in ISO 8601, in weeks, days, hours, minutes and seconds, for example PT0.25S.";

/** One result from another tool. */
export const ImportedEvaluationResult = objectWithRule(
  {
    evaluator_id: shortText(200).meta({
      description: "The other tool's name for the evaluator. Results show it after `external:`.",
    }),
    profile_name: shortText(200)
      .nullish()
      .meta({ description: "The other tool's name for the evaluator's configuration." }),
    criteria: shortText(200).nullish().meta({ description: "Same as profile_name." }),
    pass: z.boolean().nullish().meta(described.pass),
    score_raw: score.nullish().meta(described.score),
    explanation: boundedText(1_000_000).nullish().meta(described.explanation),
    evaluation_duration: importedDuration.meta({ description: `How long the evaluation took, ${isoUnits}` }),
    explanation_duration: importedDuration.meta({
      description: `How long the explanation took, ${isoUnits}`,
    }),
    ...sampleFields,
    ...evaluatedModelFields,
    ...metadataFields,
  },
  appOrExperiment,
).meta({ id: "ImportedEvaluationResult" });
export type ImportedEvaluationResult = z.infer<typeof ImportedEvaluationResult>;

/** Body of `POST /v1/evaluation-results/batch`: either every result is stored or none is. */
export const EvaluationResultBatchRequest = z
  .object({
    evaluation_results: list(ImportedEvaluationResult)
      .min(1)
      .max(1000)
      .meta({ description: "The results, at most 1,000." }),
  })
  .meta({ id: "EvaluationResultBatchRequest" });
export type EvaluationResultBatchRequest = z.infer<typeof EvaluationResultBatchRequest>;

export const EvaluationResultBatchResponse = z
  .object({
    evaluation_results: z
      .array(
        z.object({
          id: z.string().meta({ description: "The result's new id." }),
          app: z.string().meta(described.app),
          created_at: instant.meta({ description: "When the result was stored." }),
          evaluator_id: z.string().meta({ description: "The evaluator, as results name it." }),
        }),
      )
      .meta({ description: "The stored results, in request order." }),
  })
  .meta({ id: "EvaluationResultBatchResponse" });
export type EvaluationResultBatchResponse = z.infer<typeof EvaluationResultBatchResponse>;
