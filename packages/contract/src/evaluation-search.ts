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
  description: "UTC if no offset is given.",
});
const tags = smallRecord(storableText(), storableText(), {
  maxEntries: 50,
  message: "At most 50 tags",
})
  .nullish()
  .meta({ description: "All must match." });

const names = {
  app: name,
  evaluator_id: name.meta({ description: "An evaluator's id, or its family's name." }),
  evaluator_family: name,
  profile_name: name,
  criteria: name.meta({ description: "Same as profile_name." }),
  criterion_profile_name: deprecated(name, "profile_name"),
  evaluator_profile_name: deprecated(name, "profile_name"),
  evaluator_profile_public_id: name,
  dataset_id: name,
  evaluation_run_id: name,
  explain_strategy: ExplainStrategy.nullish(),
  status: EvaluationStatus.nullish().meta({
    description:
      "If omitted, searches and exports return results with a verdict (success), and summaries count everything.",
  }),
  after_datetime: instant.nullish(),
  before_datetime: instant.nullish(),
};

/**
 * Which results to find: all given filters must match. For corrected results, `pass` and the score bounds apply to the
 * latest correction.
 */
export const EvaluationResultFilter = z
  .object({
    ...names,
    tags,
    pass: z.boolean().nullish(),
    score_raw_min: z.number().nullish(),
    score_raw_max: z.number().nullish(),
    after_id: resultId().nullish().meta({ description: "Only results with a higher id." }),
    before_id: resultId().nullish().meta({ description: "Only results with a lower id." }),
  })
  .meta({ id: "EvaluationResultFilter" });
export type EvaluationResultFilter = z.infer<typeof EvaluationResultFilter>;

const order = z.enum(["-created_at", "created_at"]);

/** Body of `POST /v1/evaluation-results/search`. To get the next page, send the last id of this one. */
export const EvaluationResultSearchRequest = EvaluationResultFilter.extend({
  order: order.nullish().meta({ default: "-created_at", description: "Newest first, or oldest first." }),
  limit: z.int().min(1).max(1000).nullish().meta({ default: 50 }),
  offset: z.literal(0).nullish().meta({ description: "Pages are by id; 0 is accepted for compatibility." }),
  text_limit: z.int().min(1).max(1_000_000).nullish().meta({
    description:
      "Truncates long texts to this many characters (Unicode code points): the system prompt, each retrieved context, the input, the output, the gold answer and the explanation. If omitted, texts are complete. A single result, by its id, is always complete.",
  }),
}).meta({ id: "EvaluationResultSearchRequest" });
export type EvaluationResultSearchRequest = z.infer<typeof EvaluationResultSearchRequest>;

export const EvaluationResultSearchResponse = z
  .object({ results: z.array(EvaluationResult) })
  .meta({ id: "EvaluationResultSearchResponse" });
export type EvaluationResultSearchResponse = z.infer<typeof EvaluationResultSearchResponse>;

/** Query of `GET /v1/evaluation-results/export`: the search's filters, without a limit. */
export const EvaluationResultExportQuery = z
  .object({
    ...names,
    tags: z.string().optional().meta({ description: "A JSON object of strings; all must match." }),
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

/** What a summary can be grouped by. */
export const SummaryDimension = z.enum(["evaluator", "profile", "app", "tag", "day", "run"]);
export type SummaryDimension = z.infer<typeof SummaryDimension>;

/** Body of `POST /v1/evaluation-results/summary`: the search's filters, and what to group by. */
export const EvaluationSummaryRequest = EvaluationResultFilter.extend({
  group_by: list(SummaryDimension).max(6).nullish().meta({
    default: [],
    description:
      "If omitted or empty, there is one group. Days are UTC days; each revision of a profile is a group. At most 10,000 groups.",
  }),
  tag: storableText().nullish().meta({ description: "The name of the tag, if group_by includes `tag`." }),
}).meta({ id: "EvaluationSummaryRequest" });
export type EvaluationSummaryRequest = z.infer<typeof EvaluationSummaryRequest>;

const interval = z
  .object({ level: z.number(), lower: z.number(), upper: z.number() })
  .nullable()
  .meta({ description: "Null if there are too few results." });

/** The figures of one group. Corrected verdicts count as corrected. */
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
      .meta({ description: "The group's values for the requested dimensions." }),
    count: z.int().meta({ description: "All evaluations, including those without a verdict." }),
    scored: z.int().meta({ description: "Evaluations with a score." }),
    passed: z.int(),
    not_passed: z.int(),
    failed: z.int().meta({ description: "Evaluations without a verdict. They do not count as fails." }),
    pass_rate: z.number().nullable().meta({ description: "passed / (passed + not_passed)." }),
    pass_rate_interval: interval.meta({ description: "Wilson score interval, 95 %." }),
    mean_score: z.number().nullable(),
    mean_score_interval: interval.meta({ description: "Student's t interval, 95 %." }),
    p10: z
      .number()
      .nullable()
      .meta({ description: "Quantiles use nearest ranks and are accurate to three decimals." }),
    p50: z.number().nullable(),
    p90: z.number().nullable(),
  })
  .meta({ id: "EvaluationSummaryGroup" });
export type EvaluationSummaryGroup = z.infer<typeof EvaluationSummaryGroup>;

export const EvaluationSummaryResponse = z
  .object({
    source: z.enum(["rollups", "results"]).meta({
      description:
        "Whether the figures come from counts kept at write time (rollups) or from the results themselves.",
    }),
    groups: z.array(EvaluationSummaryGroup),
  })
  .meta({ id: "EvaluationSummaryResponse" });
export type EvaluationSummaryResponse = z.infer<typeof EvaluationSummaryResponse>;
