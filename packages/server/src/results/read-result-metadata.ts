import type { EvaluateRequest } from "@presage/contract";
import type { EvaluatedModel, ResultMetadata } from "./evaluation-record.ts";

const defaultApp = "default";

type MetadataFields = Pick<
  EvaluateRequest,
  | "app"
  | "tags"
  | "dataset_id"
  | "dataset_sample_id"
  | "evaluation_run_id"
  | "evaluation_run_project_id"
  | "project_id"
  | "experiment_id"
  | "evaluated_model_id"
  | "evaluated_model_name"
  | "evaluated_model_provider"
  | "evaluated_model_params"
  | "evaluated_model_selected_model"
>;

/** A result's metadata. Nulls, empty texts and empty tags are treated as absent. */
export function readResultMetadata(fields: MetadataFields): ResultMetadata {
  const { app, tags, dataset_sample_id } = fields;
  return {
    app: app ?? defaultApp,
    tags: tags && Object.keys(tags).length > 0 ? tags : undefined,
    datasetId: fields.dataset_id || undefined,
    datasetSampleId: dataset_sample_id === 0 ? 0 : dataset_sample_id || undefined,
    runId: fields.evaluation_run_id || undefined,
    runProjectId: fields.evaluation_run_project_id || undefined,
    projectId: fields.project_id || undefined,
    experimentId: fields.experiment_id || undefined,
    evaluatedModel: readModel(fields),
  };
}

function readModel(fields: MetadataFields): EvaluatedModel | undefined {
  const model = {
    id: fields.evaluated_model_id || undefined,
    name: fields.evaluated_model_name || undefined,
    provider: fields.evaluated_model_provider || undefined,
    params: fields.evaluated_model_params ?? undefined,
    selectedModel: fields.evaluated_model_selected_model || undefined,
  };
  return Object.values(model).some((value) => value !== undefined) ? model : undefined;
}
