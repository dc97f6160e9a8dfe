import type { Exchange } from "../http/exchange.ts";
import { reserveResponse } from "../http/memory.ts";
import { readTokenCounts, readUpstreamCachedTokens, traceCompletion } from "../upstream/completion.ts";
import type { Upstream } from "../upstream/create-upstream.ts";
import type { CompletionOptions, UpstreamCompletion } from "../upstream/upstream.ts";
import type { Complete } from "./predict.ts";

/** The same `complete`, traced, which records on the exchange the upstream's time and token counts. */
export function measureCompletion(
  complete: Upstream["complete"],
  exchange: Exchange,
  options: CompletionOptions,
): Complete {
  return (request, clientSignal) => {
    const startedAtMs = performance.now();
    return measure(traceCompletion(complete, exchange.span, request, clientSignal, options), startedAtMs);
  };

  /** Deliberately not passed the request: an async function would keep it in memory until it ends. */
  async function measure(
    pending: Promise<UpstreamCompletion>,
    startedAtMs: number,
  ): Promise<UpstreamCompletion> {
    try {
      const completion = await pending;
      recordCompletion(exchange, completion);
      return completion;
    } finally {
      // What is stored did not wait for the upstream.
      if (exchange.cache !== "hit") exchange.upstreamMs = performance.now() - startedAtMs;
    }
  }
}

/** Records whose completion it is, and its token counts. */
export function recordCompletion(exchange: Exchange, completion: UpstreamCompletion): void {
  const { cache } = completion;
  exchange.cache = cache?.result ?? "off";
  if (cache?.result === "hit") exchange.ageS = Math.floor(cache.ageS);
  exchange.deployment = completion.deployment;
  reserveResponse(exchange, completion.bytes.length);
  const { usage } = completion.body;
  const tokens = readTokenCounts(usage);
  exchange.promptTokens = tokens.prompt_tokens;
  exchange.completionTokens = tokens.completion_tokens;
  exchange.upstreamCachedTokens = readUpstreamCachedTokens(usage);
  exchange.model = completion.model;
}
