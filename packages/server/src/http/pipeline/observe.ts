import type { Services } from "../services.ts";
import type { Exchange } from "./exchange.ts";
import { usageFailureOf } from "./usage-failure.ts";

const usableRequestId = /^[\w.:/+=@-]{1,128}$/;

/** Begins to observe a request. */
export function openExchange(
  { tracing, memory }: Pick<Services, "tracing" | "memory">,
  { method, headers }: Request,
): Exchange {
  return {
    requestId: requestIdOf(headers),
    startedAtMs: performance.now(),
    span: tracing?.startRequest(method, headers.get("traceparent")),
    memory,
    heldBytes: 0,
    keyId: undefined,
    sessionId: undefined,
    countsFor: undefined,
    rate: undefined,
    upstreamMs: undefined,
    promptTokens: undefined,
    completionTokens: undefined,
    atEnd: undefined,
    category: undefined,
    usesOldNames: false,
  };
}

/** Ends it: its metrics, its usage, its trace and its one log line. No prompt, no key, no header. */
export function recordExchange(
  { log, metrics, recordUsage }: Pick<Services, "log" | "metrics" | "recordUsage">,
  exchange: Exchange,
  { method, route, status, totalMs }: { method: string; route: string; status: number; totalMs: number },
): void {
  const { requestId, keyId, sessionId, upstreamMs, promptTokens, completionTokens, category, span } =
    exchange;
  metrics.requests([route, String(status)]);
  if (upstreamMs !== undefined) {
    metrics.upstreamSeconds.observe(upstreamMs / 1000);
    metrics.overheadSeconds.observe((totalMs - upstreamMs) / 1000);
  }
  if (promptTokens !== undefined) metrics.tokens(["prompt"], promptTokens);
  if (completionTokens !== undefined) metrics.tokens(["completion"], completionTokens);
  if (category !== undefined) metrics.failures([category]);
  if (exchange.usesOldNames) metrics.oldNames([keyId ?? "none"]);
  if (exchange.countsFor !== undefined) {
    const { accountId, operation } = exchange.countsFor;
    const failure = usageFailureOf(status, category);
    recordUsage({
      accountId,
      keyId,
      operation,
      failure,
      promptTokens,
      completionTokens,
      totalMs,
      upstreamMs,
    });
  }
  span?.end(route, status);
  log.request({
    requestId,
    keyId,
    sessionId,
    method,
    route,
    status,
    totalMs: toHundredths(totalMs),
    upstreamMs: upstreamMs === undefined ? undefined : toHundredths(upstreamMs),
    promptTokens,
    completionTokens,
    category,
  });
}

function toHundredths(value: number): number {
  return Math.round(value * 100) / 100;
}

function requestIdOf(headers: Headers): string {
  const given = headers.get("x-request-id");
  return given !== null && usableRequestId.test(given) ? given : crypto.randomUUID();
}
