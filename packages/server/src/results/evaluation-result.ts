import type { EvaluationResult } from "@presage/contract";
import { toExternalName } from "../evaluators/outcome.ts";
import { type CurrentResult, withOldResultNames } from "../evaluators/old-names.ts";
import { nowMicros, toIsoInstant } from "../platform/storage/micros.ts";
import type { EvaluationRecord, StoredResult } from "./evaluation-record.ts";

/** A result in a response, under new names and old. One that was not stored has no id. */
export function toEvaluationResult(record: EvaluationRecord | StoredResult): EvaluationResult {
  return withOldResultNames(toCurrentResult(record));
}

/** A result under current names only. */
export function toCurrentResult(record: EvaluationRecord | StoredResult): CurrentResult {
  const { sample, metadata, outcome, profile } = record;
  const stored = "id" in record ? record : undefined;
  const model = metadata.evaluatedModel;
  return {
    id: stored === undefined ? null : String(stored.id),
    app: metadata.app,
    created_at: toIsoInstant(stored?.createdAt ?? nowMicros()),
    evaluator_id: record.isExternal ? toExternalName(record.evaluatorId) : record.evaluatorId,
    evaluator_family: record.evaluatorFamily ?? null,
    profile_name: profile?.name ?? null,
    criteria: profile?.name ?? null,
    evaluator_profile_public_id: profile?.publicId ?? null,
    evaluator_profile_revision: profile?.revision ?? null,
    evaluated_model_system_prompt: sample.systemPrompt ?? null,
    evaluated_model_retrieved_context:
      sample.retrievedContext === undefined ? null : [...sample.retrievedContext],
    evaluated_model_input: sample.input ?? null,
    evaluated_model_output: sample.output ?? null,
    evaluated_model_gold_answer: sample.goldAnswer ?? null,
    explain_strategy: record.explainStrategy,
    status: outcome.status,
    error_message: outcome.errorMessage ?? null,
    pass: outcome.pass ?? null,
    score_raw: outcome.score ?? null,
    additional_info: {
      positions:
        outcome.positions === undefined ? null : outcome.positions.map(([start, end]) => [start, end]),
      extra: outcome.extra === undefined ? null : { ...outcome.extra },
      confidence_interval: outcome.confidenceInterval ?? null,
    },
    explanation: outcome.explanation ?? null,
    evaluation_duration: toDuration(outcome.evaluationMicros),
    explanation_duration: toDuration(outcome.explanationMicros),
    evaluation_run_project_id: metadata.runProjectId ?? null,
    evaluation_run_id: metadata.runId ?? null,
    project_id: metadata.projectId ?? null,
    experiment_id: metadata.experimentId ?? null,
    evaluated_model_id: model?.id ?? null,
    evaluated_model_name: model?.name ?? null,
    evaluated_model_provider: model?.provider ?? null,
    evaluated_model_params: model?.params === undefined ? null : { ...model.params },
    evaluated_model_selected_model: model?.selectedModel ?? null,
    dataset_id: metadata.datasetId ?? null,
    dataset_sample_id: metadata.datasetSampleId ?? null,
    tags: metadata.tags === undefined ? null : { ...metadata.tags },
    external: record.isExternal,
    correction: toCorrection(stored?.correction),
  };
}

function toCorrection(correction: StoredResult["correction"]): EvaluationResult["correction"] {
  if (correction === undefined) return null;
  const { pass, score, comment, createdAt } = correction;
  return { pass, score_raw: score ?? null, comment: comment ?? null, created_at: toIsoInstant(createdAt) };
}

/** ISO 8601, to the microsecond, which is the smallest number that JavaScript writes without an exponent. */
function toDuration(micros: number | undefined): string | null {
  return micros === undefined ? null : `PT${micros / 1e6}S`;
}
