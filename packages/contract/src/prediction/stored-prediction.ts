import { z } from "zod";
import { EvaluationStatus } from "../evaluation/result.ts";
import { nextCursor, pageQuery, queryInteger } from "../query.ts";
import { ErrorCategory } from "../responses.ts";
import {
  boolean,
  booleanOrNull,
  count,
  countOrNull,
  dateTime,
  figure,
  instant,
  number,
  storableText,
  string,
  stringOrNull,
} from "../text.ts";
import { Context, Interaction } from "./prediction.ts";
import { StoredWorld } from "./through-world.ts";

/** The pattern of `CaptureSetting`, for settings that are not in a request. */
export const capturePattern = /^(off|failures|all|[01]|0\.\d{1,9})$/;

const error = "Input should be off, failures, all, or a share from 0 to 1 such as 0.01";

/** Which predictions of live traffic are stored: none, those that failed, all, or a share of them. */
export const CaptureSetting = z
  .string()
  .regex(capturePattern, { error })
  .meta({
    description:
      "`off`, `failures` (only those that failed), `all`, or the share that is stored, from 0 to 1, such as `0.01`. A hash of the request's id decides which.",
    examples: ["failures", "0.01"],
  });

/** What made a prediction. */
export const PredictionSource = z.enum(["live", "run", "episode"]);

/**
 * Why there is no prediction. For uploads to a run, `missing`: no line for the sample; `error`: a line without a prediction, or with an error
 * in its place; `skipped`: a prompt that was too long. `not_reached`: an earlier step of a free-running run failed.
 */
export const PredictionFailure = z.enum([
  ...ErrorCategory.options,
  "missing",
  "error",
  "skipped",
  "not_reached",
]);
export type PredictionFailure = z.infer<typeof PredictionFailure>;

const PredictionStatus = z.enum(["success", "failed"]);

const tokens = (description: string) => z.int().nullable().meta({ description });

/** A stored prediction, without its texts. */
export const StoredPrediction = z
  .object({
    id: z.uuid().meta({ description: "The prediction's id." }),
    source: PredictionSource.meta({
      description: "`live`: a client's request. `run`, `episode`: what made it.",
    }),
    created_at: instant.meta({ description: "When the response or the error arrived." }),
    run_id: z.uuid().nullable().meta({ description: "The id of the run or episode; null if live." }),
    run_name: stringOrNull("The run's name, or the episode's environment; null if live, or if it is gone."),
    position: countOrNull("The sample's place in the run's revision, or the episode's step; null if live."),
    repeat: countOrNull("Which of a run's repeats; null if live."),
    status: PredictionStatus.meta({ description: "Whether there is a prediction." }),
    error_category: PredictionFailure.nullable().meta({
      description: "Why it failed. Null if it did not, or for a reason without a category.",
    }),
    deployment: stringOrNull("The deployment that answered; for a failure, the one that was asked."),
    model: stringOrNull("The model, as the upstream named it."),
    replica: stringOrNull(
      "The address of the replica that answered. Only for callers in the account `default`; null if the prediction failed or was taken from the cache.",
    ),
    finish_reason: stringOrNull("Why the completion ended."),
    prompt_tokens: tokens("As the upstream counted. These three are null if it counted none."),
    cached_tokens: tokens(
      "Tokens of the prompt that the upstream had in its own cache; or, for a prediction from the cache of Presage, all its tokens: then the other two are 0.",
    ),
    completion_tokens: tokens("As the upstream counted."),
    latency_ms: figure("How long the upstream or the cache took, with retries."),
    score: figure(
      "How sure its world is of it, from 0 to 1, before calibration; null if no world was asked.",
    ),
    confidence: figure(
      "The probability that it is right: the calibrated score, or what an uploaded line said. Null without one.",
    ),
    api_key_id: z.uuid().nullable().meta({
      description: "The key that made the request or started the episode; null with a session, or for a run.",
    }),
    api_key_name: stringOrNull("The key's name; null without a key, or if it is gone."),
    request_id: stringOrNull("The request's `x-request-id`; null if not live."),
  })
  // The API document keeps its older names: clients are generated from it.
  .meta({ id: "StoredPrediction" });
export type StoredPrediction = z.infer<typeof StoredPrediction>;

/** The verdict of a run's evaluator on a prediction. */
export const RunVerdict = z.object({
  evaluator: string("The evaluator's id."),
  profile_name: string("The profile's name."),
  status: EvaluationStatus.meta({ description: "Whether there is a verdict." }),
  pass: booleanOrNull("The evaluator's verdict."),
  score: figure("From 0 to 1."),
  evaluation_result_id: stringOrNull("The stored result."),
});
export type RunVerdict = z.infer<typeof RunVerdict>;

/** Fields that are shown with a prediction. */
const surroundings = {
  expected: z.string().nullable().optional().meta({
    description:
      "The next state in the dataset, or its beginning in a list; null if not of a run. In a list, this and the following fields are present only if text_limit was sent.",
  }),
  verdicts: z
    .array(RunVerdict)
    .optional()
    .meta({ description: "The verdicts of its run; none for other predictions." }),
  made_by: z.string().nullable().optional().meta({
    description:
      "The name of the key that it was requested with, or else of the user who asked in the dashboard or started its run.",
  }),
  cost: z.number().nullable().optional().meta({
    description:
      "What its tokens cost at today's prices, in the currency of the price list; null if its model has no price.",
  }),
};

const cut = "Cut after 262,144 characters.";

/** Response of `GET /v1/predictions/{id}`. */
export const StoredPredictionDetail = StoredPrediction.extend({
  context: Context.nullable().meta({
    description: "Background for the world model. Null if there was none.",
  }),
  interaction: Interaction.nullable().meta({
    description:
      "The step that was predicted, as the model was told it: in free-running mode with the state that was predicted before. Null if messages were sent, or if the run's sample is gone.",
  }),
  messages: z.array(z.looseObject({})).nullable().meta({
    description:
      "The messages of a chat, of a run's sample, or of an episode that is one conversation. Null if an interaction was sent.",
  }),
  params: z.record(z.string(), z.unknown()).nullable().meta({
    description: "Sampling, decoding and further fields, as they were sent.",
  }),
  requested_model: stringOrNull("The `model` of a chat or of a run's target; null if it named none."),
  output: stringOrNull(`What was predicted. Null if it failed. ${cut}`),
  reasoning: stringOrNull(`The model's reasoning before it. ${cut}`),
  world: StoredWorld.nullable().meta({
    description: "The world of a run's or an episode's prediction. Null if it was made without one.",
  }),
  error_message: stringOrNull(
    "What the caller was told of the failure, and what the upstream said. Null if it succeeded.",
  ),
  ...surroundings,
}).meta({ id: "StoredPredictionDetail" });
export type StoredPredictionDetail = z.infer<typeof StoredPredictionDetail>;

/** Path of `/v1/predictions/{id}`. */
export const StoredPredictionPath = z.object({
  id: storableText().meta({
    description: "The prediction's id.",
    examples: ["019aa5f6-7d10-7000-8c3e-0b6f5a2d9c41"],
  }),
});

/** How many stored predictions a page has unless its query says otherwise. */
export const defaultPredictionLimit = 100;

/** Filters that lists and deletions have in common. */
const commonFilters = {
  status: PredictionStatus.optional().meta({ description: "Only those that succeeded, or that failed." }),
  category: PredictionFailure.optional().meta({ description: "Only those that failed in this way." }),
  deployment: storableText().optional().meta({ description: "Only those of this deployment." }),
  model: storableText()
    .optional()
    .meta({ description: "Only those of this model, as the upstream named it." }),
  api_key_id: storableText()
    .optional()
    .meta({ description: "Only those that were requested with this key." }),
  request_id: storableText()
    .optional()
    .meta({ description: "Only those of the request with this `x-request-id`." }),
  from: dateTime().optional().meta({
    description: "Only those since this time. UTC if no offset is given; a date alone is its midnight.",
  }),
};

const filters = {
  source: PredictionSource.optional().meta({
    description: "Only those from live traffic, runs or episodes.",
  }),
  run_id: storableText().optional().meta({ description: "Only those of this run or episode." }),
  ...commonFilters,
  to: dateTime().optional().meta({ description: "Only those before this time." }),
};

/** Query of `GET /v1/predictions/count`. */
export const StoredPredictionCountQuery = z.object(filters);
export type StoredPredictionCountQuery = z.infer<typeof StoredPredictionCountQuery>;

/** Predictions are counted up to this number. */
export const maxCountedPredictions = 10_000;

/** Response of `GET /v1/predictions/count`. */
export const StoredPredictionCountResponse = z
  .object({
    count: count(`How many predictions match, at most ${maxCountedPredictions.toLocaleString("en")}.`),
    has_more: boolean("Whether there are more than were counted."),
  })
  .meta({ id: "StoredPredictionCountResponse" });
export type StoredPredictionCountResponse = z.infer<typeof StoredPredictionCountResponse>;

const valuesOf = (what: string) =>
  z
    .array(
      z.object({
        value: string("A value that the filter takes."),
        name: z
          .string()
          .optional()
          .meta({ description: "The name of the key with this id, unless the key is gone." }),
        count: count("How many of the counted predictions have it."),
      }),
    )
    .meta({ description: `${what}, the most frequent first, at most 100.` });

/** Response of `GET /v1/predictions/values`: for each filter, the values that exist with all other filters applied. */
export const StoredPredictionValuesResponse = z
  .object({
    source: valuesOf("Where they are from"),
    status: valuesOf("How they ended"),
    category: valuesOf("Why they failed"),
    deployment: valuesOf("Deployments"),
    model: valuesOf("Models"),
    api_key_id: valuesOf("API keys"),
    latency_ms: z
      .object({
        p50: number("The median in milliseconds."),
        p95: number("95 % took at most this long, in milliseconds."),
      })
      .nullable()
      .meta({ description: "Latency of those that succeeded; null if there are none." }),
  })
  .meta({ id: "StoredPredictionValuesResponse" });
export type StoredPredictionValuesResponse = z.infer<typeof StoredPredictionValuesResponse>;

/** Query of `GET /v1/predictions`. */
export const StoredPredictionListQuery = z.object({
  ...filters,
  order: z.enum(["newest", "oldest"]).optional().meta({
    default: "newest",
    description: "Which come first. An `after` belongs to the order that it was returned with.",
  }),
  text_limit: queryInteger({ minimum: 1, maximum: 1000 }).optional().meta({
    description:
      "With each prediction, its verdicts and cost, and this many characters of the action, of what was predicted or why it failed, and of what was expected.",
  }),
  ...pageQuery({ default: defaultPredictionLimit }),
});
export type StoredPredictionListQuery = z.infer<typeof StoredPredictionListQuery>;

/** A prediction in a list. */
export const ListedPrediction = StoredPrediction.extend({
  output: z.string().nullable().optional().meta({
    description: "The beginning of what was predicted, if text_limit was sent; null if it failed.",
  }),
  error_message: z.string().nullable().optional().meta({
    description: "The beginning of why it failed, if text_limit was sent; null if it succeeded.",
  }),
  action: z.string().nullable().optional().meta({
    description:
      "The beginning of the action, if text_limit was sent. For a recorded conversation it is the last message; null for a chat with messages.",
  }),
  ...surroundings,
}).meta({ id: "ListedPrediction" });
export type ListedPrediction = z.infer<typeof ListedPrediction>;

/** Response of `GET /v1/predictions`: stored predictions of the account, newest first. */
export const StoredPredictionListResponse = z
  .object({
    data: z
      .array(ListedPrediction)
      .meta({ description: "The predictions, newest first unless `order` says otherwise." }),
    currency: stringOrNull(
      "The currency of the costs, as an ISO 4217 code; null if the server has no price list.",
    ),
    next: nextCursor,
  })
  .meta({ id: "StoredPredictionListResponse" });
export type StoredPredictionListResponse = z.infer<typeof StoredPredictionListResponse>;

/** Query of `DELETE /v1/predictions`. */
export const StoredPredictionDeleteQuery = z.object({
  source: z
    .literal("live")
    .meta({ description: "Only live traffic; predictions of a run are deleted with the run." }),
  before: dateTime().meta({
    description: "All that were stored before this time are deleted. UTC if no offset is given.",
    examples: ["2026-11-01T00:00:00Z"],
  }),
  ...commonFilters,
});
export type StoredPredictionDeleteQuery = z.infer<typeof StoredPredictionDeleteQuery>;

/** Response of `DELETE /v1/predictions`. */
export const StoredPredictionDeleteResponse = z
  .object({
    deleted: count("How many were deleted."),
    has_more: boolean("Whether more remain, because one request deletes for only some seconds. Repeat it."),
  })
  .meta({ id: "StoredPredictionDeleteResponse" });
export type StoredPredictionDeleteResponse = z.infer<typeof StoredPredictionDeleteResponse>;
