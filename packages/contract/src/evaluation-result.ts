import { z } from "zod";
import { list } from "./list.ts";
import { smallRecord } from "./small-record.ts";
import { boundedObject, boundedText, shortText, storableText } from "./text.ts";

const instant = z.iso.datetime({ offset: true });
// JSON Schema's duration format (RFC 3339) has no fractional seconds.
const duration = z
  .string()
  .meta({ pattern: "^PT\\d+(\\.\\d{1,6})?S$", description: "ISO 8601, for example PT0.25S." });
const score = z.number().min(0).max(1);
const utf8 = new TextEncoder();
/** A PostgreSQL index entry holds at most 2,704 bytes, and a tag shares its entry with other columns. */
const maxTagBytes = 2_400;
const maxTagCharacters = 1_000;
const maxTags = 50;
const tagsMessage = `At most ${maxTags} tags; a value may have at most 1,000 characters, and a name and its value together at most ${maxTagBytes} bytes of UTF-8`;

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

/** The outcome of an evaluation. A failed evaluation has no verdict; it does not count as a fail. */
export const EvaluationStatus = z.enum(["success", "validation_error", "failed"]);
export type EvaluationStatus = z.infer<typeof EvaluationStatus>;

/** The deprecated form of an explain strategy: true means always, false means never. */
export const DeprecatedExplain = z.union([z.boolean(), z.enum(["on-fail", "on-success"])]);
export type DeprecatedExplain = z.infer<typeof DeprecatedExplain>;

/** Marks a field that is still accepted and sent, but has been replaced by another. */
export function deprecated<Schema extends z.ZodType>(schema: Schema, replacement: string): Schema {
  return schema.meta({ deprecated: true, description: `Replaced by \`${replacement}\`.` });
}

/** The model whose output is evaluated, as given by the caller. */
export const evaluatedModelFields = {
  evaluated_model_id: shortText(200).nullish(),
  evaluated_model_name: shortText(200).nullish(),
  evaluated_model_provider: shortText(200).nullish(),
  evaluated_model_params: boundedObject(65_536, "A model's params").nullish(),
  evaluated_model_selected_model: shortText(200).nullish(),
};

/** A result's metadata, as given by the caller. */
export const metadataFields = {
  app: shortText(200).nullish().meta({ default: "default" }),
  tags: smallRecord(z.string(), storableText(), { maxEntries: maxTags, message: tagsMessage })
    .nullish()
    .check(({ value, issues }) => {
      if (Object.entries(value ?? {}).every(isTag)) return;
      issues.push({ code: "custom", message: tagsMessage, input: value });
    })
    .meta({ description: "At most 50 texts, named by the caller." }),
  dataset_id: shortText(200).nullish(),
  dataset_sample_id: z
    .union([z.int(), shortText(200)])
    .nullish()
    .meta({ description: "The sample's number or name in its dataset, returned unchanged." }),
  evaluation_run_project_id: shortText(200).nullish(),
  evaluation_run_id: shortText(200).nullish().meta({ description: "Groups the results of one run." }),
};

const retrievedContext = z
  .union([storableText(), list(storableText()).max(50)])
  .meta({ description: "At most 50 texts. A single text is read as a list of one." });

/** The texts that evaluators read, under their current and their old names. */
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

/** A confidence interval for the median of all earlier scores of the same evaluator and profile. */
export const ConfidenceInterval = z
  .object({
    strategy: z.literal("full-history"),
    alpha: z.number().meta({ description: "Significance level, for example 0.05." }),
    lower: score.nullable(),
    median: score.nullable(),
    upper: score.nullable(),
  })
  .meta({ id: "ConfidenceInterval" });
export type ConfidenceInterval = z.infer<typeof ConfidenceInterval>;

/** A range of the output, [start, end), in Unicode code points from 0. */
export const Position = z.tuple([z.int(), z.int()]);
export type Position = z.infer<typeof Position>;

/** A person's correction of a verdict. */
export const Correction = z
  .object({
    pass: z.boolean(),
    score_raw: score.nullable(),
    comment: z.string().nullable(),
    created_at: instant,
  })
  .meta({ id: "EvaluationCorrection" });
export type Correction = z.infer<typeof Correction>;

/** One evaluation and its verdict. */
export const EvaluationResult = z
  .object({
    id: z
      .string()
      .nullable()
      .meta({ description: "An increasing integer; null if the result was not stored." }),
    app: z.string(),
    created_at: instant.meta({
      description: "When the result was stored, or if it was not stored, when the response was made.",
    }),
    evaluator_id: z.string(),
    evaluator_family: z.string().nullable().meta({ description: "Null for an imported result." }),
    profile_name: z.string().nullable(),
    criteria: z.string().nullable().meta({ description: "Same as profile_name." }),
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
    pass: z.boolean().nullable().meta({ description: "The evaluator's verdict; null if there is none." }),
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
    external: z.boolean().meta({ description: "Whether the result was imported." }),
    correction: Correction.nullable().meta({
      description: "The latest correction. It leaves the fields above unchanged.",
    }),
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

/** Path parameters of one result. */
export const EvaluationResultPath = z.object({
  id: z
    .string()
    .check(({ value, issues }) => {
      if (!/^\d+$/.test(value)) issues.push({ code: "invalid_format", format: "int", input: value });
    })
    .meta({ type: "integer" }),
});

/** Response of `GET /v1/evaluation-results/{id}`: the result twice, alone and in a list of one. */
export const EvaluationResultResponse = z
  .object({ evaluation_result: EvaluationResult, evaluation_results: z.array(EvaluationResult) })
  .meta({ id: "EvaluationResultResponse" });
export type EvaluationResultResponse = z.infer<typeof EvaluationResultResponse>;

/** Body of `POST /v1/evaluation-results/{id}/correction`. */
export const CorrectionRequest = z
  .object({
    pass: z.boolean(),
    score_raw: score.nullish().meta({ description: "Defaults to 1 for a pass and 0 for a fail." }),
    comment: boundedText(10_000).nullish(),
  })
  .meta({ id: "EvaluationCorrectionRequest" });
export type CorrectionRequest = z.infer<typeof CorrectionRequest>;

/** Response of `POST /v1/evaluation-results/{id}/correction`. */
export const CorrectionResponse = z
  .object({ evaluation_result: EvaluationResult })
  .meta({ id: "EvaluationCorrectionResponse" });
export type CorrectionResponse = z.infer<typeof CorrectionResponse>;

const seconds = "\\d+([.,]\\d+)?S";
const timeOfDay = `T(\\d+H(\\d+M)?(${seconds})?|\\d+M(${seconds})?|${seconds})`;
/** Years and months have no fixed length. The reader refuses them with an error of its own. */
const importedDuration = z.iso
  .duration()
  .meta({
    format: undefined,
    pattern: `^P(\\d+W|\\d+D(${timeOfDay})?|${timeOfDay})$`,
    description: "ISO 8601 in weeks, days, hours, minutes and seconds, for example PT0.25S.",
  })
  .nullish();

/** One result from another tool. */
export const ImportedEvaluationResult = z
  .object({
    evaluator_id: shortText(200),
    profile_name: shortText(200).nullish(),
    criteria: shortText(200).nullish().meta({ description: "Same as profile_name." }),
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

/** Body of `POST /v1/evaluation-results/batch`: either every result is stored or none is. */
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
