import { UpstreamError } from "../errors.ts";
import type { Complete } from "../prediction/predict.ts";
import { readUsage } from "../prediction/read-prediction.ts";
import type { Exchange } from "./exchange.ts";

/** The same `complete`, which notes on the exchange how long the upstream took and how many tokens it counted. */
export function measureCompletion(complete: Complete, exchange: Exchange): Complete {
  return async (request, callerGone) => {
    const chat = exchange.span?.startChat(request);
    const askedAtMs = performance.now();
    try {
      const completion = await complete(request, callerGone);
      const { prompt_tokens: promptTokens, completion_tokens: completionTokens } = readUsage(
        completion.body.usage,
      );
      exchange.promptTokens = promptTokens;
      exchange.completionTokens = completionTokens;
      const finishReason = completion.body.choices[0].finish_reason;
      chat?.end({ model: completion.body.model, finishReason, promptTokens, completionTokens });
      return completion;
    } catch (error) {
      chat?.fail(error instanceof UpstreamError ? error.category : "caller_gone");
      throw error;
    } finally {
      exchange.upstreamMs = performance.now() - askedAtMs;
    }
  };
}
