import { z } from "zod";
import {
  DeprecatedExplain,
  deprecated,
  EvaluationResult,
  EvaluationStatus,
  ExplainStrategy,
  evaluatedModelFields,
  metadataFields,
  sampleFields,
} from "./evaluation-result.ts";
import { list } from "./list.ts";
import { shortText } from "./text.ts";

/** One evaluator to run. */
export const EvaluatorReference = z
  .strictObject({
    evaluator: shortText(200)
      .nullish()
      .meta({ description: "An evaluator's id, or its family's name for the newest version." }),
    profile_name: shortText(200)
      .nullish()
      .meta({ description: "Defaults to the family's default profile, if it has one." }),
    criteria: shortText(200).nullish().meta({ description: "Same as profile_name." }),
    explain_strategy: ExplainStrategy.nullish().meta({ default: "always" }),
    evaluator_id: deprecated(shortText(200).nullish(), "evaluator"),
    criterion_id: deprecated(shortText(200).nullish(), "evaluator"),
    explain: deprecated(DeprecatedExplain.nullish(), "explain_strategy"),
  })
  .meta({ id: "EvaluatorReference" });
export type EvaluatorReference = z.infer<typeof EvaluatorReference>;

const references = list(EvaluatorReference).max(20);

/** Body of `POST /v1/evaluate`. null is treated as omitted. If a field is sent under its old and its new name, the new name wins. */
export const EvaluateRequest = z
  .object({
    evaluators: references.min(1).nullish(),
    criteria: deprecated(references.nullish(), "evaluators"),
    ...sampleFields,
    ...evaluatedModelFields,
    ...metadataFields,
    capture: z.enum(["all", "fails-only", "none"]).nullish().meta({
      default: "all",
      description: "Which results are stored: all, all except passes, or none.",
    }),
    confidence_interval_strategy: z.enum(["none", "full-history"]).nullish().meta({ default: "none" }),
    explain: deprecated(DeprecatedExplain.nullish(), "evaluators[].explain_strategy"),
  })
  .meta({ id: "EvaluateRequest" });
export type EvaluateRequest = z.infer<typeof EvaluateRequest>;

/** The outcome of one evaluator. If it did not succeed, there is an error message and no result. */
export const EvaluateItem = z
  .object({
    evaluator_id: z.string(),
    profile_name: z.string(),
    criteria: z.string().meta({ description: "Same as profile_name." }),
    status: EvaluationStatus,
    error_message: z.string().nullable().meta({ description: "An error code, a colon and a sentence." }),
    evaluation_result: EvaluationResult.nullable(),
    criterion_id: deprecated(z.string(), "evaluator_id"),
    result: deprecated(EvaluationResult.nullable(), "evaluation_result"),
  })
  .meta({ id: "EvaluateItem" });
export type EvaluateItem = z.infer<typeof EvaluateItem>;

/** Response of `POST /v1/evaluate`, in the order of the request's evaluators. */
export const EvaluateResponse = z.object({ results: z.array(EvaluateItem) }).meta({ id: "EvaluateResponse" });
export type EvaluateResponse = z.infer<typeof EvaluateResponse>;
