import { createMiddleware } from "hono/factory";
import { routePath } from "hono/route";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import type { Logger } from "../observability/logger.ts";
import type { Metrics } from "../observability/metrics.ts";
import type { Tracing } from "../observability/tracing.ts";
import { answerTo } from "./errors.ts";
import type { Exchange, HttpContext, HttpEnv } from "./exchange.ts";

const usableRequestId = /^[\w.:/+=@-]{1,128}$/;

export interface Observers {
  logger: Logger;
  metrics: Metrics;
  tracing: Tracing | undefined;
}

/** Gives each request its id, and afterwards its timing headers, its metrics, its trace and its one log line. */
export function observe({ logger, metrics, tracing }: Observers, isStopping: () => boolean) {
  return createMiddleware<HttpEnv>(async (c, next) => {
    const exchange: Exchange = { requestId: requestIdOf(c.req.raw), startedAtMs: performance.now() };
    if (tracing) exchange.span = tracing.startRequest(c.req.method, c.req.raw.headers.get("traceparent"));
    c.set("exchange", exchange);
    await next();
    const totalMs = performance.now() - exchange.startedAtMs;
    c.res.headers.set("x-request-id", exchange.requestId);
    c.res.headers.set("server-timing", serverTiming(exchange.upstreamMs, totalMs));
    // The caller takes its next request elsewhere.
    if (isStopping()) c.res.headers.set("connection", "close");
    record(c, exchange, totalMs);
  });

  function record(c: HttpContext, exchange: Exchange, totalMs: number): void {
    const route = routePath(c, -1);
    const { status } = c.res;
    exchange.span?.end(route, status);
    metrics.requests.inc({ route, status });
    metrics.requestSeconds.observe({ route }, totalMs / 1000);
    recordPrediction(exchange, totalMs);
    const { requestId, keyId, upstreamMs, promptTokens, completionTokens, category } = exchange;
    logger.info(
      {
        requestId,
        keyId,
        method: c.req.method,
        route,
        status,
        totalMs,
        upstreamMs,
        promptTokens,
        completionTokens,
        category,
      },
      "request",
    );
  }

  function recordPrediction(
    { upstreamMs, promptTokens, completionTokens, category }: Exchange,
    totalMs: number,
  ): void {
    if (upstreamMs !== undefined) {
      metrics.upstreamSeconds.observe(upstreamMs / 1000);
      metrics.overheadSeconds.observe((totalMs - upstreamMs) / 1000);
    }
    if (promptTokens !== undefined) metrics.tokens.inc({ kind: "prompt" }, promptTokens);
    if (completionTokens !== undefined) metrics.tokens.inc({ kind: "completion" }, completionTokens);
    if (category !== undefined) metrics.failures.inc({ category });
  }
}

/** The answer to whatever a handler threw. */
export function answerError(logger: Logger) {
  return (error: unknown, c: HttpContext): Response => {
    const { requestId } = c.get("exchange");
    const { status, body, headers, category, isUnexpected } = answerTo(error, requestId);
    if (category !== undefined) c.get("exchange").category = category;
    if (isUnexpected) logger.error({ requestId, err: error }, "unexpected fault");
    return c.json(body, status as ContentfulStatusCode, headers);
  };
}

function requestIdOf(request: Request): string {
  const given = request.headers.get("x-request-id");
  return given !== null && usableRequestId.test(given) ? given : crypto.randomUUID();
}

function serverTiming(upstreamMs: number | undefined, totalMs: number): string {
  const total = `total;dur=${totalMs.toFixed(2)}`;
  return upstreamMs === undefined ? total : `upstream;dur=${upstreamMs.toFixed(2)}, ${total}`;
}
