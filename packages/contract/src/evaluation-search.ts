import { z } from "zod";
import { deprecated, EvaluationResult, EvaluationStatus, ExplainStrategy } from "./evaluation-result.ts";
import { list } from "./list.ts";
import { queryBoolean, queryInteger, queryNumber } from "./query.ts";
import { resultId } from "./result-id.ts";
import { smallRecord } from "./small-record.ts";
import { storableText } from "./text.ts";

const name = storableText().nullish();
const instant = z.iso.datetime({ offset: true, local: true }).meta({
  format: "date-time",
  description: "Without an offset it is read as UTC.",
});
const tags = smallRecord(storableText(), storableText(), {
  maxEntries: 50,
  message: "No result has more than 50 tags",
})
  .nullish()
  .meta({ description: "All of them must match." });

const names = {
  app: name,
  evaluator_id: name.meta({ description: "An evaluator's id or its alias." }),
  evaluator_family: name,
  profile_name: name,
  criteria: name.meta({ description: "The same as profile_name." }),
  criterion_profile_name: deprecated(name, "profile_name"),
  evaluator_profile_name: deprecated(name, "profile_name"),
  evaluator_profile_public_id: name,
  dataset_id: name,
  evaluation_run_id: name,
  explain_strategy: ExplainStrategy.nullish(),
  status: EvaluationStatus.nullish().meta({
    description:
      "Absent, a search or an export finds verdicts only, which is success, and a summary counts everything.",
  }),
  after_datetime: instant.nullish(),
  before_datetime: instant.nullish(),
};

/**
 * Which results are wanted: those that everything that is given fits. Where a person has corrected a result, `pass` and
 * the score's bounds look at the latest correction.
 */
export const EvaluationResultFilter = z
  .object({
    ...names,
    tags,
    pass: z.boolean().nullish(),
    score_raw_min: z.number().nullish(),
    score_raw_max: z.number().nullish(),
    after_id: resultId().nullish().meta({ description: "Only results with a greater id." }),
    before_id: resultId().nullish().meta({ description: "Only results with a smaller id." }),
  })
  .meta({ id: "EvaluationResultFilter" });
export type EvaluationResultFilter = z.infer<typeof EvaluationResultFilter>;

const order = z.enum(["-created_at", "created_at"]);

/** Body of `POST /v1/evaluation-results/search`. The next page is asked for with the last id of this one. */
export const EvaluationResultSearchRequest = EvaluationResultFilter.extend({
  order: order.nullish().meta({ default: "-created_at", description: "Newest first, or oldest first." }),
  limit: z.int().min(1).max(1000).nullish().meta({ default: 50 }),
  offset: z
    .literal(0)
    .nullish()
    .meta({ description: "Pages go by id; clients that send 0 are not refused." }),
  text_limit: z.int().min(1).max(1_000_000).nullish().meta({
    description:
      "Longer texts come cut to so many characters (Unicode code points): the system prompt, each retrieved context, the input, the output, the gold answer and the explanation. Absent, they come whole, as they always do in a result by its id.",
  }),
}).meta({ id: "EvaluationResultSearchRequest" });
export type EvaluationResultSearchRequest = z.infer<typeof EvaluationResultSearchRequest>;

export const EvaluationResultSearchResponse = z
  .object({ results: z.array(EvaluationResult) })
  .meta({ id: "EvaluationResultSearchResponse" });
export type EvaluationResultSearchResponse = z.infer<typeof EvaluationResultSearchResponse>;

/** Query of `GET /v1/evaluation-results/export`: the search's filters, without its limit. */
export const EvaluationResultExportQuery = z
  .object({
    ...names,
    tags: z.string().optional().meta({ description: "A JSON object of texts; all of them must match." }),
    pass: queryBoolean().optional(),
    score_raw_min: queryNumber().optional(),
    score_raw_max: queryNumber().optional(),
    after_id: queryInteger({ minimum: 0 }).optional(),
    before_id: queryInteger({ minimum: 0 }).optional(),
    order: order.optional().meta({ default: "-created_at" }),
    format: z.enum(["jsonl", "csv"]).optional().meta({ default: "jsonl" }),
  })
  .meta({ id: "EvaluationResultExportQuery" });
export type EvaluationResultExportQuery = z.infer<typeof EvaluationResultExportQuery>;

/** What a summary can be split by. */
export const SummaryDimension = z.enum(["evaluator", "profile", "app", "tag", "day", "run"]);
export type SummaryDimension = z.infer<typeof SummaryDimension>;

/** Body of `POST /v1/evaluation-results/summary`: the search's filters, and what to split by. */
export const EvaluationSummaryRequest = EvaluationResultFilter.extend({
  group_by: list(SummaryDimension).max(6).nullish().meta({
    default: [],
    description:
      "Absent or empty: one group of everything. A day is a UTC day; a profile is one revision of it. There are 10,000 groups at most.",
  }),
  tag: storableText().nullish().meta({ description: "With `tag` in group_by: the name of the tag." }),
}).meta({ id: "EvaluationSummaryRequest" });
export type EvaluationSummaryRequest = z.infer<typeof EvaluationSummaryRequest>;

const interval = z
  .object({ level: z.number(), lower: z.number(), upper: z.number() })
  .nullable()
  .meta({ description: "Null where there is too little to say." });

/** The figures of one group. Verdicts count as people have corrected them. */
export const EvaluationSummaryGroup = z
  .object({
    key: z
      .object({
        evaluator_id: z.string().optional(),
        evaluator_family: z.string().nullable().optional(),
        profile_name: z.string().nullable().optional(),
        evaluator_profile_public_id: z.string().nullable().optional(),
        evaluator_profile_revision: z.int().nullable().optional(),
        app: z.string().optional(),
        tag: z.string().nullable().optional(),
        day: z.iso.date().optional(),
        evaluation_run_id: z.string().nullable().optional(),
      })
      .meta({ description: "What the group has in common: the fields of each dimension asked for." }),
    count: z.int().meta({ description: "All evaluations, those without a verdict included." }),
    scored: z.int().meta({ description: "Evaluations with a score." }),
    passed: z.int(),
    not_passed: z.int(),
    failed: z.int().meta({ description: "Evaluations that came to no verdict. They are no fails." }),
    pass_rate: z.number().nullable().meta({ description: "Of those that passed or did not." }),
    pass_rate_interval: interval.meta({ description: "Wilson's, at 95 %." }),
    mean_score: z.number().nullable(),
    mean_score_interval: interval.meta({ description: "Student's t, at 95 %." }),
    p10: z.number().nullable().meta({ description: "Quantiles are nearest ranks, right to three decimals." }),
    p50: z.number().nullable(),
    p90: z.number().nullable(),
  })
  .meta({ id: "EvaluationSummaryGroup" });
export type EvaluationSummaryGroup = z.infer<typeof EvaluationSummaryGroup>;

export const EvaluationSummaryResponse = z
  .object({
    source: z.enum(["rollups", "results"]).meta({
      description: "Whether the figures come from counts kept at write time or from the results themselves.",
    }),
    groups: z.array(EvaluationSummaryGroup),
  })
  .meta({ id: "EvaluationSummaryResponse" });
export type EvaluationSummaryResponse = z.infer<typeof EvaluationSummaryResponse>;
