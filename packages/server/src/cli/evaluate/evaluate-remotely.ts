import type { WantedEvaluator } from "../../evaluation/evaluate/evaluation-request.ts";
import type { ResultMetadata } from "../../evaluation/results/record/evaluation-record.ts";
import type { CallServer } from "../connect-to-server.ts";
import type { EvaluateSample } from "./evaluate-line.ts";

/** Evaluates on another Presage. */
export function evaluateRemotely(
  call: CallServer,
  evaluators: readonly WantedEvaluator[],
  { app, tags, runId }: ResultMetadata,
): EvaluateSample {
  const ofCommand = {
    evaluators: evaluators.map(({ evaluator, profileName, explainStrategy }) => ({
      evaluator,
      profile_name: profileName,
      explain_strategy: explainStrategy,
    })),
    app,
    tags: { ...tags },
    evaluation_run_id: runId,
  };
  return async ({ sample, datasetSampleId, idempotencyKey }) => {
    const request = {
      ...ofCommand,
      evaluated_model_system_prompt: sample.systemPrompt,
      evaluated_model_retrieved_context: sample.retrievedContext && [...sample.retrievedContext],
      evaluated_model_input: sample.input,
      evaluated_model_output: sample.output,
      evaluated_model_gold_answer: sample.goldAnswer,
      dataset_sample_id: datasetSampleId,
    };
    const items = await call(({ evaluate }) => evaluate(request, { idempotencyKey }));
    return items.map(({ evaluation_result, evaluator_id, profile_name, status, error_message }) => ({
      evaluator_id,
      profile_name,
      status,
      error_message,
      id: evaluation_result?.id ?? null,
      pass: evaluation_result?.pass ?? null,
      score_raw: evaluation_result?.score_raw ?? null,
      explanation: evaluation_result?.explanation ?? null,
    }));
  };
}
