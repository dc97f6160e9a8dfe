import { z } from "zod";
import { list } from "../list.ts";
import { objectWithRule } from "../object-with-rule.ts";
import { boundedObject, boundedText, shortText } from "../text.ts";
import { ImportedEvaluationResult } from "./imported-result.ts";
import { appOrExperiment, metadataFields } from "./result-fields.ts";

const { evaluator_id, criteria, pass, explanation, evaluation_duration, explanation_duration } =
  ImportedEvaluationResult.shape;
const { app, project_id, project_name, experiment_id, tags, dataset_id, dataset_sample_id } = metadataFields;
const id = (of: string) =>
  boundedText(200)
    .nullish()
    .meta({ description: `The id of ${of}, as given.` });

/** A verdict of an evaluator that ran in a client, which keeps the texts to itself. */
export const ClientEvaluation = objectWithRule(
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
export type ClientEvaluationBatchRequest = z.infer<typeof ClientEvaluationBatchRequest>;

export const ClientEvaluationBatchResponse = z
  .object({
    evaluations: z
      .array(
        z.object({
          id: z.string().meta({ description: "The id of the evaluation's result." }),
          log_id: z.string().meta({ description: "The client's id, as given." }),
          created_at: z.iso
            .datetime({ offset: true })
            .meta({ description: "When the evaluation was stored." }),
          app: z.string().meta({ description: "The application that the result belongs to." }),
          evaluator_id: z.string().meta({ description: "The evaluator, as results name it." }),
          evaluation_type: z.literal("client_evaluation").meta({ description: "Always this text." }),
        }),
      )
      .meta({ description: "The stored evaluations, in request order." }),
  })
  .meta({ id: "ClientEvaluationBatchResponse" });
export type ClientEvaluationBatchResponse = z.infer<typeof ClientEvaluationBatchResponse>;
