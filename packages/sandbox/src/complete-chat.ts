import { countTokens, cutTokens } from "./count-tokens.ts";
import type { ChatRequest } from "./read-chat-request.ts";
import { simulateTurn } from "./simulate-turn.ts";

export const sandboxModel = {
  id: "presage-sandbox",
  object: "model",
  created: 1_767_225_600,
  owned_by: "presage",
  description:
    "A rule-based simulator of a text world. It is not a language model; it is built in so that you can try Presage.",
};

/** Responds with a `chat.completion` object. */
export function completeChat({ systemPrompt, userTurn, maxTokens }: ChatRequest): object {
  const observation = simulateTurn(systemPrompt, userTurn);
  const content = cutTokens(observation, maxTokens);
  const promptTokens = countTokens(systemPrompt) + countTokens(userTurn);
  const completionTokens = countTokens(content);
  return {
    id: `chatcmpl-${crypto.randomUUID()}`,
    object: "chat.completion",
    created: Math.floor(Date.now() / 1000),
    model: sandboxModel.id,
    choices: [
      {
        index: 0,
        message: { role: "assistant", content },
        finish_reason: content === observation ? "stop" : "length",
      },
    ],
    usage: {
      prompt_tokens: promptTokens,
      completion_tokens: completionTokens,
      total_tokens: promptTokens + completionTokens,
    },
  };
}
