import { z } from "zod";
import { PredictionFailure, RunVerdict, StoredPrediction } from "../prediction/stored-prediction.ts";
import { listOf, pageLimit, queryBoolean, queryInteger, wrongCursor } from "../query.ts";
import { count, countOrNull, figure, storableText, string, stringOrNull } from "../text.ts";
import { uploadWarnings } from "./dataset.ts";
import { maxRepeats } from "./run.ts";

/** One prediction of a run. */
export const RunSample = z
  .object({
    dataset_sample_id: string("The sample's id in its dataset."),
    trajectory_id: string("The trajectory that the step belongs to."),
    step: count("The place in the trajectory."),
    repeat: count("Counts from 0."),
    changes: countOrNull("How much the state changed in the recording; null if that cannot be counted."),
    verb: stringOrNull("The action's first word, or its first call."),
    action: z.string().nullable().optional().meta({
      description:
        "The beginning of the whole action, if text_limit was sent: the last message, if the sample has messages.",
    }),
    expected: z.string().nullable().optional().meta({
      description: "The beginning of the recorded next state, if text_limit was sent.",
    }),
    confidence: StoredPrediction.shape.confidence,
    prediction: z
      .object({
        id: z.uuid().meta({ description: "The prediction's id." }),
        status: z.enum(["success", "failed"]).meta({ description: "Whether there is a prediction." }),
        error_category: PredictionFailure.nullable().meta({
          description:
            "Why there is no prediction. `missing`: it was not uploaded, or the run was finished without it. `error`, `skipped`: the uploaded line says so. `not_reached`: an earlier step of a free-running trajectory failed.",
        }),
        finish_reason: stringOrNull("As the upstream reports it."),
        usage: z
          .object({
            prompt_tokens: countOrNull("Tokens of the prompt."),
            completion_tokens: countOrNull("Tokens of the completion."),
          })
          .meta({ description: "As the upstream counted tokens; nulls if it counted none." }),
        latency_ms: figure("How long the prediction took."),
        excerpt: z.string().nullable().optional().meta({
          description:
            "The beginning of its text, if text_limit was sent; null if it failed. The whole text is at `GET /v1/predictions/{id}`.",
        }),
      })
      .meta({ description: "The prediction, without its text." }),
    verdicts: z.array(RunVerdict).meta({ description: "One for each evaluator that has returned." }),
  })
  .meta({ id: "RunSample" });
export type RunSample = z.infer<typeof RunSample>;

/** A line of `GET /v1/runs/{id}/export`. */
export const RunExportLine = RunSample.omit({ prediction: true, action: true, expected: true })
  .extend({
    prediction: stringOrNull("The prediction's text; null if it failed."),
    reasoning: stringOrNull("The model's reasoning."),
    error_message: stringOrNull("Why there is no prediction."),
    details: RunSample.shape.prediction,
  })
  .meta({ id: "RunExportLine" });
export type RunExportLine = z.infer<typeof RunExportLine>;

const confidenceError = "Input should be a number from 0 to 1";

/** A line of `POST /v1/runs/{id}/predictions`. */
export const RunPredictionLine = z
  .looseObject({
    dataset_sample_id: z.string().nullish().meta({ description: "The sample's id in the run's revision." }),
    trajectory_id: z.string().nullish().meta({ description: "Together with `step`, instead of the id." }),
    step: z.int().min(0).nullish().meta({ description: "The place in the trajectory." }),
    index: z
      .union([z.string(), z.int().min(0)])
      .nullish()
      .meta({
        description:
          "Instead of both: the id or, if there is no such id, the number of the sample in the revision, from 0.",
      }),
    repeat: z
      .int()
      .min(0)
      .max(maxRepeats - 1)
      .nullish()
      .meta({ default: 0, description: "Counts from 0." }),
    prediction: z.string().nullish().meta({ description: "The predicted next state; null if it failed." }),
    prediction_raw: z.string().nullish().meta({
      description:
        "Same as prediction. With this field, or one of the next two, a text that begins with ERROR is a failure.",
    }),
    predicted: z.string().nullish().meta({ description: "Same as prediction." }),
    generated: z.string().nullish().meta({ description: "Same as prediction." }),
    skipped_overlong: z.boolean().nullish().meta({
      description: "Whether nothing was predicted, because the prompt was too long.",
    }),
    reasoning: z.string().nullish().meta({ description: "The model's reasoning." }),
    confidence: z
      .number()
      .min(0, { error: confidenceError })
      .max(1, { error: confidenceError })
      .nullish()
      .meta({ description: "The probability that the prediction is right, from 0 to 1." }),
  })
  .meta({ id: "RunPredictionLine" });
export type RunPredictionLine = z.infer<typeof RunPredictionLine>;

/** Response of `POST /v1/runs/{id}/predictions`. */
export const RunUpload = z
  .object({
    predictions: count("How many were stored."),
    warnings: uploadWarnings,
  })
  .meta({ id: "RunUpload" });
export type RunUpload = z.infer<typeof RunUpload>;

/** How many predictions of a run a page has unless its query says otherwise. */
export const defaultRunSampleLimit = 100;

/** What a run's predictions can be sorted by; with a minus, the highest first. */
export const RunSampleOrder = z.enum([
  "position",
  "step",
  "-step",
  "score",
  "-score",
  "changes",
  "-changes",
  "completion_tokens",
  "-completion_tokens",
  "latency",
  "-latency",
]);
export type RunSampleOrder = z.infer<typeof RunSampleOrder>;

/** Query of `GET /v1/runs/{id}/samples`. */
export const RunSampleListQuery = z.object({
  evaluator: storableText().optional().meta({
    description: "An evaluator of the run by its id or family: only samples on which it has returned.",
  }),
  profile_name: storableText().optional().meta({
    description: "The evaluator's profile, where the run has several of the same evaluator.",
  }),
  pass: queryBoolean().optional().meta({ description: "Only samples with this verdict of the evaluator." }),
  status: z.enum(["success", "failed"]).optional().meta({
    description: "Only samples with a prediction, or those whose prediction failed.",
  }),
  trajectory_id: storableText().optional().meta({ description: "Only samples of this trajectory." }),
  dataset_sample_id: storableText().optional().meta({ description: "Only this sample, with all repeats." }),
  step: queryInteger({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })
    .optional()
    .meta({ description: "Only samples with this place in their trajectory." }),
  changed: queryBoolean().optional().meta({
    description: "Only samples whose state changed in the recording, or those whose state did not.",
  }),
  order: RunSampleOrder.optional().meta({
    default: "position",
    description:
      "By place in the dataset, or by a figure; with a minus, the highest first. `score` is that of the evaluator. Predictions without the figure count as the lowest.",
  }),
  order_evaluator: storableText().optional().meta({
    description: "Whose score the order is by; `evaluator` if not given.",
  }),
  order_profile_name: storableText().optional().meta({
    description: "That evaluator's profile, where the run has several of the same evaluator.",
  }),
  text_limit: queryInteger({ minimum: 1, maximum: 10_000 }).optional().meta({
    description:
      "With each prediction, this many characters of its text, of the action and of the recorded next state.",
  }),
  limit: pageLimit({ default: defaultRunSampleLimit }),
  after: z
    .string()
    .regex(/^\d{1,15}\.\d{1,2}(_-?\d{1,16}(\.\d{1,20})?(e-?\d{1,3})?)?$/, wrongCursor)
    .optional()
    .meta({ description: "The `next` of an earlier response, to get the following page." }),
});
export type RunSampleListQuery = z.infer<typeof RunSampleListQuery>;

/** Response of `GET /v1/runs/{id}/samples`: predictions in the requested order. */
export const RunSampleListResponse = listOf("", RunSample, "The predictions, in the requested order.")
  .extend({
    trajectory: z
      .object({
        previous: stringOrNull("The id of the one before; null for the first."),
        next: stringOrNull("The id of the one after; null for the last."),
      })
      .optional()
      .meta({
        description:
          "Only with `trajectory_id`: its neighbours among those that the run has predicted, in the order in which the dataset has their first steps.",
      }),
  })
  .meta({ id: "RunSampleListResponse" });
export type RunSampleListResponse = z.infer<typeof RunSampleListResponse>;
