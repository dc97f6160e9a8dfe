import type { PromptMessage, WorldModelPrediction, WorldModelRequest } from "@presage/contract";
import { composePrompt } from "@presage/contract/compose-prompt";
import type { CompletionRequest, UpstreamCompletion } from "../upstream/upstream.ts";
import { readPrediction } from "./read-prediction.ts";
import { upstreamFields } from "./upstream-fields.ts";

/** Requests one completion from the upstream. */
export type Complete = (request: CompletionRequest, clientSignal: AbortSignal) => Promise<UpstreamCompletion>;

export interface StartedPrediction {
  /** The prompt as it was sent. */
  messages: PromptMessage[];
  prediction: Promise<WorldModelPrediction>;
}

/** Predicts the next state of the environment. While it waits, it holds nothing of the client's request. */
export function predict(
  complete: Complete,
  { context, interaction, params }: WorldModelRequest,
  clientSignal: AbortSignal,
): StartedPrediction {
  const messages = composePrompt(context, interaction);
  const completion = complete({ ...upstreamFields(params ?? {}), messages }, clientSignal);
  return { messages, prediction: completion.then(({ body }) => readPrediction(body)) };
}
