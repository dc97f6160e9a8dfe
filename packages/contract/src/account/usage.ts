import { z } from "zod";
import { ErrorCategory } from "../responses.ts";
import { count, countOrNull, dateTime, figure, instant, number, string, stringOrNull } from "../text.ts";

/** What a request was for. `judge`: one of an evaluation's calls to the judges' model. `run`: one of a run's calls to a deployment. */
export const UsageOperation = z.enum(["predict", "chat", "evaluate", "judge", "run"]);
export type UsageOperation = z.infer<typeof UsageOperation>;

const outcomes = [...ErrorCategory.options, "budget", "invalid", "other"] as const;

/** Why a request failed: an error's category, `budget` if a budget is spent, `invalid` for an invalid request, or `other`. */
export const UsageFailure = z.enum(outcomes);
export type UsageFailure = z.infer<typeof UsageFailure>;

const period = {
  since: dateTime().optional().meta({
    description:
      "Counts from the start of the step that contains this time. UTC if no offset is given. Defaults to 7 days before until.",
  }),
  until: dateTime().optional().meta({
    description: "Counts every hour that starts before this time, in full. Defaults to now.",
  }),
  step: z
    .enum(["hour", "day"])
    .optional()
    .meta({ default: "day", description: "The length of a step. Days are UTC days." }),
};

/** Query of `GET /v1/usage`. At most 400 days (31 days by the hour) and 100,000 rows; beyond that it is refused, with `since` as the location. */
export const UsageQuery = z.object({
  ...period,
  api_key_id: z.guid().optional().meta({ format: "uuid", description: "Only requests with this key." }),
});
export type UsageQuery = z.infer<typeof UsageQuery>;

/** The period that a response covers. */
const coveredPeriod = {
  since: instant.meta({ description: "Start of the period." }),
  until: instant.meta({ description: "End of the period." }),
  step: z.enum(["hour", "day"]).meta({ description: "The length of a step." }),
};

/** The requests of one key in one step, for one operation. */
export const UsageRow = z
  .object({
    start: instant.meta({ description: "Start of the step." }),
    api_key_id: z.uuid().nullable().meta({
      description: "The key that made the requests or started their run; null if a signed-in user did.",
    }),
    user_id: z.uuid().nullable().optional().meta({
      description:
        "The user whose key it is, or who was signed in; null if not known, or if the user is gone.",
    }),
    operation: UsageOperation.meta({ description: "What the requests were for." }),
    requests: count("All requests, including failed ones."),
    failures: z.partialRecord(UsageFailure, z.int()).meta({ description: "Failed requests by cause." }),
    prompt_tokens: countOrNull(
      "Prompt tokens, as counted by the upstream. These three are null if predictions succeeded and the upstream counted none.",
    ),
    completion_tokens: countOrNull("Completion tokens, as counted by the upstream."),
    cached_tokens: countOrNull(
      "Prompt and completion tokens of predictions that came from the cache, or from a concurrent equal request, and so not from the upstream.",
    ),
    example_tokens: count(
      "About how many of the prompt tokens were examples of worlds, by their share of the characters.",
    ),
    cost: figure(
      "What the tokens cost at today's prices, in `currency`: prompt and completion tokens of models that have a price. Null if none of them has one, or the server has no price list.",
    ),
    unpriced_tokens: count(
      "Prompt and completion tokens that `cost` leaves out, as their model has no price or is not known. 0 if the server has no price list.",
    ),
  })
  .meta({ id: "UsageRow" });
export type UsageRow = z.infer<typeof UsageRow>;

/** A key in one of the rows. It may belong to any user of the account. */
export const UsageKey = z
  .object({
    id: z.uuid().meta({ description: "The key's id." }),
    name: string("What the key is for."),
    prefix: string("The key's first 8 characters."),
    last_four: string("The key's last 4 characters."),
    revoked_at: instant.nullable().meta({ description: "When the key was revoked; null if it was not." }),
  })
  .meta({ id: "UsageKey" });
export type UsageKey = z.infer<typeof UsageKey>;

/** Response of `GET /v1/usage`: the account's requests and tokens, accurate to about 10 s. Steps without requests have no row. */
export const UsageResponse = z
  .object({
    ...coveredPeriod,
    currency: stringOrNull(
      "The currency of the costs, as an ISO 4217 code; null if the server has no price list.",
    ),
    data: z.array(UsageRow).meta({ description: "Oldest first." }),
    api_keys: z.array(UsageKey).meta({ description: "The keys in the rows." }),
  })
  .meta({ id: "UsageResponse" });
export type UsageResponse = z.infer<typeof UsageResponse>;

const cost = figure(
  "What the tokens cost at today's prices, in `currency`; null if none of the models has a price, or the server has no price list.",
);
const unpricedTokens = count(
  "Prompt and completion tokens that `cost` leaves out. 0 if the server has no price list.",
);

/** Tokens and their cost. */
export const Spent = z
  .object({
    prompt_tokens: count("Prompt tokens that upstreams processed."),
    completion_tokens: count("Completion tokens that upstreams wrote."),
    cost,
    unpriced_tokens: unpricedTokens,
  })
  .meta({ id: "Spent" });
export type Spent = z.infer<typeof Spent>;

const requestCounts = {
  requests: count("All requests, including failed ones, and calls of runs and judges."),
  failed: count("How many of them failed."),
  example_tokens: count("About how many of the prompt tokens were examples of worlds."),
};

/** What one key or a user's sessions spent on a model, in their own requests, in runs or on judges. */
export const SpentOnModel = Spent.extend({
  model: stringOrNull("The name that was sent to the upstream; null for tokens whose model is not known."),
  operation: UsageOperation.meta({ description: "What the model was asked for." }),
}).meta({ id: "SpentOnModel" });
export type SpentOnModel = z.infer<typeof SpentOnModel>;

/** What was spent with one key, or in a user's sessions. */
export const SpentWithKey = Spent.extend({
  api_key_id: z.uuid().nullable().meta({ description: "The key; null for dashboard sessions." }),
  name: stringOrNull("What the key is for; null if it is gone, and for sessions."),
  ...requestCounts,
  models: z.array(SpentOnModel).meta({ description: "The most expensive first." }),
}).meta({ id: "SpentWithKey" });
export type SpentWithKey = z.infer<typeof SpentWithKey>;

/** What one person spent. */
export const SpentByPerson = Spent.extend({
  user_id: z.uuid().nullable().meta({
    description:
      "The user; null for users who are gone, and for sessions from before users were counted separately.",
  }),
  name: stringOrNull("The user's name or e-mail address; null if none is known."),
  ...requestCounts,
  keys: z.array(SpentWithKey).meta({ description: "The most expensive first." }),
}).meta({ id: "SpentByPerson" });
export type SpentByPerson = z.infer<typeof SpentByPerson>;

/** Response of `GET /v1/usage/people`. */
export const SpendingResponse = z
  .object({
    ...coveredPeriod,
    currency: stringOrNull(
      "The currency of the costs, as an ISO 4217 code; null if the server has no price list.",
    ),
    total: Spent.extend(requestCounts).meta({ description: "The whole account." }),
    today: Spent.meta({ description: "The current UTC day, as far as it is in the period." }),
    unpriced_models: z
      .array(
        z.object({
          model: string("The name that was sent."),
          tokens: count("Prompt and completion tokens."),
        }),
      )
      .meta({ description: "Models without a price that used tokens, the most tokens first; at most 20." }),
    people: z.array(SpentByPerson).meta({ description: "The most expensive first, then by tokens." }),
    data: z
      .array(
        z.object({
          start: instant.meta({ description: "Start of the step." }),
          user_id: z.uuid().nullable().meta({ description: "As in `people`." }),
          model: stringOrNull("As in `models`."),
          tokens: count("Prompt and completion tokens."),
          cost,
        }),
      )
      .meta({ description: "By step, person and model, oldest first." }),
  })
  .meta({ id: "SpendingResponse" });
export type SpendingResponse = z.infer<typeof SpendingResponse>;

/** Query of `GET /v1/usage/people`. */
export const SpendingQuery = z.object(period);
export type SpendingQuery = z.infer<typeof SpendingQuery>;

/** Query of `GET /v1/usage/latency`. */
export const LatencyQuery = z.object(period);
export type LatencyQuery = z.infer<typeof LatencyQuery>;

const quantiles = z
  .object({
    p50: number("Median, in ms."),
    p95: number("95 % took at most this long, in ms."),
  })
  .nullable();
const milliseconds = "In milliseconds, accurate to about 5 %; null if nothing was measured.";

/** Latency of predictions: in total, and without the upstream's part. */
export const Latency = z
  .object({
    count: count("Predictions that reached the upstream."),
    total_ms: quantiles.meta({ description: `From the request's arrival to its response. ${milliseconds}` }),
    overhead_ms: quantiles.meta({
      description: `Presage's part of it, without the upstream's. ${milliseconds}`,
    }),
  })
  .meta({ id: "Latency" });
export type Latency = z.infer<typeof Latency>;

/** Response of `GET /v1/usage/latency`: the account's predictions that reached the upstream. */
export const LatencyResponse = z
  .object({
    ...coveredPeriod,
    overall: Latency.meta({ description: "The whole period." }),
    data: z
      .array(Latency.extend({ start: instant.meta({ description: "Start of the step." }) }))
      .meta({ description: "Oldest first." }),
  })
  .meta({ id: "LatencyResponse" });
export type LatencyResponse = z.infer<typeof LatencyResponse>;

const maxLimit = 1_000_000_000;
const limitField = z.number().min(0).max(maxLimit);

/** How far a budget is used up: below 80 %, at 80 % or more, or refusing what would cost more. */
export const BudgetState = z.enum(["ok", "warning", "stopped"]);
export type BudgetState = z.infer<typeof BudgetState>;

/** What an account, or one of its keys, may spend in a calendar month (UTC), and what it has spent. */
export const Budget = z
  .object({
    api_key_id: z.uuid().nullable().meta({
      description: "The key that the budget is for; null for the whole account, with all its keys and users.",
    }),
    limit: limitField.meta({ description: "For one calendar month (UTC), in `currency` of the list." }),
    stops: z.boolean().meta({
      description:
        "Whether requests that ask a model are refused with 402 once the limit is reached, and those for a model without a price with 422. Otherwise the budget only warns.",
    }),
    spent: figure(
      "What this month's tokens cost at today's prices; null if the server has no price list. Other processes' spending is known within about 10 s.",
    ),
    share: figure("`spent` divided by `limit`; null if one is unknown or 0."),
    state: BudgetState.meta({
      description:
        "`warning`: at least 80 % is spent; `stopped`: all of it, and requests are refused. Without `stops` it stays `warning`.",
    }),
  })
  .meta({ id: "Budget" });
export type Budget = z.infer<typeof Budget>;

/** Response of `GET` and `PATCH /v1/budgets`. */
export const BudgetListResponse = z
  .object({
    currency: stringOrNull(
      "The currency of the price list, as an ISO 4217 code; null if the server has none.",
    ),
    since: instant.meta({ description: "Start of the month." }),
    resets_at: instant.meta({ description: "When the next month begins, and spending is 0 again." }),
    data: z.array(Budget).meta({ description: "The account's budget first, if it has one." }),
  })
  .meta({ id: "BudgetListResponse" });
export type BudgetListResponse = z.infer<typeof BudgetListResponse>;

/** Body of `PATCH /v1/budgets`: sets one budget, or removes it. */
export const BudgetRequest = z
  .strictObject({
    api_key_id: z
      .guid()
      .nullish()
      .meta({ format: "uuid", description: "The key that the budget is for; null or absent: the account." }),
    limit: limitField.nullable().meta({
      description: "For one calendar month (UTC), in the currency of the price list; null: no budget.",
    }),
    stops: z.boolean().optional().meta({
      description:
        "Whether what would cost more is refused once the limit is reached. Absent: it only warns.",
    }),
  })
  .meta({ id: "BudgetRequest" });
export type BudgetRequest = z.infer<typeof BudgetRequest>;
