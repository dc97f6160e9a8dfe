import type { Log } from "../observability/logger.ts";
import type { Metrics } from "../observability/metrics.ts";
import type { Tracing } from "../observability/tracing.ts";
import type { Exchange } from "./exchange.ts";

const usableRequestId = /^[\w.:/+=@-]{1,128}$/;

export interface Observers {
  log: Log;
  metrics: Metrics;
  /** Absent where no traces are made. */
  tracing: Tracing | undefined;
}

/** Begins to observe a request. */
export function openExchange({ tracing }: Observers, { method, headers }: Request): Exchange {
  return {
    requestId: requestIdOf(headers),
    startedAtMs: performance.now(),
    span: tracing?.startRequest(method, headers.get("traceparent")),
    keyId: undefined,
    rate: undefined,
    upstreamMs: undefined,
    promptTokens: undefined,
    completionTokens: undefined,
    isKeptOpen: false,
    atEnd: undefined,
    category: undefined,
    usesOldNames: false,
  };
}

/** Ends it: its metrics, its trace and its one log line. No prompt, no key, no header. */
export function recordExchange(
  { log, metrics }: Observers,
  exchange: Exchange,
  { method, route, status, totalMs }: { method: string; route: string; status: number; totalMs: number },
): void {
  const { requestId, keyId, upstreamMs, promptTokens, completionTokens, category, span } = exchange;
  metrics.requests([route, String(status)]);
  if (upstreamMs !== undefined) {
    metrics.upstreamSeconds.observe(upstreamMs / 1000);
    metrics.overheadSeconds.observe((totalMs - upstreamMs) / 1000);
  }
  if (promptTokens !== undefined) metrics.tokens(["prompt"], promptTokens);
  if (completionTokens !== undefined) metrics.tokens(["completion"], completionTokens);
  if (category !== undefined) metrics.failures([category]);
  if (exchange.usesOldNames) metrics.oldNames([keyId ?? "none"]);
  span?.end(route, status);
  log.request({
    requestId,
    keyId,
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
