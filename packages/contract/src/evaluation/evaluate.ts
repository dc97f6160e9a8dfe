import { z } from "zod";
import { list, objectWithRules, type Rule } from "../custom-schemas.ts";
import { boundedObject, boundedText, instant, shortText, string, stringOrNull } from "../text.ts";
import {
  appOrExperiment,
  DeprecatedExplain,
  deprecated,
  described,
  EvaluationResult,
  EvaluationStatus,
  ExplainStrategy,
  evaluatedModelFields,
  metadataFields,
  sampleFields,
  score,
} from "./result.ts";

/** One evaluator to run. */
export const EvaluatorReference = z
  .strictObject({
    evaluator: shortText(200)
      .nullish()
      .meta({ description: "A family's name, or one of its ids. Either runs its newest version." }),
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

// Each is required under one of several names, which JSON Schema could say only for those that are not null.
const hasEvaluators: Rule = {
  isKept: ({ evaluators, criteria }: { evaluators?: unknown; criteria?: unknown }) => {
    const given = evaluators ?? criteria ?? [];
    return !Array.isArray(given) || given.length > 0;
  },
  path: ["evaluators"],
  message: "Field required",
};
const textNames = [
  "evaluated_model_input",
  "task_input",
  "input",
  "evaluated_model_output",
  "task_output",
  "output",
];
const hasText: Rule = {
  isKept: (fields: object) => textNames.some((name) => (Reflect.get(fields, name) ?? null) !== null),
  path: ["evaluated_model_output"],
  message: "Field required",
};

/** Body of `POST /v1/evaluate`. null is treated as omitted. If a field is sent under its old and its new name, the new name wins. */
export const EvaluateRequest = objectWithRules(
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
  hasEvaluators,
  hasText,
).meta({ id: "EvaluateRequest" });
export type EvaluateRequest = z.infer<typeof EvaluateRequest>;

/** The outcome of one evaluator. If it did not succeed, there is an error message and no result. */
export const EvaluateItem = z
  .object({
    evaluator_id: string("The evaluator that ran, with its version."),
    profile_name: string("The profile that configured it; empty if none did."),
    criteria: string("Same as profile_name."),
    status: EvaluationStatus.meta({ description: "Whether there is a verdict, and if not, why." }),
    error_message: stringOrNull("An error code, a colon and a sentence."),
    evaluation_result: EvaluationResult.nullable().meta({
      description: "The verdict; null if there is none.",
    }),
    result_id: z.string().optional().meta({
      description: "Without a verdict, the id of the result that is stored.",
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

const seconds = "\\d+([.,]\\d+)?S";
const timeOfDay = `T(\\d+H(\\d+M)?(${seconds})?|\\d+M(${seconds})?|${seconds})`;
/** Years and months have no fixed length. The reader refuses them with its own error. */
const importedDuration = z.iso
  .duration()
  .meta({
    format: undefined,
    pattern: `^P(\\d+W|\\d+D(${timeOfDay})?|${timeOfDay})$`,
  })
  .nullish();
const isoUnits = "in ISO 8601, in weeks, days, hours, minutes and seconds, for example PT0.25S.";

/** One result from another tool. */
export const ImportedEvaluationResult = objectWithRules(
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

/** Response of `POST /v1/evaluation-results/batch`. */
export const EvaluationResultBatchResponse = z
  .object({
    evaluation_results: z
      .array(
        z.object({
          id: string("The result's new id."),
          app: z.string().meta(described.app),
          created_at: instant.meta({ description: "When the result was stored." }),
          evaluator_id: string("The evaluator, as results name it."),
        }),
      )
      .meta({ description: "The stored results, in request order." }),
  })
  .meta({ id: "EvaluationResultBatchResponse" });
export type EvaluationResultBatchResponse = z.infer<typeof EvaluationResultBatchResponse>;

const { evaluator_id, criteria, pass, explanation, evaluation_duration, explanation_duration } =
  ImportedEvaluationResult.shape;
const { app, project_id, project_name, experiment_id, tags, dataset_id, dataset_sample_id } = metadataFields;
const id = (of: string) =>
  boundedText(200)
    .nullish()
    .meta({ description: `The id of ${of}, as given.` });

/** A verdict of an evaluator that ran in a client, which keeps the texts to itself. */
export const ClientEvaluation = objectWithRules(
  {
    log_id: shortText(200).meta({ description: "The client's unique id of the evaluation." }),
    evaluator_id,
    criteria: criteria.meta({ description: "The client's name for the evaluator's configuration." }),
    pass,
    score: z.number().nullish().meta({
      description:
        "The score. It becomes `score_raw` of the result if it is from 0 to 1; any other is kept in `additional_info.extra`.",
    }),
    text_output: boundedText(1_000_000).nullish().meta({ description: "What the evaluator said." }),
    metadata: boundedObject(1_000_000, "An evaluation's metadata").nullish().meta({
      description: "Any JSON object of at most 1,000,000 characters.",
    }),
    explanation,
    evaluation_duration,
    explanation_duration,
    metric_name: boundedText(200).nullish().meta({ description: "What the evaluator measures." }),
    metric_description: boundedText(10_000).nullish().meta({ description: "What the metric means." }),
    created_at: boundedText(100).nullish().meta({
      description: "When the evaluation was made. The result is dated by when it is stored.",
    }),
    trace_id: id("the trace that the evaluation is part of"),
    span_id: id("its span"),
    app,
    project_id,
    project_name,
    experiment_id,
    tags,
    dataset_id,
    dataset_sample_id,
  },
  appOrExperiment,
).meta({ id: "ClientEvaluation" });
export type ClientEvaluation = z.infer<typeof ClientEvaluation>;

/** Body of `POST /v1/evaluations/batch`: either every evaluation is stored or none is. */
export const ClientEvaluationBatchRequest = z
  .object({
    evaluations: list(ClientEvaluation)
      .min(1)
      .max(1000)
      .meta({ description: "The evaluations, at most 1,000." }),
  })
  .meta({ id: "ClientEvaluationBatchRequest" });

export const ClientEvaluationBatchResponse = z
  .object({
    evaluations: z
      .array(
        z.object({
          id: string("The id of the evaluation's result."),
          log_id: string("The client's id, as given."),
          created_at: instant.meta({ description: "When the evaluation was stored." }),
          app: string("The application that the result belongs to."),
          evaluator_id: string("The evaluator, as results name it."),
          evaluation_type: z.literal("client_evaluation").meta({ description: "Always this text." }),
        }),
      )
      .meta({ description: "The stored evaluations, in request order." }),
  })
  .meta({ id: "ClientEvaluationBatchResponse" });
