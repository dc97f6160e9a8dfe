import type { ChatCompletionRequest, ChatCompletionResponse } from "@presage/contract";
import type { CallOptions } from "../call.ts";
import type { Transport } from "../transport.ts";

export interface ChatCompletions {
  /** Completes a chat, or predicts in that format: `POST /v1/chat/completions`. Returns the upstream's response. */
  create(request: ChatCompletionRequest, options?: CallOptions): Promise<ChatCompletionResponse>;
}

export function chatCompletions({ json }: Transport): ChatCompletions {
  return {
    create: (body, options) =>
      json({ method: "POST", path: "/v1/chat/completions", body, isRepeatable: true }, options),
  };
}
