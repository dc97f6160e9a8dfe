import { z } from "zod";
import { list, type Rule, valuesByName } from "../custom-schemas.ts";
import {
  boolean,
  boundedObject,
  boundedText,
  countOrNull,
  instant,
  number,
  shortText,
  storableText,
  string,
  stringOrNull,
} from "../text.ts";

/** A score from 0, the worst, to 1. */
export const score = z.number().min(0).max(1);
const utf8 = new TextEncoder();
/** A PostgreSQL index entry holds at most 2,704 bytes, and a tag shares its entry with other columns. */
const maxTagBytes = 2_400;
const maxTagCharacters = 1_000;
const maxTags = 50;
const tagsMessage = `At most ${maxTags} tags; a name has at least 1 character, a value may have at most 1,000 characters, and a name and its value together at most ${maxTagBytes} bytes of UTF-8`;

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

/**
 * The outcome of an evaluation. Only `success` has a verdict; evaluations without one do not count as fails. `contradictory`: the judge's verdict
 * and score contradict each other, even when asked again. `not_applicable`: the sample says nothing about any output; it is no failure either.
 */
export const EvaluationStatus = z.enum([
  "success",
  "validation_error",
  "failed",
  "contradictory",
  "not_applicable",
]);
export type EvaluationStatus = z.infer<typeof EvaluationStatus>;

/** The deprecated form of an explain strategy: true means always, false means never. */
export const DeprecatedExplain = z.union([z.boolean(), z.enum(["on-fail", "on-success"])]);
export type DeprecatedExplain = z.infer<typeof DeprecatedExplain>;

/** Marks a field that is still accepted and sent, but has been replaced by another. */
export function deprecated<Schema extends z.ZodType>(schema: Schema, replacement: string): Schema {
  return schema.meta({ deprecated: true, description: `Replaced by \`${replacement}\`.` });
}

/** Fields that requests and results share. */
export const described = {
  modelId: { description: "The id of the model that wrote the output." },
  modelName: { description: "The name of the model that wrote the output." },
  modelProvider: { description: "Who serves the model that wrote the output." },
  selectedModel: { description: "The model that a router chose, if it differs from the requested one." },
  app: { description: "The application that the result belongs to." },
  datasetId: { description: "The dataset that the sample is from." },
  projectId: { description: "The project that the run belongs to." },
  systemPrompt: { description: "The system prompt that the model was given." },
  input: { description: "The prompt; for a world model, the state and the action." },
  output: { description: "The output to evaluate." },
  goldAnswer: { description: "The correct output." },
  pass: { description: "The evaluator's verdict; null if there is none." },
  score: { description: "From 0 (worst) to 1 (best); null if the evaluator gave none." },
  explanation: { description: "Why the output passes or fails." },
};

/** The model whose output is evaluated, as given by the caller. */
export const evaluatedModelFields = {
  evaluated_model_id: shortText(200).nullish().meta(described.modelId),
  evaluated_model_name: shortText(200).nullish().meta(described.modelName),
  evaluated_model_provider: shortText(200).nullish().meta(described.modelProvider),
  evaluated_model_params: boundedObject(65_536, "A model's params").nullish().meta({
    description: "The model's parameters, for example its temperature. At most 65,536 characters of JSON.",
  }),
  evaluated_model_selected_model: shortText(200).nullish().meta(described.selectedModel),
};

/** Texts by name, with which callers label what they create. */
export const newTags = valuesByName(z.string(), storableText(), { maxEntries: maxTags, message: tagsMessage })
  .meta({
    propertyNames: { type: "string", minLength: 1 },
    additionalProperties: { type: "string", maxLength: maxTagCharacters },
    maxProperties: maxTags,
  })
  .nullish()
  .check(({ value, issues }) => {
    if (Object.entries(value ?? {}).every(isTag)) return;
    issues.push({ code: "custom", message: tagsMessage, input: value });
  })
  .meta({ description: "At most 50 texts, named by the caller." });

/** A result's metadata, as given by the caller. */
export const metadataFields = {
  app: shortText(200)
    .nullish()
    .meta({
      default: "default",
      description: `${described.app.description} Cannot be given together with experiment_id.`,
    }),
  project_id: shortText(200).nullish().meta({
    description: "The project that the result belongs to. An experiment's results belong to its project.",
  }),
  project_name: shortText(200).nullish().meta({
    description: "The project's name, instead of project_id. It is created if it does not exist.",
  }),
  experiment_id: shortText(200).nullish().meta({
    description: "The experiment that the result belongs to.",
  }),
  tags: newTags,
  dataset_id: shortText(200).nullish().meta(described.datasetId),
  dataset_sample_id: z
    .union([z.int(), shortText(200)])
    .nullish()
    .meta({ description: "The sample's number or name in its dataset, returned unchanged." }),
  evaluation_run_project_id: shortText(200).nullish().meta(described.projectId),
  evaluation_run_id: shortText(200).nullish().meta({
    description:
      "Groups the results of one run. Any text, except the id of a run that Presage evaluates itself.",
  }),
};

/** The rule for everything that has `metadataFields`: a result has either an app or an experiment. */
export const appOrExperiment: Rule = {
  isKept: (fields: { app?: unknown; experiment_id?: unknown }) =>
    (fields.app ?? null) === null || (fields.experiment_id ?? null) === null,
  path: ["app"],
  message: "app cannot be given together with experiment_id",
  jsonSchema: {
    not: {
      required: ["app", "experiment_id"],
      properties: { app: { type: "string" }, experiment_id: { type: "string" } },
    },
  },
};

const retrievedContext = z.union([storableText(), list(storableText()).max(50)]);

/** The texts that evaluators read, under their current and their old names. */
export const sampleFields = {
  evaluated_model_system_prompt: storableText().nullish().meta(described.systemPrompt),
  evaluated_model_retrieved_context: retrievedContext.nullish().meta({
    description:
      "The texts that the model was given to draw on, at most 50. One text is read as a list of one.",
  }),
  evaluated_model_input: storableText().nullish().meta(described.input),
  evaluated_model_output: storableText().nullish().meta(described.output),
  evaluated_model_gold_answer: storableText().nullish().meta(described.goldAnswer),
  task_context: retrievedContext
    .nullish()
    .meta({ description: "Same as evaluated_model_retrieved_context." }),
  task_input: storableText().nullish().meta({ description: "Same as evaluated_model_input." }),
  task_output: storableText().nullish().meta({ description: "Same as evaluated_model_output." }),
  gold_answer: storableText().nullish().meta({ description: "Same as evaluated_model_gold_answer." }),
  system_prompt: deprecated(storableText().nullish(), "evaluated_model_system_prompt"),
  retrieved_context: deprecated(retrievedContext.nullish(), "evaluated_model_retrieved_context"),
  input: deprecated(storableText().nullish(), "evaluated_model_input"),
  output: deprecated(storableText().nullish(), "evaluated_model_output"),
  label: deprecated(storableText().nullish(), "evaluated_model_gold_answer"),
};

// JSON Schema's duration format (RFC 3339) has no fractional seconds.
const duration = z
  .string()
  .meta({ pattern: "^PT\\d+(\\.\\d{1,6})?S$", description: "ISO 8601, for example PT0.25S." });

/** A confidence interval for the median of all earlier scores of the same evaluator and profile. */
export const ConfidenceInterval = z
  .object({
    strategy: z.literal("full-history").meta({ description: "All earlier scores were used." }),
    alpha: number("Significance level, for example 0.05."),
    lower: score.nullable().meta({ description: "Lower end; null if there are too few scores." }),
    median: score.nullable().meta({ description: "Median of the scores; null if there are none." }),
    upper: score.nullable().meta({ description: "Upper end; null if there are too few scores." }),
  })
  .meta({ id: "ConfidenceInterval" });
export type ConfidenceInterval = z.infer<typeof ConfidenceInterval>;

/** A range of the output, [start, end), in Unicode code points from 0. */
export const Position = z.tuple([z.int(), z.int()]);

/** A person's correction of a verdict. */
export const Correction = z
  .object({
    pass: boolean("The person's verdict."),
    score_raw: score.nullable().meta({ description: "The person's score, from 0 to 1." }),
    comment: stringOrNull("Why the verdict was corrected."),
    created_at: instant.meta({ description: "When the correction was made." }),
  })
  .meta({ id: "EvaluationCorrection" });
export type Correction = z.infer<typeof Correction>;

/** One evaluation and its verdict. */
export const EvaluationResult = z
  .object({
    id: stringOrNull("An increasing integer; null if the result was not stored."),
    app: z.string().meta(described.app),
    created_at: instant.meta({
      description: "When the result was stored, or if it was not stored, when the response was made.",
    }),
    evaluator_id: string(
      "The evaluator that gave the verdict, with its version. For an imported result, `external:` and the name given at the import.",
    ),
    evaluator_family: stringOrNull("The evaluator's family; null for an imported result."),
    profile_name: stringOrNull("The profile that configured the evaluator."),
    criteria: stringOrNull("Same as profile_name."),
    evaluator_profile_public_id: z.uuid().nullable().meta({ description: "The profile's id." }),
    evaluator_profile_revision: countOrNull("The profile's revision."),
    evaluated_model_system_prompt: z.string().nullable().meta(described.systemPrompt),
    evaluated_model_retrieved_context: z
      .array(z.string())
      .nullable()
      .meta({ description: "The texts that the model was given to draw on." }),
    evaluated_model_input: z.string().nullable().meta(described.input),
    evaluated_model_output: stringOrNull("The output that was evaluated."),
    evaluated_model_gold_answer: z.string().nullable().meta(described.goldAnswer),
    explain_strategy: ExplainStrategy.meta({ description: "When the verdict was to be explained." }),
    status: EvaluationStatus.meta({ description: "Whether there is a verdict, and if not, why." }),
    error_message: stringOrNull("Why there is no verdict: an error code, a colon and a sentence."),
    pass: z.boolean().nullable().meta(described.pass),
    score_raw: score.nullable().meta(described.score),
    additional_info: z
      .object({
        positions: z
          .array(Position)
          .nullable()
          .meta({ description: "The parts of the output that the verdict is about." }),
        extra: z
          .record(z.string(), z.unknown())
          .nullable()
          .meta({ description: "Details that depend on the evaluator's family." }),
        confidence_interval: ConfidenceInterval.nullable().meta({
          description: "Null unless `confidence_interval_strategy` requested it.",
        }),
        score_raw: deprecated(score.nullable(), "score_raw of the result"),
      })
      .meta({ description: "Details of the verdict." }),
    explanation: z.string().nullable().meta(described.explanation),
    evaluation_duration: duration.nullable().meta({
      description: "How long the evaluation took, in ISO 8601, for example PT0.25S.",
    }),
    explanation_duration: duration.nullable().meta({
      description: "How long the explanation took, in ISO 8601, for example PT0.25S.",
    }),
    evaluation_run_project_id: z.string().nullable().meta(described.projectId),
    evaluation_run_id: stringOrNull("The run that the result belongs to."),
    project_id: stringOrNull("The project that the result belongs to."),
    experiment_id: stringOrNull("The experiment that the result belongs to."),
    evaluated_model_id: z.string().nullable().meta(described.modelId),
    evaluated_model_name: z.string().nullable().meta(described.modelName),
    evaluated_model_provider: z.string().nullable().meta(described.modelProvider),
    evaluated_model_params: z
      .record(z.string(), z.unknown())
      .nullable()
      .meta({ description: "The model's parameters, as given." }),
    evaluated_model_selected_model: z.string().nullable().meta(described.selectedModel),
    dataset_id: z.string().nullable().meta(described.datasetId),
    dataset_sample_id: z
      .union([z.int(), z.string()])
      .nullable()
      .meta({ description: "The sample's number or name in its dataset, as given." }),
    tags: z.record(z.string(), z.string()).nullable().meta({ description: "Texts by name, as given." }),
    external: boolean("Whether the result was imported."),
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

export const LabelVerdict = z.enum(["pass", "fail"]);

/** A person's verdict on an output, independent of the evaluator's. */
export const EvaluationLabel = z
  .object({
    result_id: string("The labelled result's id."),
    label: LabelVerdict.meta({ description: "The person's verdict." }),
    score: score.nullable().meta({ description: "The person's score, from 0 to 1." }),
    annotator: string("The given name; for a user, the e-mail address or the id."),
    user_id: stringOrNull("The user whose label it is; null if the annotator was named."),
    created_at: instant.meta({ description: "When the label was given." }),
  })
  .meta({ id: "EvaluationLabel" });
export type EvaluationLabel = z.infer<typeof EvaluationLabel>;

/** Path parameters of one result. */
export const EvaluationResultPath = z.object({
  id: z
    .string()
    .check(({ value, issues }) => {
      if (!/^\d+$/.test(value)) issues.push({ code: "invalid_format", format: "int", input: value });
    })
    .meta({ type: "integer", description: "The result's id.", examples: [1] }),
});

/** Response of `GET /v1/evaluation-results/{id}`: the result twice, alone and in a list of one. */
export const EvaluationResultResponse = z
  .object({
    evaluation_result: EvaluationResult.meta({ description: "The result." }),
    evaluation_results: z.array(EvaluationResult).meta({ description: "The same result, in a list of one." }),
    labels: z
      .array(EvaluationLabel)
      .meta({ description: "What people said about it, one label for each person." }),
  })
  .meta({ id: "EvaluationResultResponse" });
export type EvaluationResultResponse = z.infer<typeof EvaluationResultResponse>;

/** Body of `POST /v1/evaluation-results/{id}/correction`. */
export const CorrectionRequest = z
  .strictObject({
    pass: boolean("The correct verdict. The evaluator's own confirms it."),
    score_raw: score.nullish().meta({
      description:
        "The correct score. Defaults to the evaluator's own if its verdict is confirmed, otherwise to 1 for a pass and 0 for a fail. No score if the evaluator gave none.",
    }),
    comment: boundedText(10_000).nullish().meta({ description: "Why the verdict is corrected." }),
  })
  .meta({ id: "EvaluationCorrectionRequest" });
export type CorrectionRequest = z.infer<typeof CorrectionRequest>;

/** Response of `POST /v1/evaluation-results/{id}/correction`. */
export const CorrectionResponse = z
  .object({ evaluation_result: EvaluationResult.meta({ description: "The result with its correction." }) })
  .meta({ id: "EvaluationCorrectionResponse" });
