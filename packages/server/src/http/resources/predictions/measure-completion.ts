import { ServiceError, UpstreamError } from "../../../errors.ts";
import type { ChatSpan } from "../../../observability/tracing.ts";
import type { Complete } from "../../../prediction/predict.ts";
import { readUsage } from "../../../prediction/read-prediction.ts";
import type { UpstreamCompletion } from "../../../upstream/upstream.ts";
import type { Exchange } from "../../pipeline/exchange.ts";
import { holdAnswer } from "../../pipeline/reserve-memory.ts";

/** The same `complete`, which notes on the exchange how long the upstream took and how many tokens it counted. */
export function measureCompletion(complete: Complete, exchange: Exchange): Complete {
  return (request, callerGone) => {
    const chat = exchange.span?.startChat(request);
    const askedAtMs = performance.now();
    return measure(complete(request, callerGone), askedAtMs, chat);
  };

  /** Knows nothing of the request: an async function holds its parameters until it ends. */
  async function measure(
    asked: Promise<UpstreamCompletion>,
    askedAtMs: number,
    chat: ChatSpan | undefined,
  ): Promise<UpstreamCompletion> {
    try {
      const completion = await asked;
      holdAnswer(exchange, completion.bytes.length);
      const { prompt_tokens: promptTokens, completion_tokens: completionTokens } = readUsage(
        completion.body.usage,
      );
      exchange.promptTokens = promptTokens;
      exchange.completionTokens = completionTokens;
      const finishReason = completion.body.choices[0].finish_reason;
      chat?.end({ model: completion.body.model, finishReason, promptTokens, completionTokens });
      return completion;
    } catch (error) {
      chat?.fail(failureOf(error));
      throw error;
    } finally {
      exchange.upstreamMs = performance.now() - askedAtMs;
    }
  }
}

function failureOf(error: unknown): string {
  if (error instanceof UpstreamError) return error.category;
  return error instanceof ServiceError ? error.code : "caller_gone";
}
