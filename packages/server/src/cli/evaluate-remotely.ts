import {
  type ErrorResponse,
  type EvaluateRequest,
  EvaluateResponse,
  HTTPValidationError,
} from "@presage/contract";
import type { WantedEvaluator } from "../evaluation/evaluate/evaluation-request.ts";
import type { ResultMetadata } from "../evaluation/results/record/evaluation-record.ts";
import { baseOf } from "./base-of.ts";
import { CommandError } from "./command-error.ts";
import type { EvaluateSample } from "./evaluate-line.ts";

/** Evaluations by another Presage, over HTTP. */
export function evaluateRemotely(
  server: string,
  apiKey: string,
  evaluators: readonly WantedEvaluator[],
  { app, tags, runId }: ResultMetadata,
): EvaluateSample {
  const url = `${baseOf(server)}/v1/evaluate`;
  return async ({ sample, metadata, idempotencyKey }) => {
    const body: EvaluateRequest = {
      evaluators: evaluators.map(({ evaluator, profileName, explainStrategy }) => ({
        evaluator,
        profile_name: profileName,
        explain_strategy: explainStrategy,
      })),
      evaluated_model_system_prompt: sample.systemPrompt,
      evaluated_model_retrieved_context: sample.retrievedContext && [...sample.retrievedContext],
      evaluated_model_input: sample.input,
      evaluated_model_output: sample.output,
      evaluated_model_gold_answer: sample.goldAnswer,
      app,
      tags: { ...tags },
      dataset_sample_id: metadata.datasetSampleId,
      evaluation_run_id: runId,
    };
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json", "x-api-key": apiKey, "idempotency-key": idempotencyKey },
      body: JSON.stringify(body),
    });
    if (response.status === 401) throw new CommandError(`${server} refuses the key in PRESAGE_API_KEY`);
    if (!response.ok) throw await toError(server, response);
    return EvaluateResponse.parse(await response.json()).results.map(({ evaluation_result, ...item }) => ({
      evaluator_id: item.evaluator_id,
      profile_name: item.profile_name,
      status: item.status,
      error_message: item.error_message,
      id: evaluation_result?.id ?? null,
      pass: evaluation_result?.pass ?? null,
      score_raw: evaluation_result?.score_raw ?? null,
      explanation: evaluation_result?.explanation ?? null,
    }));
  };
}

async function toError(server: string, response: Response): Promise<Error> {
  const body: unknown = await response.json().catch(() => ({}));
  const refusal = HTTPValidationError.safeParse(body);
  const faults = refusal.success ? refusal.data.detail : [];
  const message = `${server} answered ${response.status}: ${JSON.stringify((body as Partial<ErrorResponse>).detail)}`;
  // Every line asks for the same evaluators.
  const isOfCommand = faults.some(({ loc }) => loc[1] === "evaluators");
  return isOfCommand ? new CommandError(message) : new Error(message);
}
