import type { EvaluationResult } from "@presage/sdk";

/** What a list shows of a result: little enough that tens of thousands of them fit into a page. */
export interface ResultRow
  extends Pick<
    EvaluationResult,
    | "app"
    | "created_at"
    | "dataset_sample_id"
    | "error_message"
    | "evaluation_run_id"
    | "evaluator_id"
    | "evaluator_profile_revision"
    | "pass"
    | "profile_name"
    | "score_raw"
    | "status"
  > {
  id: string;
  /** What a person said, which is what counts. */
  corrected: { pass: boolean; score: number | null } | null;
  /** The beginning of the output. */
  excerpt: string | null;
}

const excerptCharacters = 300;

export function toResultRow(result: EvaluationResult): ResultRow {
  const { correction } = result;
  return {
    id: result.id ?? "",
    app: result.app,
    created_at: result.created_at,
    dataset_sample_id: result.dataset_sample_id,
    error_message: result.error_message,
    evaluation_run_id: result.evaluation_run_id,
    evaluator_id: result.evaluator_id,
    evaluator_profile_revision: result.evaluator_profile_revision,
    pass: result.pass,
    profile_name: result.profile_name,
    score_raw: result.score_raw,
    status: result.status,
    corrected: correction && { pass: correction.pass, score: correction.score_raw },
    excerpt: result.evaluated_model_output?.slice(0, excerptCharacters) ?? null,
  };
}
