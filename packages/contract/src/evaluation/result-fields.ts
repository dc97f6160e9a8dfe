import { z } from "zod";
import { list } from "../list.ts";
import type { Rule } from "../object-with-rule.ts";
import { smallRecord } from "../small-record.ts";
import { boundedObject, shortText, storableText } from "../text.ts";

export const instant = z.iso.datetime({ offset: true });
export const score = z.number().min(0).max(1);
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

/**
 * The outcome of an evaluation. Only `success` has a verdict; what has none does not count as a fail. `contradictory`: the judge's verdict
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

/** Texts by name, as callers label what they make. */
export const newTags = smallRecord(z.string(), storableText(), { maxEntries: maxTags, message: tagsMessage })
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

/** A rule of everything that has `metadataFields`: a result has an app or an experiment. */
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
