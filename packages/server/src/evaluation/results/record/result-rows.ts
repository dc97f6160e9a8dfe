import type {
  EvaluationPayloadsTable,
  EvaluationResultsTable,
  EvaluationTagsTable,
} from "../../../storage/schema/evaluation-results.ts";
import { toFlag } from "../../../storage/schema/flag.ts";
import { toMille } from "../summary/score-mille.ts";
import type { StoredResult } from "./evaluation-record.ts";

export function toResultRow({ id, createdAt, ...record }: StoredResult): EvaluationResultsTable {
  const { metadata, outcome, profile } = record;
  const pass = outcome.pass === undefined ? null : toFlag(outcome.pass);
  const score = outcome.score ?? null;
  return {
    id,
    account_id: record.accountId,
    created_at: createdAt,
    app: metadata.app,
    evaluator_id: record.evaluatorId,
    evaluator_family: record.evaluatorFamily ?? null,
    profile_name: profile?.name ?? null,
    profile_public_id: profile?.publicId ?? null,
    profile_revision: profile?.revision ?? null,
    status: outcome.status,
    explain_strategy: record.explainStrategy,
    dataset_id: metadata.datasetId ?? null,
    run_id: metadata.runId ?? null,
    is_external: toFlag(record.isExternal),
    pass,
    score,
    counted_pass: pass,
    counted_score: score,
    score_mille: score === null ? null : toMille(score),
    request_key: record.requestKey ?? null,
  };
}

export function toPayloadRow({ id, sample, metadata, outcome }: StoredResult): EvaluationPayloadsTable {
  const { positions, extra, confidenceInterval } = outcome;
  const hasInfo = positions !== undefined || extra !== undefined || confidenceInterval !== undefined;
  return {
    result_id: id,
    system_prompt: sample.systemPrompt ?? null,
    retrieved_context: toJson(sample.retrievedContext),
    input: sample.input ?? null,
    output: sample.output ?? null,
    gold_answer: sample.goldAnswer ?? null,
    error_message: outcome.errorMessage ?? null,
    explanation: outcome.explanation ?? null,
    evaluation_micros: outcome.evaluationMicros ?? null,
    explanation_micros: outcome.explanationMicros ?? null,
    additional_info: hasInfo ? toJson({ positions, extra, confidenceInterval }) : null,
    dataset_sample_id: toJson(metadata.datasetSampleId),
    run_project_id: metadata.runProjectId ?? null,
    evaluated_model: toJson(metadata.evaluatedModel),
    tags: toJson(metadata.tags),
  };
}

export function toTagRows({ id, accountId, metadata }: StoredResult): EvaluationTagsTable[] {
  return Object.entries(metadata.tags ?? {}).map(([name, value]) => ({
    account_id: accountId,
    name,
    value,
    result_id: id,
  }));
}

function toJson(value: unknown): string | null {
  return value === undefined ? null : JSON.stringify(value);
}
