import type { EvaluateRequest } from "@presage/contract";
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
  const { app, tags, dataset_id, dataset_sample_id, evaluation_run_id, evaluation_run_project_id } = fields;
  const evaluatedModel = readModel(fields);
  return {
    app: app ?? defaultApp,
    ...(tags && Object.keys(tags).length > 0 ? { tags } : {}),
    ...(dataset_id ? { datasetId: dataset_id } : {}),
    ...(typeof dataset_sample_id === "number" || dataset_sample_id
      ? { datasetSampleId: dataset_sample_id }
      : {}),
    ...(evaluation_run_id ? { runId: evaluation_run_id } : {}),
    ...(evaluation_run_project_id ? { runProjectId: evaluation_run_project_id } : {}),
    ...(Object.keys(evaluatedModel).length > 0 ? { evaluatedModel } : {}),
  };
}

function readModel(fields: MetadataFields): EvaluatedModel {
  return {
    ...(fields.evaluated_model_id ? { id: fields.evaluated_model_id } : {}),
    ...(fields.evaluated_model_name ? { name: fields.evaluated_model_name } : {}),
    ...(fields.evaluated_model_provider ? { provider: fields.evaluated_model_provider } : {}),
    ...(fields.evaluated_model_params ? { params: fields.evaluated_model_params } : {}),
    ...(fields.evaluated_model_selected_model
      ? { selectedModel: fields.evaluated_model_selected_model }
      : {}),
  };
}
