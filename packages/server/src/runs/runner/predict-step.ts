import { setTimeout as sleep } from "node:timers/promises";
import { isOverloaded, UpstreamError } from "../../platform/errors.ts";
import type { ChatParent } from "../../platform/observability/tracing.ts";
import { answerColumns } from "../../platform/storage/answer-columns.ts";
import { nowMicros, toStorableText } from "../../platform/storage/columns.ts";
import type { PredictionPayloadsTable, PredictionsTable } from "../../platform/storage/schema/runs.ts";
import { isRefusal, retryAfterMs } from "../../upstream/failures.ts";
import { paramsThrough } from "../../worlds/complete-through-world.ts";
import { isRecords } from "../../worlds/world.ts";
import { payerOf, type Run, type RunTries } from "../run.ts";
import {
  deploymentOf,
  type PredictStep,
  readWorldAnswer,
  type StepRequest,
  type StepResponse,
  throughWorld,
  type WorldRun,
} from "./ask-deployment.ts";
import type { AnswerFromRecords, MostFrequent } from "./baselines.ts";
import type { Pace } from "./pace.ts";
import { promptOf, type Step, stateOf } from "./steps.ts";

interface StepFailure {
  category: NonNullable<PredictionsTable["error_category"]>;
  message: string;
  /** Absent if none was asked. */
  deployment?: string;
}

export type StepOutcome = { response: StepResponse } | { failure: StepFailure };

/**
 * A step fails for good after five tries of two calls each: a model that fails every third call fails ten in a row once in 59,000
 * times.
 */
const maxTries = 5;
const callsOfTry = 2;
const maxCalls = maxTries * callsOfTry;
const secondCallMs = 250;
const firstPauseMs = 1_000;
const longestPauseMs = 10_000;
/** Until other responses have been read, or an index is ready. */
const overloadPauseMs = 1_000;

/** The state that the steps of a run share. */
interface StepsOfRun {
  pace: Pace;
  tries: RunTries;
  patience: number;
  isStopping(): boolean;
  /** The last request that the deployment answered: if it is answered again, a failing step is at fault, not the deployment. */
  answered?: StepRequest;
}

/**
 * One step's prediction, or why there is none. Rate limits are waited for, other failures retried, unless the upstream refused the
 * request. A step fails for good only if the deployment answers other steps. Undefined if the run was paused before the step's turn.
 */
async function predictStep(
  predict: PredictStep,
  request: StepRequest,
  run: StepsOfRun,
  signal: AbortSignal,
): Promise<StepOutcome | undefined> {
  const { pace, tries } = run;
  const misses = createMisses(pace);
  let failure: StepFailure | undefined;
  for (;;) {
    const begunAtMs = await pace.take(signal);
    if (run.isStopping()) {
      pace.abandoned();
      return undefined;
    }
    const probe = pace.isAway() ? run.answered : undefined;
    try {
      const response = await predict(probe ?? request, signal);
      pace.succeeded(response.latencyMs);
      if (probe === undefined) {
        run.answered = { ...request, span: undefined };
        return { response };
      }
      if (failure !== undefined && misses.areEnough()) return { failure };
    } catch (error) {
      if (!signal.aborted && waitsFor(error, run)) continue;
      if (signal.aborted || !(error instanceof UpstreamError)) {
        pace.abandoned();
        throw error;
      }
      const isTimeout = error.category === "timeout";
      if (isTimeout) tries.timed_out += 1;
      // The deployment has at least read the request.
      if (error.category === "context_exceeded" || error.category === "unusable_completion")
        pace.succeeded(null);
      else pace.failed(error.message, begunAtMs, isTimeout);
      if (probe !== undefined) {
        countRetry(tries, error.category);
        continue;
      }
      failure = { category: error.category, message: error.message, deployment: request.deployment };
      if (isRefusal(error) || misses.add(error.message)) return { failure };
      countRetry(tries, error.category);
      const pauseMs = run.patience * misses.pauseMs() * (0.5 + Math.random() / 2);
      await sleep(pauseMs, undefined, { signal });
    }
  }
}

/** Whether an error says nothing about the step, which waits until it can be asked again. */
function waitsFor(error: unknown, { pace, tries }: StepsOfRun): boolean {
  // The responses in progress leave no memory for this one, or an index is not searchable yet. That says nothing about the deployment.
  if (isOverloaded(error)) {
    pace.limited(overloadPauseMs, "memory");
    return true;
  }
  if (!(error instanceof UpstreamError) || error.category !== "rate_limit") return false;
  countRetry(tries, error.category);
  pace.limited(retryAfterMs(error.retryAfter));
  return true;
}

/** Counts the failed calls of a step. Failures while the deployment was away say nothing about the step. */
function createMisses(pace: Pace) {
  let calls = 0;
  let outages = pace.outages();
  let answers = pace.answers();
  const areEnough = () => calls >= maxCalls;
  return {
    areEnough,
    /** Returns whether the step fails for good: there are enough failed calls, and the deployment has answered others meanwhile. */
    add(message: string): boolean {
      if (pace.outages() > outages) calls = 0;
      calls += 1;
      const isForGood = areEnough() && pace.answers() > answers;
      if (areEnough() && !isForGood) pace.doubt(message);
      outages = pace.outages();
      answers = pace.answers();
      return isForGood;
    },
    pauseMs(): number {
      if (calls % callsOfTry > 0) return secondCallMs;
      return Math.min(longestPauseMs, firstPauseMs * 2 ** (calls / callsOfTry - 1));
    },
  };
}

function countRetry({ retried }: RunTries, category: StepFailure["category"]): void {
  retried[category] = (retried[category] ?? 0) + 1;
}

/** An answer that is made here, once an index is searchable. Undefined if the run was paused first. */
async function whenReady(
  answer: () => Promise<StepOutcome>,
  { isStopping }: Pick<StepsOfRun, "isStopping">,
  signal: AbortSignal,
): Promise<StepOutcome | undefined> {
  while (!isStopping()) {
    try {
      return await answer();
    } catch (error) {
      if (!isOverloaded(error)) throw error;
    }
    await sleep(overloadPauseMs, undefined, { signal });
  }
  return undefined;
}

/** Predicts one step; undefined if the run was paused first. `predicted`: the predictions of the trajectory's earlier steps, if it is told them. */
export type Predictor = (
  step: Step,
  predicted: readonly string[],
  signal: AbortSignal,
  span?: ChatParent,
) => Promise<StepOutcome | undefined>;

interface PredictorServices extends StepsOfRun {
  predict: PredictStep;
  /** Set for the target `most-frequent`. */
  mostFrequent: MostFrequent | undefined;
  /** Set for the target `retrieval`. */
  answerFromRecords: AnswerFromRecords | undefined;
  /** Set for the target `world`. */
  worldRun: WorldRun | undefined;
}

export function createPredictor(run: Run, services: PredictorServices): Predictor {
  const { target } = run;
  if (run.provenance.finished_early) return async () => givenUp;
  switch (target.kind) {
    case "world":
      return ofWorld(run, services);
    case "deployment":
      return ofDeployment(run, services, (step, predicted) => ({
        deployment: target.deployment,
        model: target.model,
        messages: promptOf(step.sample, predicted),
        params: paramsOf(run, step.repeat),
      }));
    case "no-change":
      return async ({ sample }, predicted) => here(predicted.at(-1) ?? stateOf(sample));
    case "most-frequent":
      return async (step, predicted) => {
        const found = await services.mostFrequent?.(step);
        return here(found ?? predicted.at(-1) ?? stateOf(step.sample));
      };
    case "retrieval":
      return async (step, predicted, signal) => {
        const answer = async () => {
          const found = await services.answerFromRecords?.(step, predicted.at(-1), signal);
          return here(found ?? predicted.at(-1) ?? stateOf(step.sample));
        };
        return await whenReady(answer, services, signal);
      };
    case "imported":
    case "external":
      return async () => ({
        failure: { category: "missing", message: "No prediction of this sample was uploaded." },
      });
  }
}

type AskedStep = Pick<StepRequest, "deployment" | "model" | "messages" | "params" | "through">;

function ofDeployment(
  run: Run,
  services: PredictorServices,
  ask: (step: Step, predicted: readonly string[]) => AskedStep | Promise<AskedStep>,
): Predictor {
  const steps: StepsOfRun = { ...services };
  return async (step, predicted, signal, span) => {
    const asked = await ask(step, predicted);
    if (asked.messages.length === 0) return nothingToAsk;
    const request = {
      ...asked,
      accountId: run.account_id,
      keyId: payerOf(run),
      session: `${run.id}/${step.repeat}/${Bun.hash(step.sample.trajectory_id).toString(36)}`,
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

function ofWorld(run: Run, services: PredictorServices): Predictor {
  const { worldRun } = services;
  if (worldRun === undefined) throw new Error("A run through a world needs it");
  const { world } = worldRun;
  const params = { ...run, params: paramsThrough(world, run.params) };
  if (isRecords(world.config.model))
    return async (step, predicted, signal) => {
      if (promptOf(step.sample).length === 0) return nothingToAsk;
      const asked = await throughWorld(worldRun, step, predicted);
      const answer = async () => {
        const completion = await asked.complete({ messages: [] }, signal);
        return { response: { ...readWorldAnswer(asked, completion), latencyMs: null } };
      };
      return await whenReady(answer, services, signal);
    };
  return ofDeployment(run, services, async (step, predicted) => ({
    deployment: deploymentOf(worldRun.services, world),
    model: undefined,
    messages: promptOf(step.sample, predicted),
    through: await throughWorld(worldRun, step, predicted),
    params: paramsOf(params, step.repeat),
  }));
}

/** Adds the repeat to the seed: with the same seed, a repeat would be the same completion again. */
export function paramsOf(run: Pick<Run, "params">, repeat: number): Readonly<Record<string, unknown>> {
  const params = run.params ?? {};
  const { seed } = params;
  return typeof seed === "number" ? { ...params, seed: seed + repeat } : params;
}

const givenUp: StepOutcome = {
  failure: { category: "missing", message: "The run was finished without this prediction." },
};

/** For a sample from a file of predictions, which does not contain the request. */
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
  run: Pick<Run, "id" | "account_id">,
  { position, repeat }: Pick<Step, "position" | "repeat">,
  outcome: StepOutcome,
): PredictionRows {
  const id = Bun.randomUUIDv7();
  const response = "response" in outcome ? outcome.response : nothingSaid;
  const failure: StepFailure | undefined = "failure" in outcome ? outcome.failure : undefined;
  return {
    row: {
      id,
      account_id: run.account_id,
      source: "run",
      created_at: nowMicros(),
      run_id: run.id,
      position,
      repeat,
      status: failure === undefined ? "success" : "failed",
      error_category: failure?.category ?? null,
      deployment: failure?.deployment ?? response.deployment,
      ...answerColumns(response),
      latency_micros: response.latencyMs === null ? null : Math.round(response.latencyMs * 1000),
      api_key_id: null,
      request_id: null,
    },
    payload: {
      prediction_id: id,
      context_digest: null,
      request: response.stored ?? null,
      output: failure === undefined ? toStorableText(response.output) : null,
      reasoning: response.reasoning === null ? null : toStorableText(response.reasoning),
      error_message: failure === undefined ? null : toStorableText(failure.message),
    },
  };
}
