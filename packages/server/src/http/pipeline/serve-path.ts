import { ClientDisconnectedError, ServiceError } from "../../errors.ts";
import { SignInError } from "../../identity/openid/sign-in-error.ts";
import type { ByteBudget } from "../../limits/byte-budget.ts";
import { isStoreUnavailable } from "../../storage/store-failure.ts";
import { failurePage } from "../pages/failure-page.ts";
import { deprecationHeader } from "../request/deprecations.ts";
import { requestAddress } from "../request/request-address.ts";
import { authenticate, type Credentials } from "./authenticate.ts";
import { answerTo, MethodNotAllowedError } from "./errors.ts";
import type { Exchange } from "./exchange.ts";
import { holdUntilTaken } from "./hold-until-taken.ts";
import { closeWhenIdle, keepOpen } from "./keep-open.ts";
import { type Observers, openExchange, recordExchange } from "./observe.ts";
import { rateHeaders } from "./rate-headers.ts";
import type { Call, Route, RoutedRequest } from "./route.ts";
import { askToSignIn } from "./sign-in-address.ts";

export interface Surroundings {
  credentials: Credentials;
  observers: Observers;
  /** What bodies under way and answers being written are counted in. */
  memory: ByteBudget;
  isStopping(): boolean;
  /** Hears of every request, with the time on the clock of `performance.now()`. */
  noteRequest(atMs: number): void;
  /** Hears of every one again once it is recorded. */
  noteAnswer(): void;
}

export type ServePath = (request: RoutedRequest, server: Bun.Server<undefined>) => Promise<Response>;

/** What a request's log line and metrics call a path that no route has. */
const unmatched = "unmatched";
const methodsWithBody: ReadonlySet<Route["method"]> = new Set(["POST", "PATCH"]);

/**
 * Serves the routes of one path, or with none of them every path that no route has. This is the way that each request
 * goes: observed, authenticated, handled, answered, recorded.
 */
export function servePath(
  routes: readonly Route[],
  { credentials, observers, memory, isStopping, noteRequest, noteAnswer }: Surroundings,
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
    const exchange = openExchange(observers, memory, request);
    noteRequest(exchange.startedAtMs);
    let response: Response;
    let route: Route | undefined;
    try {
      route = routeFor(request.method);
      response = await answerCall(route, { request, server, exchange }, credentials);
    } catch (error) {
      // What was given up for a caller who hung up fails with the signal's own reason.
      const isCallerGone = request.signal.aborted && error === request.signal.reason;
      response = answerError(
        isCallerGone ? new ClientDisconnectedError() : error,
        route,
        request,
        exchange,
        observers,
      );
    }
    exchange.atEnd?.();
    if (exchange.heldBytes > 0) response = holdUntilTaken(response, exchange);
    closeWhenIdle({ server, request });
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
    noteAnswer();
    return response;
  };
}

async function answerCall(route: Route, call: Call, credentials: Credentials): Promise<Response> {
  const { request, exchange } = call;
  // The others' time begins when their body is there.
  if (!methodsWithBody.has(route.method)) keepOpen(call);
  if (route.access === "open") return await route.handle(call);
  if (route.access === "caller") {
    const caller = await authenticate(credentials, request);
    if (caller.proof.kind === "key") exchange.keyId = caller.proof.keyId;
    else exchange.sessionId = caller.proof.sessionId;
    return await route.handle({ ...call, caller });
  }
  const session = await credentials.findSession(request.headers);
  if (session === undefined) return askToSignIn(requestAddress(request));
  exchange.sessionId = session.caller.proof.sessionId;
  return await route.handle({ ...call, ...session });
}

function answerError(
  error: unknown,
  route: Route | undefined,
  request: Request,
  exchange: Exchange,
  { log }: Observers,
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
