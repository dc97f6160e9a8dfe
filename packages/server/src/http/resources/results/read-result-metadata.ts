import type { EvaluateRequest } from "@presage/contract";
import { defined } from "../../../defined.ts";
import type { EvaluatedModel, ResultMetadata } from "../../../evaluation/results/record/evaluation-record.ts";

const defaultApp = "default";

type MetadataFields = Pick<
  EvaluateRequest,
  | "app"
  | "tags"
  | "dataset_id"
  | "dataset_sample_id"
  | "evaluation_run_id"
  | "evaluation_run_project_id"
  | "evaluated_model_id"
  | "evaluated_model_name"
  | "evaluated_model_provider"
  | "evaluated_model_params"
  | "evaluated_model_selected_model"
>;

/** A result's metadata. Nulls, empty texts and empty tags are treated as absent. */
export function readResultMetadata(fields: MetadataFields): ResultMetadata {
  const { app, tags, dataset_sample_id: sampleId } = fields;
  return {
    app: app ?? defaultApp,
    ...defined({
      tags: notEmpty(tags),
      datasetId: fields.dataset_id || undefined,
      datasetSampleId: sampleId === 0 ? 0 : sampleId || undefined,
      runId: fields.evaluation_run_id || undefined,
      runProjectId: fields.evaluation_run_project_id || undefined,
      evaluatedModel: notEmpty(readModel(fields)),
    }),
  };
}

function readModel(fields: MetadataFields): EvaluatedModel {
  return defined({
    id: fields.evaluated_model_id || undefined,
    name: fields.evaluated_model_name || undefined,
    provider: fields.evaluated_model_provider || undefined,
    params: fields.evaluated_model_params || undefined,
    selectedModel: fields.evaluated_model_selected_model || undefined,
  });
}

function notEmpty<Value extends object>(value: Value | null | undefined): Value | undefined {
  return value && Object.keys(value).length > 0 ? value : undefined;
}
