import { z } from "zod";
import { list } from "../list.ts";
import { objectWithRule } from "../object-with-rule.ts";
import { shortText } from "../text.ts";
import { EvaluationResult } from "./evaluation-result.ts";
import {
  appOrExperiment,
  DeprecatedExplain,
  deprecated,
  EvaluationStatus,
  ExplainStrategy,
  evaluatedModelFields,
  metadataFields,
  sampleFields,
} from "./result-fields.ts";

/** One evaluator to run. */
export const EvaluatorReference = z
  .strictObject({
    evaluator: shortText(200)
      .nullish()
      .meta({ description: "An evaluator's id, or its family's name for the newest version." }),
    profile_name: shortText(200)
      .nullish()
      .meta({ description: "Defaults to the family's default profile, if it has one." }),
    criteria: shortText(200).nullish().meta({
      description: "Same as profile_name. Either may name a revision after a colon: `name:3`.",
    }),
    explain_strategy: ExplainStrategy.nullish().meta({
      default: "always",
      description: "When the verdict is explained.",
    }),
    evaluator_id: deprecated(shortText(200).nullish(), "evaluator"),
    criterion_id: deprecated(shortText(200).nullish(), "evaluator"),
    explain: deprecated(DeprecatedExplain.nullish(), "explain_strategy"),
  })
  .meta({ id: "EvaluatorReference" });
export type EvaluatorReference = z.infer<typeof EvaluatorReference>;

const references = list(EvaluatorReference).max(20);

/** Body of `POST /v1/evaluate`. null is treated as omitted. If a field is sent under its old and its new name, the new name wins. */
export const EvaluateRequest = objectWithRule(
  {
    evaluators: references
      .min(1)
      .nullish()
      .meta({ description: "What to run: 1 to 20 evaluators, each with a profile of its own. Required." }),
    criteria: deprecated(references.nullish(), "evaluators"),
    ...sampleFields,
    ...evaluatedModelFields,
    ...metadataFields,
    capture: z.enum(["all", "fails-only", "none"]).nullish().meta({
      default: "all",
      description: "Which results are stored: all, all except passes, or none.",
    }),
    confidence_interval_strategy: z.enum(["none", "full-history"]).nullish().meta({
      default: "none",
      description:
        "`full-history` adds an interval for the median of all earlier scores of the same evaluator and profile.",
    }),
    explain: deprecated(DeprecatedExplain.nullish(), "evaluators[].explain_strategy"),
  },
  appOrExperiment,
).meta({ id: "EvaluateRequest" });
export type EvaluateRequest = z.infer<typeof EvaluateRequest>;

/** The outcome of one evaluator. If it did not succeed, there is an error message and no result. */
export const EvaluateItem = z
  .object({
    evaluator_id: z.string().meta({ description: "The evaluator that ran, with its version." }),
    profile_name: z.string().meta({ description: "The profile that configured it; empty if none did." }),
    criteria: z.string().meta({ description: "Same as profile_name." }),
    status: EvaluationStatus.meta({ description: "Whether there is a verdict, and if not, why." }),
    error_message: z.string().nullable().meta({ description: "An error code, a colon and a sentence." }),
    evaluation_result: EvaluationResult.nullable().meta({
      description: "The verdict; null if there is none.",
    }),
    criterion_id: deprecated(z.string(), "evaluator_id"),
    result: deprecated(EvaluationResult.nullable(), "evaluation_result"),
  })
  .meta({ id: "EvaluateItem" });
export type EvaluateItem = z.infer<typeof EvaluateItem>;

/** Response of `POST /v1/evaluate`, in the order of the request's evaluators. */
export const EvaluateResponse = z
  .object({
    results: z.array(EvaluateItem).meta({ description: "One outcome for each evaluator, in request order." }),
  })
  .meta({ id: "EvaluateResponse" });
export type EvaluateResponse = z.infer<typeof EvaluateResponse>;
