import { z } from "zod";
import { list, valuesByName } from "../custom-schemas.ts";
import { queryBoolean, queryInteger, queryNumber } from "../query.ts";
import { count, dateTime, storableText } from "../text.ts";
import { deprecated, EvaluationResult, EvaluationStatus, ExplainStrategy } from "./result.ts";

/**
 * A result's id as clients send it: an integer or its digits. Ids too large for any result are valid too; the largest
 * numbers are parsed as infinite.
 */
function resultId() {
  return z
    .unknown()
    .check(({ value, issues }) => {
      if (typeof value === "string") {
        if (!/^\d+$/.test(value)) issues.push({ code: "invalid_format", format: "int", input: value });
      } else if (!isWhole(value)) {
        issues.push({ code: "invalid_type", expected: "int", input: value });
      } else if (value < 0) {
        issues.push({ code: "too_small", origin: "number", minimum: 0, inclusive: true, input: value });
      }
    })
    .meta({
      anyOf: [
        { type: "integer", minimum: 0 },
        { type: "string", pattern: "^\\d+$" },
      ],
    });
}

/** Converts a valid id to a number. Ids beyond all results become the largest safe integer. */
export function readResultId(id: unknown): number {
  return Math.min(Number(id), Number.MAX_SAFE_INTEGER);
}

function isWhole(value: unknown): value is number {
  return (
    typeof value === "number" && (Number.isInteger(value) || Math.abs(value) === Number.POSITIVE_INFINITY)
  );
}

const name = storableText().nullish();
const instant = dateTime().meta({
  description: "UTC if no offset is given; a date alone is its midnight.",
});
const tags = valuesByName(storableText(), storableText(), {
  maxEntries: 50,
  message: "At most 50 tags",
})
  .nullish()
  .meta({ description: "Only results with all of these tags." });

/** The largest integer that the database column can store. */
const maxRevision = 2_147_483_647;
/** Descriptions of fields that the search and the export share. */
const described = {
  pass: { description: "Only results with this verdict." },
  revision: {
    description:
      "Only results of this revision of a profile, usually together with evaluator_profile_public_id.",
  },
  explain: { description: "Only results with an explanation, or without one." },
  hasRun: {
    description: "Only results of runs, or only those of direct evaluations, which belong to no run.",
  },
  scoreMin: { description: "Only results with this score or a higher one." },
  scoreMax: { description: "Only results with this score or a lower one." },
  afterId: { description: "Only results with a higher id." },
  beforeId: { description: "Only results with a lower id." },
  order: { description: "Newest first, or oldest first." },
};

const sample = "Only results of this sample; a number and the text of its digits are the same sample.";

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
        "By time, by sample or by score, and with a minus in reverse. By sample, numbers count by value (`run/9` precedes `run/10`). Scores count to a thousandth, as corrected. By sample or score, results without one are left out, and after_id and before_id are places in this order, where their results are now: the id of a deleted result is refused, and a result that is corrected between two pages may come twice or not at all.",
    }),
  limit: z.int().min(1).max(1000).nullish().meta({ default: 50, description: "Maximum number of results." }),
  offset: z.literal(0).nullish().meta({ description: "Pages are by id; 0 is accepted for compatibility." }),
  text_limit: z.int().min(1).max(1_000_000).nullish().meta({
    description:
      "Truncates long texts to this many characters (Unicode code points): the system prompt, each retrieved context, the input, the output, the gold answer and the explanation. If omitted, texts are complete. A single result, by its id, is always complete.",
  }),
}).meta({ id: "EvaluationResultSearchRequest" });
export type EvaluationResultSearchRequest = z.infer<typeof EvaluationResultSearchRequest>;

/** Response of `POST /v1/evaluation-results/search`. */
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
      .meta({
        pattern: "^\\s*\\{",
        contentMediaType: "application/json",
        contentSchema: { type: "object", additionalProperties: { type: "string" }, maxProperties: 50 },
        description: "Only results with all of these tags: a JSON object of strings.",
        examples: ['{"split":"test"}'],
      }),
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

/**
 * Query of `DELETE /v1/evaluation-results`: the search's filters, and how many results are expected to match. `has_run` is not among
 * them: a process of the previous version, which may continue a deletion, would ignore it and delete more.
 */
export const EvaluationResultDeleteQuery = EvaluationResultExportQuery.omit({
  order: true,
  format: true,
  has_run: true,
})
  .extend({
    dry_run: queryBoolean()
      .optional()
      .meta({ default: false, description: "Only count what would be deleted; delete nothing." }),
    expected_count: queryInteger({ minimum: 0 }).optional().meta({
      description:
        "The `count` of the same request with dry_run. Required to delete: if another number of results matches by then, nothing is deleted.",
    }),
  })
  .meta({ id: "EvaluationResultDeleteQuery" });

/** What `DELETE /v1/evaluation-results` would delete. */
export const EvaluationResultDeletionCount = z
  .object({
    count: count("How many results would be deleted."),
    kept: count("How many results match as well and stay, because a run or an experiment has them."),
  })
  .meta({ id: "EvaluationResultDeletionCount" });
export type EvaluationResultDeletionCount = z.infer<typeof EvaluationResultDeletionCount>;

/** A deletion of results, which continues in the background and survives a restart of the server. */
export const EvaluationResultDeletion = z
  .object({
    id: z.uuid().meta({ description: "The deletion's id." }),
    status: z.enum(["running", "finished"]).meta({ description: "Whether results are still being deleted." }),
    count: count("How many results matched at the request."),
    deleted: count("How many are deleted."),
    created_at: z.iso.datetime().meta({ description: "When it was requested." }),
    finished_at: z.iso.datetime().nullable().meta({ description: "When it ended; null if it is running." }),
  })
  .meta({ id: "EvaluationResultDeletion" });
export type EvaluationResultDeletion = z.infer<typeof EvaluationResultDeletion>;

/** Path of `/v1/evaluation-result-deletions/{id}`. */
export const EvaluationResultDeletionPath = z.object({
  id: storableText().meta({
    description: "The deletion's id.",
    examples: ["019aa5f6-7d10-7000-8c3e-0b6f5a2d9c41"],
  }),
});
