import type { ChatParent } from "../../platform/observability/tracing.ts";
import { answerColumns } from "../../platform/storage/answer-columns.ts";
import { nowMicros } from "../../platform/storage/micros.ts";
import type { PredictionPayloadsTable, PredictionsTable } from "../../platform/storage/schema/predictions.ts";
import { toStorableText } from "../../platform/storage/storable-text.ts";
import type { Run } from "../run.ts";
import type { Step } from "./missing-work.ts";
import type { MostFrequent } from "./most-frequent.ts";
import {
  countRetry,
  type PredictStep,
  predictStep,
  type StepFailure,
  type StepOutcome,
  type StepResponse,
  type StepsOfRun,
} from "./predict-step.ts";
import { promptOf, stateOf } from "./run-sample.ts";

/** Predicts one step; undefined if the run was paused first. `predicted` are the predictions of the trajectory's earlier steps, if it is told them. */
export type Predictor = (
  step: Step,
  predicted: readonly string[],
  signal: AbortSignal,
  span?: ChatParent,
) => Promise<StepOutcome | undefined>;

interface PredictorServices extends StepsOfRun {
  predict: PredictStep;
  /** If the target needs it. */
  mostFrequent: MostFrequent | undefined;
}

export function createPredictor(run: Run, services: PredictorServices): Predictor {
  const { target } = run;
  if (run.provenance.finished_early) return async () => givenUp;
  switch (target.kind) {
    case "deployment": {
      const steps: StepsOfRun = { ...services };
      return async ({ sample, repeat }, predicted, signal, span) => {
        const messages = promptOf(sample, predicted);
        if (messages.length === 0) return nothingToAsk;
        const request = {
          accountId: run.accountId,
          keyId: run.apiKeyId,
          deployment: target.deployment,
          model: target.model,
          messages,
          params: paramsOf(run, repeat),
          session: `${run.id}/${repeat}/${Bun.hash(sample.trajectory_id).toString(36)}`,
          isFedBack: run.mode === "free-running",
          span,
          mayRetry() {
            countRetry(services.tries, "unavailable");
            return true;
          },
        };
        return await predictStep(services.predict, request, steps, signal);
      };
    }
    case "no-change":
      return async ({ sample }, predicted) => here(predicted.at(-1) ?? stateOf(sample));
    case "most-frequent":
      return async (step, predicted) => {
        const found = await services.mostFrequent?.(step);
        return here(found ?? predicted.at(-1) ?? stateOf(step.sample));
      };
    case "imported":
    case "external":
      return async () => ({
        failure: { category: "missing", message: "No prediction of this sample was uploaded." },
      });
  }
}

/** A repeat with the same seed would be the same completion again. */
export function paramsOf(
  { params = {} }: Pick<Run, "params">,
  repeat: number,
): Readonly<Record<string, unknown>> {
  const { seed } = params;
  return typeof seed === "number" ? { ...params, seed: seed + repeat } : params;
}

const givenUp: StepOutcome = {
  failure: { category: "missing", message: "The run was finished without this prediction." },
};

/** A sample of a file of predictions, which does not say what was asked. */
const nothingToAsk: StepOutcome = {
  failure: { category: "missing", message: "The sample has neither an interaction nor messages to send." },
};

function here(output: string): StepOutcome {
  return { response: { ...nothingSaid, output } };
}

export const nothingSaid: StepResponse = {
  output: "",
  reasoning: null,
  finishReason: null,
  deployment: null,
  model: null,
  sentModel: null,
  replica: null,
  promptTokens: 0,
  cachedTokens: 0,
  completionTokens: 0,
  latencyMs: null,
};

export interface PredictionRows {
  row: PredictionsTable;
  payload: PredictionPayloadsTable;
}

/** The rows of a step's prediction. */
export function toRows(
  run: Pick<Run, "id" | "accountId">,
  { position, repeat }: Pick<Step, "position" | "repeat">,
  outcome: StepOutcome,
): PredictionRows {
  const id = Bun.randomUUIDv7();
  const response = "response" in outcome ? outcome.response : nothingSaid;
  const failure: StepFailure | undefined = "failure" in outcome ? outcome.failure : undefined;
  return {
    row: {
      id,
      account_id: run.accountId,
      source: "run",
      created_at: nowMicros(),
      run_id: run.id,
      position,
      repeat,
      status: failure === undefined ? "success" : "failed",
      error_category: failure?.category ?? null,
      deployment: response.deployment,
      ...answerColumns(response),
      latency_micros: response.latencyMs === null ? null : Math.round(response.latencyMs * 1000),
      api_key_id: null,
      request_id: null,
    },
    payload: {
      prediction_id: id,
      context_digest: null,
      request: null,
      output: failure === undefined ? toStorableText(response.output) : null,
      reasoning: response.reasoning === null ? null : toStorableText(response.reasoning),
      error_message: failure === undefined ? null : toStorableText(failure.message),
    },
  };
}
