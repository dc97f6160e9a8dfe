import type { PromptMessage, WorldModelPrediction, WorldModelRequest } from "@presage/contract";
import { composePrompt } from "@presage/contract/compose-prompt";
import type { CompletionRequest, UpstreamCompletion } from "../upstream/upstream.ts";
import { readPrediction } from "./read-prediction.ts";
import { upstreamFields } from "./upstream-fields.ts";

/** Asks the upstream for one completion. */
export type Complete = (request: CompletionRequest, callerGone: AbortSignal) => Promise<UpstreamCompletion>;

export interface Predicting {
  /** The prompt as it is sent. */
  messages: PromptMessage[];
  prediction: Promise<WorldModelPrediction>;
}

/** Predicts the next state of the environment. While it waits, nothing of the caller's request is held. */
export function predict(
  complete: Complete,
  { context, interaction, params }: WorldModelRequest,
  callerGone: AbortSignal,
): Predicting {
  const messages = composePrompt(context, interaction);
  const completion = complete({ ...upstreamFields(params ?? {}), messages }, callerGone);
  return { messages, prediction: completion.then(({ body }) => readPrediction(body)) };
}
