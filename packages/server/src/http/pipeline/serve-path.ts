import { ClientDisconnectedError, ServiceError } from "../../errors.ts";
import { SignInError } from "../../identity/openid/sign-in-error.ts";
import { isStoreUnavailable } from "../../storage/store-error.ts";
import { failurePage } from "../pages/failure-page.ts";
import { deprecationHeader } from "../request/deprecations.ts";
import { requestAddress } from "../request/request-address.ts";
import type { Services } from "../services.ts";
import { authenticate, findSession } from "./authenticate.ts";
import { answerTo, MethodNotAllowedError } from "./errors.ts";
import type { Exchange } from "./exchange.ts";
import { holdUntilTaken } from "./hold-until-taken.ts";
import { closeWhenIdle, keepOpen } from "./keep-open.ts";
import { openExchange, recordExchange } from "./observe.ts";
import { rateHeaders } from "./rate-headers.ts";
import type { Call, Route, RoutedRequest } from "./route.ts";
import { askToSignIn } from "./sign-in-address.ts";

/** Counts requests in flight. */
export interface RequestCounter {
  /** A request came, at this time on the clock of `performance.now()`. */
  begin(atMs: number): void;
  /** It was answered and recorded. */
  end(): void;
}

export type ServePath = (request: RoutedRequest, server: Bun.Server<undefined>) => Promise<Response>;

/** What a request's log line and metrics call a path that no route has. */
const unmatched = "unmatched";
const methodsWithBody: ReadonlySet<Route["method"]> = new Set(["POST", "PATCH"]);

/**
 * Serves the routes of one path, or with none of them every path that no route has. This is the way that each request
 * goes: observed, authenticated, handled, answered, recorded.
 */
export function servePath(routes: readonly Route[], services: Services, counter: RequestCounter): ServePath {
  const byMethod = new Map<string, Route>(routes.map((route) => [route.method, route]));
  const path = routes[0]?.path ?? unmatched;

  function routeFor(method: string): Route {
    if (path === unmatched) throw new ServiceError("not_found", "There is nothing at this path.");
    const route = byMethod.get(method === "HEAD" ? "GET" : method);
    if (route === undefined) throw new MethodNotAllowedError([...byMethod.keys()]);
    return route;
  }

  return async (request, server) => {
    const exchange = openExchange(services, request);
    counter.begin(exchange.startedAtMs);
    let response: Response;
    let route: Route | undefined;
    try {
      route = routeFor(request.method);
      response = await answerCall(services, route, { request, server, exchange });
    } catch (error) {
      // What was given up for a caller who hung up fails with the signal's own reason.
      const isCallerGone = request.signal.aborted && error === request.signal.reason;
      const reason = isCallerGone ? new ClientDisconnectedError() : error;
      response = answerError(services, reason, route, request, exchange);
    }
    exchange.atEnd?.();
    if (exchange.heldBytes > 0) response = holdUntilTaken(response, exchange);
    closeWhenIdle({ server, request });
    const totalMs = performance.now() - exchange.startedAtMs;
    setHeaders(response.headers, exchange, totalMs);
    // The caller takes its next request elsewhere.
    if (services.phase() === "stopping") response.headers.set("connection", "close");
    recordExchange(services, exchange, {
      method: request.method,
      route: path,
      status: response.status,
      totalMs,
    });
    counter.end();
    return response;
  };
}

async function answerCall(services: Services, route: Route, call: Call): Promise<Response> {
  const { request, exchange } = call;
  // The others' time begins when their body is there.
  if (!methodsWithBody.has(route.method)) keepOpen(call);
  if (route.access === "open") return await route.handle(call);
  if (route.access === "caller") {
    const caller = await authenticate(services, request);
    if (caller.proof.kind === "key") exchange.keyId = caller.proof.keyId;
    else exchange.sessionId = caller.proof.sessionId;
    return await route.handle({ ...call, caller });
  }
  const session = await findSession(services, request.headers);
  if (session === undefined) return askToSignIn(requestAddress(request));
  exchange.sessionId = session.caller.proof.sessionId;
  return await route.handle({ ...call, ...session });
}

function answerError(
  { log }: Services,
  error: unknown,
  route: Route | undefined,
  request: Request,
  exchange: Exchange,
): Response {
  const { requestId } = exchange;
  const { status, body, headers, category, isUnexpected } = answerTo(error, requestId);
  if (category !== undefined) exchange.category = category;
  if (isUnexpected) log.logger.error({ requestId, err: error }, "unexpected fault");
  if (isStoreUnavailable(error)) log.storeFailed(error);
  if (error instanceof SignInError) {
    log.logger.warn({ requestId, failure: error.failure, reason: error.reason }, "a sign-in failed");
  }
  if (!isSeenByPeople(route, request)) return Response.json(body, { status, headers });
  return failurePage({ status, text: String(body.detail), requestId, url: URL.parse(request.url), headers });
}

/** Pages are, and whatever a browser goes to that has no route: an address that somebody typed. */
function isSeenByPeople(route: Route | undefined, { headers }: Request): boolean {
  if (route === undefined) return headers.get("sec-fetch-mode") === "navigate";
  return route.access === "page" || (route.access === "open" && route.isPage);
}

function setHeaders(headers: Headers, exchange: Exchange, totalMs: number): void {
  const { requestId, sessionId, upstreamMs, rate, usesOldNames } = exchange;
  const total = `total;dur=${totalMs.toFixed(2)}`;
  headers.set("x-request-id", requestId);
  headers.set(
    "server-timing",
    upstreamMs === undefined ? total : `upstream;dur=${upstreamMs.toFixed(2)}, ${total}`,
  );
  headers.set("x-content-type-options", "nosniff");
  headers.set("referrer-policy", "same-origin");
  // What a session was shown must not come back by the browser's back button once it has ended.
  if (sessionId !== undefined) headers.set("cache-control", "no-store");
  if (usesOldNames) headers.set("deprecation", deprecationHeader);
  if (rate === undefined) return;
  for (const [name, value] of rateHeaders(rate)) headers.set(name, value);
}
