import { z } from "zod";
import { list } from "../custom-schemas.ts";
import { nextCursor, queryInteger } from "../query.ts";
import { intervalOf } from "../responses.ts";
import { count, countOrNull, figure, instant, storableText, string } from "../text.ts";
import { EvaluationResultFilter } from "./result-search.ts";

/** How an interval was made. */
export const IntervalMethod = z.enum(["clustered", "independent"]).meta({
  id: "IntervalMethod",
  description:
    "How the intervals were made. `clustered`: results of one trajectory (the tag `trajectory_id`, within a dataset if there is one), otherwise of one sample (`dataset_sample_id`), depend on each other and are one cluster; a result that names neither is a cluster by itself. Wilson's interval, with the cluster-robust standard error CR1 and Student's t of one degree of freedom less than clusters of one size would weigh as much. Reports of runs leave out one trajectory at a time instead, which the sums that a summary is made of do not allow. `independent`: no result names a trajectory or a sample, so all are taken as independent.",
});

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
}).meta({
  id: "EvaluationSummaryRequest",
  if: {
    required: ["group_by"],
    properties: { group_by: { type: "array", contains: { const: "tag" } } },
  },
  // biome-ignore lint/suspicious/noThenProperty: JSON Schema's word.
  then: { required: ["tag"], properties: { tag: { type: "string", minLength: 1 } } },
});
export type EvaluationSummaryRequest = z.infer<typeof EvaluationSummaryRequest>;

const interval = intervalOf(
  "At 95 %. Null if there are too few results or clusters, or if `interval_method` is null.",
);

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
    count: count("All evaluations, including those without a verdict."),
    scored: count(
      "Evaluations with a score. `mean_score` is over these; `pass_rate` also counts ungraded verdicts.",
    ),
    passed: count("Evaluations with the verdict pass."),
    not_passed: count("Evaluations with the verdict fail."),
    failed: count(
      "Evaluations without a verdict, except those with the status `not_applicable`. They do not count as fails.",
    ),
    not_applicable: count("Evaluations with this status, which is neither a verdict nor a failure."),
    interval_method: IntervalMethod.nullable().meta({
      description:
        "Null: intervals were not requested, or more than 2,000,000 results name a trajectory or a sample; use a narrower filter.",
    }),
    clusters: countOrNull(
      "The number of clusters of the verdicts (of the scores, without verdicts) if the intervals are clustered. With fewer than 10, intervals are wide and themselves uncertain.",
    ),
    pass_rate: figure(
      "passed / (passed + not_passed). Rates of several evaluators or profiles in one group say little: group by `evaluator` and `profile`.",
    ),
    pass_rate_interval: interval,
    mean_score: figure("Mean score; null if there are no scores."),
    mean_score_interval: interval,
    p10: figure("10 % of the scores are at most this, by nearest rank, to three decimals."),
    p50: figure("Median score, to three decimals."),
    p90: figure("90 % of the scores are at most this, by nearest rank, to three decimals."),
  })
  .meta({ id: "EvaluationSummaryGroup" });
export type EvaluationSummaryGroup = z.infer<typeof EvaluationSummaryGroup>;

/** Response of `POST /v1/evaluation-results/summary`. */
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

/** A tag that results of the account have. */
export const EvaluationTag = z
  .object({
    key: string("The tag's name."),
    value: string("The tag's text."),
    created_at: instant.meta({ description: "When the first result with this tag was stored." }),
    last_used: instant.meta({ description: "When the latest result with this tag was stored." }),
  })
  .meta({ id: "EvaluationTag" });
export type EvaluationTag = z.infer<typeof EvaluationTag>;

const position = z.tuple([storableText(), storableText()]);

/** The key and value of the tag that a page ends with, from its `next`. */
export function readTagCursor(text: string): { key: string; value: string } | undefined {
  try {
    const [key, value] = position.parse(JSON.parse(text));
    return { key, value };
  } catch {
    return undefined;
  }
}

/** The `next` of a page that ends with this tag; `readTagCursor` reads it. */
export function writeTagCursor({ key, value }: { key: string; value: string }): string {
  return JSON.stringify([key, value]);
}

/** Query of `GET /v1/evaluation-results/tags`. */
export const EvaluationTagListQuery = z.object({
  limit: queryInteger({ minimum: 1, maximum: 1000 }).optional().meta({
    default: 1000,
    description: "The most tags to return.",
  }),
  after: z
    .string()
    .check(({ value, issues }) => {
      if (readTagCursor(value) !== undefined) return;
      const message = "Input should be the `next` of an earlier response";
      issues.push({ code: "custom", message, input: value });
    })
    .optional()
    .meta({
      pattern: '^\\["',
      description: "The `next` of an earlier response, to get the following page.",
    }),
});

/** Response of `GET /v1/evaluation-results/tags`: the tags of the account's results, by key and value. */
export const EvaluationTagListResponse = z
  .object({
    tags: z.array(EvaluationTag).meta({ description: "The tags, by key and value." }),
    next: nextCursor,
  })
  .meta({ id: "EvaluationTagListResponse" });
export type EvaluationTagListResponse = z.infer<typeof EvaluationTagListResponse>;
