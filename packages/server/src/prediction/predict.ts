import type { PromptMessage, WorldModelPrediction, WorldModelRequest } from "@presage/contract";
import type { CompletionRequest, UpstreamCompletion } from "../upstream/upstream.ts";
import { composePrompt } from "./compose-prompt.ts";
import { readPrediction } from "./read-prediction.ts";
import { upstreamFields } from "./upstream-fields.ts";

/** Asks the upstream for one completion. */
export type Complete = (request: CompletionRequest, callerGone: AbortSignal) => Promise<UpstreamCompletion>;

export interface Predicted {
  prediction: WorldModelPrediction;
  /** The prompt as it was sent. */
  messages: PromptMessage[];
}

/** Predicts the next state of the environment. */
export async function predict(
  complete: Complete,
  { context, interaction, params }: WorldModelRequest,
  callerGone: AbortSignal,
): Promise<Predicted> {
  const messages = composePrompt(context, interaction);
  const completion = await complete({ messages, ...upstreamFields(params ?? {}) }, callerGone);
  return { prediction: readPrediction(completion.body), messages };
}
