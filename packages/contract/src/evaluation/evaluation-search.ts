import { z } from "zod";
import { dateTime } from "../date-time.ts";
import { list } from "../list.ts";
import { queryBoolean, queryInteger, queryNumber } from "../query.ts";
import { smallRecord } from "../small-record.ts";
import { storableText } from "../text.ts";
import { EvaluationResult } from "./evaluation-result.ts";
import { deprecated, EvaluationStatus, ExplainStrategy } from "./result-fields.ts";
import { resultId } from "./result-id.ts";
import { IntervalMethod } from "./runs/interval-method.ts";

const name = storableText().nullish();
const instant = dateTime().meta({
  description: "UTC if no offset is given; a date alone is its midnight.",
});
const tags = smallRecord(storableText(), storableText(), {
  maxEntries: 50,
  message: "At most 50 tags",
})
  .nullish()
  .meta({ description: "Only results with all of these tags." });

/** What the database can hold. */
const maxRevision = 2_147_483_647;
/** Descriptions of fields that the search and the export share. */
const described = {
  pass: { description: "Only results with this verdict." },
  revision: {
    description: "Only results of this revision of a profile, usually beside evaluator_profile_public_id.",
  },
  explain: { description: "Only results with an explanation, or without one." },
  hasRun: { description: "Only results of runs, or only those of direct evaluations, which belong to none." },
  scoreMin: { description: "Only results with this score or a higher one." },
  scoreMax: { description: "Only results with this score or a lower one." },
  afterId: { description: "Only results with a higher id." },
  beforeId: { description: "Only results with a lower id." },
  order: { description: "Newest first, or oldest first." },
};

const sample = "Only results of this sample; a number and the text of its digits are the same one.";

const names = {
  app: name.meta({ description: "Only results of this app." }),
  project_id: name.meta({ description: "Only results of this project." }),
  experiment_id: name.meta({ description: "Only results of this experiment." }),
  evaluator_id: name.meta({
    description: "An evaluator's id, its family's name, or `external:` and the name of an imported one.",
  }),
  evaluator_family: name.meta({ description: "Only results of this family." }),
  profile_name: name.meta({ description: "Only results made with the profile of this name." }),
  criteria: name.meta({ description: "Same as profile_name." }),
  criterion_profile_name: deprecated(name, "profile_name"),
  evaluator_profile_name: deprecated(name, "profile_name"),
  evaluator_profile_public_id: name.meta({ description: "Only results made with the profile of this id." }),
  dataset_id: name.meta({ description: "Only results of this dataset." }),
  evaluation_run_id: name.meta({ description: "Only results of this run." }),
  explain_strategy: ExplainStrategy.nullish().meta({ description: "Only results with this strategy." }),
  status: EvaluationStatus.nullish().meta({
    description:
      "Only results with this status. If omitted, searches and exports return results with a verdict (success), and summaries count everything.",
  }),
  after_datetime: instant.nullish().meta({
    description: "Only results stored after this time. UTC if no offset is given.",
  }),
  before_datetime: instant.nullish().meta({
    description: "Only results stored before this time. UTC if no offset is given.",
  }),
};

/**
 * Which results to find: all given filters must match. For corrected results, `pass` and the score bounds apply to the
 * latest correction.
 */
export const EvaluationResultFilter = z
  .object({
    ...names,
    evaluator_profile_revision: z.int().min(1).max(maxRevision).nullish().meta(described.revision),
    dataset_sample_id: z.union([z.int(), storableText()]).nullish().meta({ description: sample }),
    tags,
    pass: z.boolean().nullish().meta(described.pass),
    explain: z.boolean().nullish().meta(described.explain),
    has_run: z.boolean().nullish().meta(described.hasRun),
    score_raw_min: z.number().nullish().meta(described.scoreMin),
    score_raw_max: z.number().nullish().meta(described.scoreMax),
    after_id: resultId().nullish().meta(described.afterId),
    before_id: resultId().nullish().meta(described.beforeId),
  })
  .meta({ id: "EvaluationResultFilter" });
export type EvaluationResultFilter = z.infer<typeof EvaluationResultFilter>;

const order = z.enum(["-created_at", "created_at"]);

/**
 * Body of `POST /v1/evaluation-results/search`. To get the next page, send the last id of this one: as `before_id`, or as `after_id`
 * if the order has no minus.
 */
export const EvaluationResultSearchRequest = EvaluationResultFilter.extend({
  dataset_sample_ids: list(z.union([z.int(), storableText()]))
    .max(200)
    .nullish()
    .meta({ description: "Only results of any of these samples, at most 200." }),
  order: z
    .enum([...order.options, "dataset_sample_id", "-dataset_sample_id", "score_raw", "-score_raw"])
    .nullish()
    .meta({
      default: "-created_at",
      description:
        "By time, by sample or by score, and with a minus in reverse. By sample, numbers count by value (`run/9` precedes `run/10`). Scores count to a thousandth, as corrected. By sample or score, results without are left out, and after_id and before_id are places in this order.",
    }),
  limit: z.int().min(1).max(1000).nullish().meta({ default: 50, description: "Maximum number of results." }),
  offset: z.literal(0).nullish().meta({ description: "Pages are by id; 0 is accepted for compatibility." }),
  text_limit: z.int().min(1).max(1_000_000).nullish().meta({
    description:
      "Truncates long texts to this many characters (Unicode code points): the system prompt, each retrieved context, the input, the output, the gold answer and the explanation. If omitted, texts are complete. A single result, by its id, is always complete.",
  }),
}).meta({ id: "EvaluationResultSearchRequest" });
export type EvaluationResultSearchRequest = z.infer<typeof EvaluationResultSearchRequest>;

export const EvaluationResultSearchResponse = z
  .object({
    results: z.array(EvaluationResult).meta({ description: "One page of results, in the requested order." }),
  })
  .meta({ id: "EvaluationResultSearchResponse" });
export type EvaluationResultSearchResponse = z.infer<typeof EvaluationResultSearchResponse>;

/** Query of `GET /v1/evaluation-results/export`: the search's filters, without a limit. */
export const EvaluationResultExportQuery = z
  .object({
    ...names,
    evaluator_profile_revision: queryInteger({ minimum: 1, maximum: maxRevision })
      .optional()
      .meta(described.revision),
    dataset_sample_id: storableText().optional().meta({ description: sample }),
    tags: z
      .string()
      .optional()
      .meta({ description: "Only results with all of these tags: a JSON object of strings." }),
    pass: queryBoolean().optional().meta(described.pass),
    explain: queryBoolean().optional().meta(described.explain),
    has_run: queryBoolean().optional().meta(described.hasRun),
    score_raw_min: queryNumber().optional().meta(described.scoreMin),
    score_raw_max: queryNumber().optional().meta(described.scoreMax),
    after_id: queryInteger({ minimum: 0 }).optional().meta(described.afterId),
    before_id: queryInteger({ minimum: 0 }).optional().meta(described.beforeId),
    order: order.optional().meta({ ...described.order, default: "-created_at" }),
    format: z
      .enum(["jsonl", "csv"])
      .optional()
      .meta({ default: "jsonl", description: "One JSON object per line, or CSV." }),
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
  intervals: z.boolean().nullish().meta({
    default: true,
    description:
      "Whether to compute intervals. Where results name a trajectory or a sample, this reads each of those results, so counts alone are faster without.",
  }),
}).meta({ id: "EvaluationSummaryRequest" });
export type EvaluationSummaryRequest = z.infer<typeof EvaluationSummaryRequest>;

const interval = z
  .object({
    level: z.number().meta({ description: "Confidence level, for example 0.95." }),
    lower: z.number().meta({ description: "Lower end." }),
    upper: z.number().meta({ description: "Upper end." }),
  })
  .nullable()
  .meta({
    description: "At 95 %. Null if there are too few results or clusters, or if `interval_method` is null.",
  });

/** The figures of one group. Corrected verdicts count as corrected. */
export const EvaluationSummaryGroup = z
  .object({
    key: z
      .object({
        evaluator_id: z.string().optional().meta({ description: "Grouped by `evaluator`." }),
        evaluator_family: z.string().nullable().optional().meta({
          description: "Grouped by `evaluator`: its family; null for imported results.",
        }),
        profile_name: z.string().nullable().optional().meta({
          description: "Grouped by `profile`; null for results without one.",
        }),
        evaluator_profile_public_id: z.string().nullable().optional().meta({
          description: "Grouped by `profile`: the profile's id.",
        }),
        evaluator_profile_revision: z.int().nullable().optional().meta({
          description: "Grouped by `profile`: the profile's revision.",
        }),
        app: z.string().optional().meta({ description: "Grouped by `app`." }),
        tag: z.string().nullable().optional().meta({
          description: "Grouped by `tag`: its value; null for results without it.",
        }),
        day: z.iso.date().optional().meta({ description: "Grouped by `day`: a UTC day." }),
        evaluation_run_id: z.string().nullable().optional().meta({
          description: "Grouped by `run`; null for results without one.",
        }),
      })
      .meta({ description: "The group's values for the requested dimensions." }),
    count: z.int().meta({ description: "All evaluations, including those without a verdict." }),
    scored: z.int().meta({
      description:
        "Evaluations with a score. `mean_score` is over these; `pass_rate` also counts ungraded verdicts.",
    }),
    passed: z.int().meta({ description: "Evaluations with the verdict pass." }),
    not_passed: z.int().meta({ description: "Evaluations with the verdict fail." }),
    failed: z.int().meta({
      description:
        "Evaluations without a verdict, except those with the status `not_applicable`. They do not count as fails.",
    }),
    not_applicable: z.int().meta({
      description: "Evaluations with this status: neither a verdict nor a failure.",
    }),
    interval_method: IntervalMethod.nullable().meta({
      description:
        "Null: intervals were not requested, or more than 2,000,000 results name a trajectory or a sample; use a narrower filter.",
    }),
    clusters: z.int().nullable().meta({
      description:
        "The number of clusters of the verdicts (of the scores, without verdicts) if the intervals are clustered. With fewer than 10, intervals are wide and themselves uncertain.",
    }),
    pass_rate: z.number().nullable().meta({
      description:
        "passed / (passed + not_passed). Rates of several evaluators or profiles in one group say little: group by `evaluator` and `profile`.",
    }),
    pass_rate_interval: interval,
    mean_score: z.number().nullable().meta({ description: "Mean score; null if there is none." }),
    mean_score_interval: interval,
    p10: z
      .number()
      .nullable()
      .meta({ description: "10 % of the scores are at most this, by nearest rank, to three decimals." }),
    p50: z.number().nullable().meta({ description: "Median score, to three decimals." }),
    p90: z
      .number()
      .nullable()
      .meta({ description: "90 % of the scores are at most this, by nearest rank, to three decimals." }),
  })
  .meta({ id: "EvaluationSummaryGroup" });
export type EvaluationSummaryGroup = z.infer<typeof EvaluationSummaryGroup>;

export const EvaluationSummaryResponse = z
  .object({
    source: z.enum(["rollups", "results"]).meta({
      description:
        "Whether the figures come from counts of results (rollups) or from the results themselves.",
    }),
    groups: z
      .array(EvaluationSummaryGroup)
      .meta({ description: "The groups, by day if requested, then largest first." }),
  })
  .meta({ id: "EvaluationSummaryResponse" });
export type EvaluationSummaryResponse = z.infer<typeof EvaluationSummaryResponse>;
