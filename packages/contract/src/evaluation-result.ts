import { z } from "zod";
import { list } from "./list.ts";
import { smallRecord } from "./small-record.ts";
import { boundedObject, boundedText, shortText, storableText } from "./text.ts";

const instant = z.iso.datetime({ offset: true });
// JSON Schema's format for durations, that of RFC 3339, knows no fractions of a second.
const duration = z
  .string()
  .meta({ pattern: "^PT\\d+(\\.\\d{1,6})?S$", description: "ISO 8601, for example PT0.25S." });
const score = z.number().min(0).max(1);
const utf8 = new TextEncoder();
/** PostgreSQL takes 2,704 bytes in an entry of an index, and a tag does not stand there alone. */
const maxTagBytes = 2_400;
const maxTagCharacters = 1_000;
const maxTags = 50;
const tagsMessage = `Tags are at most ${maxTags} texts of at most 1,000 characters under names, each with its name at most ${maxTagBytes} bytes of UTF-8`;

function isTag([name, text]: [string, string]): boolean {
  return (
    name !== "" &&
    name.length <= maxTagBytes &&
    name.isWellFormed() &&
    !name.includes("\0") &&
    text.length <= maxTagCharacters &&
    utf8.encode(name + text).length <= maxTagBytes
  );
}

/** When a verdict is explained. */
export const ExplainStrategy = z.enum(["never", "on-fail", "on-success", "always"]);
export type ExplainStrategy = z.infer<typeof ExplainStrategy>;

/** What became of an evaluation. A failed one has no verdict: it is never a fail. */
export const EvaluationStatus = z.enum(["success", "validation_error", "failed"]);
export type EvaluationStatus = z.infer<typeof EvaluationStatus>;

/** The deprecated way to say an explain strategy: true is always, false is never. */
export const DeprecatedExplain = z.union([z.boolean(), z.enum(["on-fail", "on-success"])]);
export type DeprecatedExplain = z.infer<typeof DeprecatedExplain>;

/** Marks a field that is still taken and still sent, and that another one replaces. */
export function deprecated<Schema extends z.ZodType>(schema: Schema, replacement: string): Schema {
  return schema.meta({ deprecated: true, description: `Replaced by \`${replacement}\`.` });
}

/** The model whose output is evaluated, as far as the caller told. */
export const evaluatedModelFields = {
  evaluated_model_id: shortText(200).nullish(),
  evaluated_model_name: shortText(200).nullish(),
  evaluated_model_provider: shortText(200).nullish(),
  evaluated_model_params: boundedObject(65_536, "A model's params").nullish(),
  evaluated_model_selected_model: shortText(200).nullish(),
};

/** What a result is filed under, as far as the caller told. */
export const metadataFields = {
  app: shortText(200).nullish().meta({ default: "default" }),
  tags: smallRecord(z.string(), storableText(), { maxEntries: maxTags, message: tagsMessage })
    .nullish()
    .check(({ value, issues }) => {
      if (Object.entries(value ?? {}).every(isTag)) return;
      issues.push({ code: "custom", message: tagsMessage, input: value });
    })
    .meta({ description: "At most 50 texts under names of the caller's choice." }),
  dataset_id: shortText(200).nullish(),
  dataset_sample_id: z
    .union([z.int(), shortText(200)])
    .nullish()
    .meta({ description: "The sample's number or name in its dataset; sent back as it came." }),
  evaluation_run_project_id: shortText(200).nullish(),
  evaluation_run_id: shortText(200).nullish().meta({ description: "Groups the results of one run." }),
};

const retrievedContext = z
  .union([storableText(), list(storableText()).max(50)])
  .meta({ description: "At most 50 texts; one text alone stands for a list of one." });

/** The texts that evaluators look at, under their names and under those that they had before. */
export const sampleFields = {
  evaluated_model_system_prompt: storableText().nullish(),
  evaluated_model_retrieved_context: retrievedContext.nullish(),
  evaluated_model_input: storableText().nullish(),
  evaluated_model_output: storableText().nullish(),
  evaluated_model_gold_answer: storableText().nullish(),
  system_prompt: deprecated(storableText().nullish(), "evaluated_model_system_prompt"),
  retrieved_context: deprecated(retrievedContext.nullish(), "evaluated_model_retrieved_context"),
  input: deprecated(storableText().nullish(), "evaluated_model_input"),
  output: deprecated(storableText().nullish(), "evaluated_model_output"),
  label: deprecated(storableText().nullish(), "evaluated_model_gold_answer"),
};

/** An interval of the median of all earlier scores of the same evaluator and profile. */
export const ConfidenceInterval = z
  .object({
    strategy: z.literal("full-history"),
    alpha: z.number().meta({ description: "The chance that the interval misses, for example 0.05." }),
    lower: score.nullable(),
    median: score.nullable(),
    upper: score.nullable(),
  })
  .meta({ id: "ConfidenceInterval" });
export type ConfidenceInterval = z.infer<typeof ConfidenceInterval>;

/** A stretch of the output: first character and the one after the last, counted in Unicode code points from 0. */
export const Position = z.tuple([z.int(), z.int()]);
export type Position = z.infer<typeof Position>;

/** What a person says about a verdict. */
export const Correction = z
  .object({
    pass: z.boolean(),
    score_raw: score.nullable(),
    comment: z.string().nullable(),
    created_at: instant,
  })
  .meta({ id: "EvaluationCorrection" });
export type Correction = z.infer<typeof Correction>;

/** One evaluation and all that is known of it. */
export const EvaluationResult = z
  .object({
    id: z
      .string()
      .nullable()
      .meta({ description: "An increasing integer; null where nothing was captured." }),
    app: z.string(),
    created_at: instant.meta({
      description: "When it was kept; where nothing was captured, when it was answered.",
    }),
    evaluator_id: z.string(),
    evaluator_family: z.string().nullable().meta({ description: "Null for a result made elsewhere." }),
    profile_name: z.string().nullable(),
    criteria: z.string().nullable().meta({ description: "The same as profile_name." }),
    evaluator_profile_public_id: z.uuid().nullable(),
    evaluator_profile_revision: z.int().nullable(),
    evaluated_model_system_prompt: z.string().nullable(),
    evaluated_model_retrieved_context: z.array(z.string()).nullable(),
    evaluated_model_input: z.string().nullable(),
    evaluated_model_output: z.string().nullable(),
    evaluated_model_gold_answer: z.string().nullable(),
    explain_strategy: ExplainStrategy,
    status: EvaluationStatus,
    error_message: z.string().nullable(),
    pass: z.boolean().nullable().meta({ description: "The evaluator's verdict; null without one." }),
    score_raw: score.nullable(),
    additional_info: z.object({
      positions: z.array(Position).nullable(),
      extra: z.record(z.string(), z.unknown()).nullable(),
      confidence_interval: ConfidenceInterval.nullable(),
      score_raw: deprecated(score.nullable(), "score_raw of the result"),
    }),
    explanation: z.string().nullable(),
    evaluation_duration: duration.nullable(),
    explanation_duration: duration.nullable(),
    evaluation_run_project_id: z.string().nullable(),
    evaluation_run_id: z.string().nullable(),
    evaluated_model_id: z.string().nullable(),
    evaluated_model_name: z.string().nullable(),
    evaluated_model_provider: z.string().nullable(),
    evaluated_model_params: z.record(z.string(), z.unknown()).nullable(),
    evaluated_model_selected_model: z.string().nullable(),
    dataset_id: z.string().nullable(),
    dataset_sample_id: z.union([z.int(), z.string()]).nullable(),
    tags: z.record(z.string(), z.string()).nullable(),
    external: z.boolean().meta({ description: "Whether the result was made elsewhere and imported." }),
    correction: Correction.nullable().meta({ description: "The latest; the verdict above stays as it was." }),
    system_prompt: deprecated(z.string().nullable(), "evaluated_model_system_prompt"),
    retrieved_context: deprecated(z.array(z.string()).nullable(), "evaluated_model_retrieved_context"),
    input: deprecated(z.string().nullable(), "evaluated_model_input"),
    output: deprecated(z.string().nullable(), "evaluated_model_output"),
    label: deprecated(z.string().nullable(), "evaluated_model_gold_answer"),
    explain: deprecated(DeprecatedExplain, "explain_strategy"),
    score_normalized: deprecated(score.nullable(), "score_raw"),
  })
  .meta({ id: "EvaluationResult" });
export type EvaluationResult = z.infer<typeof EvaluationResult>;

/** Path of one result. */
export const EvaluationResultPath = z.object({
  id: z
    .string()
    .check(({ value, issues }) => {
      if (!/^\d+$/.test(value)) issues.push({ code: "invalid_format", format: "int", input: value });
    })
    .meta({ type: "integer" }),
});

/** Answer of `GET /v1/evaluation-results/{id}`: the result twice, alone and as a list of one. */
export const EvaluationResultResponse = z
  .object({ evaluation_result: EvaluationResult, evaluation_results: z.array(EvaluationResult) })
  .meta({ id: "EvaluationResultResponse" });
export type EvaluationResultResponse = z.infer<typeof EvaluationResultResponse>;

/** Body of `POST /v1/evaluation-results/{id}/correction`. */
export const CorrectionRequest = z
  .object({
    pass: z.boolean(),
    score_raw: score.nullish().meta({ description: "Absent: 1 for a pass, 0 for a fail." }),
    comment: boundedText(10_000).nullish(),
  })
  .meta({ id: "EvaluationCorrectionRequest" });
export type CorrectionRequest = z.infer<typeof CorrectionRequest>;

/** Answer of `POST /v1/evaluation-results/{id}/correction`. */
export const CorrectionResponse = z
  .object({ evaluation_result: EvaluationResult })
  .meta({ id: "EvaluationCorrectionResponse" });
export type CorrectionResponse = z.infer<typeof CorrectionResponse>;

const seconds = "\\d+([.,]\\d+)?S";
const timeOfDay = `T(\\d+H(\\d+M)?(${seconds})?|\\d+M(${seconds})?|${seconds})`;
/** Years and months, which are no lengths of time, are refused where it is read, with words of their own. */
const importedDuration = z.iso
  .duration()
  .meta({
    format: undefined,
    pattern: `^P(\\d+W|\\d+D(${timeOfDay})?|${timeOfDay})$`,
    description: "ISO 8601 in weeks, days, hours, minutes and seconds, for example PT0.25S.",
  })
  .nullish();

/** One result that was made elsewhere. */
export const ImportedEvaluationResult = z
  .object({
    evaluator_id: shortText(200),
    profile_name: shortText(200).nullish(),
    criteria: shortText(200).nullish().meta({ description: "The same as profile_name." }),
    pass: z.boolean().nullish(),
    score_raw: score.nullish(),
    explanation: boundedText(1_000_000).nullish(),
    evaluation_duration: importedDuration,
    explanation_duration: importedDuration,
    ...sampleFields,
    ...evaluatedModelFields,
    ...metadataFields,
  })
  .meta({ id: "ImportedEvaluationResult" });
export type ImportedEvaluationResult = z.infer<typeof ImportedEvaluationResult>;

/** Body of `POST /v1/evaluation-results/batch`: all of it is stored, or nothing. */
export const EvaluationResultBatchRequest = z
  .object({ evaluation_results: list(ImportedEvaluationResult).min(1).max(1000) })
  .meta({ id: "EvaluationResultBatchRequest" });
export type EvaluationResultBatchRequest = z.infer<typeof EvaluationResultBatchRequest>;

export const EvaluationResultBatchResponse = z
  .object({
    evaluation_results: z.array(
      z.object({ id: z.string(), app: z.string(), created_at: instant, evaluator_id: z.string() }),
    ),
  })
  .meta({ id: "EvaluationResultBatchResponse" });
export type EvaluationResultBatchResponse = z.infer<typeof EvaluationResultBatchResponse>;
