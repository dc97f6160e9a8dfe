import { ServiceError } from "../errors.ts";
import type { KeyVerifier } from "../identity/api-keys/verify-api-key.ts";
import { authenticate } from "./authenticate.ts";
import { deprecationHeader } from "./deprecations.ts";
import { answerTo, isStoreFailure, MethodNotAllowedError } from "./errors.ts";
import type { Exchange } from "./exchange.ts";
import { idleTimeoutS } from "./keep-open.ts";
import { type Observers, openExchange, recordExchange } from "./observe.ts";
import { rateHeaders } from "./rate-headers.ts";
import type { Route, RoutedRequest } from "./route.ts";

export interface Surroundings {
  verifier: KeyVerifier;
  observers: Observers;
  isStopping(): boolean;
  /** Hears of every request, with the time on the clock of `performance.now()`. */
  noteRequest(atMs: number): void;
}

export type ServePath = (request: RoutedRequest, server: Bun.Server<undefined>) => Promise<Response>;

/** What a request's log line and metrics call a path that no route has. */
const unmatched = "unmatched";

/**
 * Serves the routes of one path, or with none of them every path that no route has. This is the way that each request
 * goes: observed, authenticated, handled, answered, recorded.
 */
export function servePath(
  routes: readonly Route[],
  { verifier, observers, isStopping, noteRequest }: Surroundings,
): ServePath {
  const byMethod = new Map<string, Route>(routes.map((route) => [route.method, route]));
  const path = routes[0]?.path ?? unmatched;

  function routeFor(method: string): Route {
    if (path === unmatched) throw new ServiceError("not_found", "There is nothing at this path.");
    const route = byMethod.get(method === "HEAD" ? "GET" : method);
    if (route === undefined) throw new MethodNotAllowedError([...byMethod.keys()]);
    return route;
  }

  return async (request, server) => {
    const exchange = openExchange(observers, request);
    noteRequest(exchange.startedAtMs);
    let response: Response;
    try {
      const route = routeFor(request.method);
      if (route.access === "open") {
        response = await route.handle({ request, server, exchange });
      } else {
        const caller = await authenticate(verifier, request.headers);
        exchange.keyId = caller.keyId;
        response = await route.handle({ request, server, exchange, caller });
      }
    } catch (error) {
      response = answerError(error, exchange, observers);
    }
    exchange.atEnd?.();
    if (exchange.isKeptOpen) server.timeout(request, idleTimeoutS);
    const totalMs = performance.now() - exchange.startedAtMs;
    setHeaders(response.headers, exchange, totalMs);
    // The caller takes its next request elsewhere.
    if (isStopping()) response.headers.set("connection", "close");
    recordExchange(observers, exchange, {
      method: request.method,
      route: path,
      status: response.status,
      totalMs,
    });
    return response;
  };
}

function answerError(error: unknown, exchange: Exchange, { log }: Observers): Response {
  const { requestId } = exchange;
  const { status, body, headers, category, isUnexpected } = answerTo(error, requestId);
  if (category !== undefined) exchange.category = category;
  if (isUnexpected) log.logger.error({ requestId, err: error }, "unexpected fault");
  if (isStoreFailure(error)) log.storeFailed(error);
  return Response.json(body, { status, headers });
}

function setHeaders(headers: Headers, exchange: Exchange, totalMs: number): void {
  const { requestId, upstreamMs, rate, usesOldNames } = exchange;
  const total = `total;dur=${totalMs.toFixed(2)}`;
  headers.set("x-request-id", requestId);
  headers.set(
    "server-timing",
    upstreamMs === undefined ? total : `upstream;dur=${upstreamMs.toFixed(2)}, ${total}`,
  );
  if (usesOldNames) headers.set("deprecation", deprecationHeader);
  if (rate === undefined) return;
  for (const [name, value] of rateHeaders(rate)) headers.set(name, value);
}
