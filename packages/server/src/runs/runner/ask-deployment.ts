import { type ModelUse, useOfCompletion, useOfFailure } from "../../evaluators/judge/judge-model.ts";
import { SpendingRefusedError, UpstreamError } from "../../platform/errors.ts";
import type { FairSlots } from "../../platform/limits/turns.ts";
import type { ChatParent } from "../../platform/observability/tracing.ts";
import type { Answer } from "../../platform/storage/answer-columns.ts";
import { readAnswer, refuseControlTokens } from "../../predictions/answer.ts";
import { upstreamFields } from "../../predictions/predict.ts";
import { traceCompletion } from "../../upstream/completion.ts";
import type { Deployments } from "../../upstream/deployments.ts";
import type { WorldCompletion } from "../../worlds/complete-through-world.ts";
import { readWorldAnswer, type ThroughWorld } from "./ask-world.ts";
import type { PromptTurn } from "./missing-work.ts";

export interface AskServices {
  deployments: Pick<Deployments, "find">;
  /** Of runs. */
  slots: FairSlots;
  /** Live predictions in progress. */
  liveInFlight(): number;
  /** Of predictions, live ones and those of runs. */
  maxInFlight: number;
  /** Called after each call to a deployment, to count the account's usage. */
  recordCall?: ((use: ModelUse) => void) | undefined;
}

/** One prediction that a run asks a deployment for. */
export interface StepRequest {
  accountId: string;
  /** The call is counted for it. */
  keyId: string | undefined;
  deployment: string;
  model: string | undefined;
  messages: readonly PromptTurn[];
  /** The world that makes the messages, if one does. */
  through?: ThroughWorld | undefined;
  params: Readonly<Record<string, unknown>>;
  /** Steps of a trajectory go to the replica that has their prefix. */
  session: string;
  /** Whether the next step is told the answer, so that it must not have control tokens. */
  isFedBack: boolean;
  /** The call is traced below it. */
  span?: ChatParent | undefined;
  /** Called before the deployment is asked again because it could not be reached. */
  mayRetry(): boolean;
}

/** An answer; deployment and time are null if no model was called. */
export interface StepResponse extends Omit<Answer, "deployment"> {
  deployment: string | null;
  /** From the call to its response, without what the call waited for before. */
  latencyMs: number | null;
  /** JSON: through which world. */
  kept?: string;
}

/** Asks a deployment, behind live requests. Throws an `UpstreamError`, or the signal's reason. */
export type PredictStep = (request: StepRequest, signal: AbortSignal) => Promise<StepResponse>;

/** How long a run waits before it looks again whether live predictions leave it a place. */
const lookAgainMs = 50;

export async function askDeployment(
  { deployments, slots, liveInFlight, maxInFlight, recordCall }: AskServices,
  request: StepRequest,
  signal: AbortSignal,
): Promise<StepResponse> {
  const {
    deployment: name,
    model,
    messages,
    params,
    session,
    accountId,
    keyId,
    span,
    mayRetry,
    through,
  } = request;
  const release = await slots.take(accountId, signal);
  try {
    // Live predictions never wait for a run's: the run's wait for a place that they leave.
    while (liveInFlight() + slots.inUse() > maxInFlight) {
      await Bun.sleep(lookAgainMs);
      signal.throwIfAborted();
    }
    const deployment = deployments.find(name);
    if (deployment === undefined)
      throw new UpstreamError("unavailable", `There is no deployment named ${JSON.stringify(name)} now.`);
    const startedAtMs = performance.now();
    const caller = { accountId, keyId };
    const completion = await traceCompletion(
      through?.complete ?? deployment.upstream.complete,
      span,
      { ...(model === undefined ? {} : { model }), ...upstreamFields(params), messages },
      signal,
      // Without sharing: a repeat is a completion of its own.
      { session: { name: "x-session-id", value: session }, mayRetry, spender: caller },
    ).catch((error: unknown) => {
      // What a budget refuses is no call.
      if (!(error instanceof SpendingRefusedError)) recordCall?.(useOfFailure(caller, error, signal));
      throw error;
    });
    recordCall?.(useOfCompletion(caller, completion));
    const latencyMs = performance.now() - startedAtMs;
    // It is what `through` resolved to.
    const answer = through ? readWorldAnswer(through, completion as WorldCompletion) : readAnswer(completion);
    if (request.isFedBack) refuseControlTokens(answer, deployment);
    return { ...answer, latencyMs };
  } finally {
    release();
  }
}
