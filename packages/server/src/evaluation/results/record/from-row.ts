import type {
  EvaluationPayloadsTable,
  EvaluationResultsTable,
} from "../../../storage/schema/evaluation-results.ts";
import type { EvaluatorOutcome } from "../../evaluator-outcome.ts";
import type { EvaluatedModel, StoredResult } from "./evaluation-record.ts";

/** A result's two rows, read back. */
export function fromRow(row: EvaluationResultsTable & EvaluationPayloadsTable): StoredResult {
  return {
    id: row.id,
    createdAt: row.created_at,
    accountId: row.account_id,
    evaluatorId: row.evaluator_id,
    ...given("evaluatorFamily", row.evaluator_family),
    ...(row.profile_name === null
      ? {}
      : {
          profile: {
            name: row.profile_name,
            ...given("publicId", row.profile_public_id),
            ...given("revision", row.profile_revision),
          },
        }),
    explainStrategy: row.explain_strategy,
    isExternal: row.is_external === 1,
    ...given("requestKey", row.request_key),
    sample: {
      ...given("systemPrompt", row.system_prompt),
      ...given("retrievedContext", fromJson<string[]>(row.retrieved_context)),
      ...given("input", row.input),
      ...given("output", row.output),
      ...given("goldAnswer", row.gold_answer),
    },
    metadata: {
      app: row.app,
      ...given("tags", fromJson<Record<string, string>>(row.tags)),
      ...given("datasetId", row.dataset_id),
      ...given("datasetSampleId", fromJson<number | string>(row.dataset_sample_id)),
      ...given("runId", row.run_id),
      ...given("runProjectId", row.run_project_id),
      ...given("evaluatedModel", fromJson<EvaluatedModel>(row.evaluated_model)),
    },
    outcome: {
      status: row.status,
      ...given("errorMessage", row.error_message),
      ...given("pass", row.pass === null ? null : row.pass === 1),
      ...given("score", row.score),
      ...fromJson<Pick<EvaluatorOutcome, "positions" | "extra" | "confidenceInterval">>(row.additional_info),
      ...given("explanation", row.explanation),
      ...given("evaluationMicros", row.evaluation_micros),
      ...given("explanationMicros", row.explanation_micros),
    },
  };
}

function given<Name extends string, Value>(name: Name, value: Value | null): { [Key in Name]?: Value } {
  return value === null ? {} : ({ [name]: value } as { [Key in Name]?: Value });
}

/** What stands in our own columns was JSON of this type when it was written. */
function fromJson<Value>(text: string | null): Value | null {
  return text === null ? null : (JSON.parse(text) as Value);
}
