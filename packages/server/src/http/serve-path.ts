import { isReservedName } from "@presage/contract";
import { ClientDisconnectedError, ServiceError, SignInError } from "../platform/errors.ts";
import { RateLimitError } from "../platform/limits/admission.ts";
import { itemOfTurn } from "../platform/limits/turns.ts";
import { isStoreUnavailable } from "../platform/storage/store-error.ts";
import { authenticate, authenticateKey, authenticateProgram, findSession } from "./authenticate.ts";
import {
  type Call,
  closeWhenIdle,
  environmentParameter,
  keepOpen,
  type RoutedRequest,
  requestAddress,
} from "./call.ts";
import { type Caller, checkAccess, type Proof } from "./caller.ts";
import { errorResponse, inWords, isOpenAiPath, MethodNotAllowedError, openAiError } from "./errors.ts";
import {
  cacheHeader,
  deploymentHeader,
  type Ending,
  type Exchange,
  type HttpServices,
  openExchange,
  recordExchange,
} from "./exchange.ts";
import { releaseMemory } from "./memory.ts";
import { errorPage } from "./pages.ts";
import type { Route } from "./route.ts";
import type { SocketEvents } from "./sockets.ts";

/** When the old names were replaced (RFC 9745: seconds since 1970). */
const deprecatedSince = `@${Date.UTC(2026, 10, 21) / 1000}`;

const signInPath = "/sign-in";
const longestReturnTo = 2_000;

/** Redirects a browser without a session to sign in, and back afterwards. */
function redirectToSignIn({ pathname, search }: URL): Response {
  const headers = { location: signInAddress(pathname + search), "cache-control": "no-store" };
  return new Response(null, { status: 303, headers });
}

/** The sign-in page that leads back to `returnTo`. */
export function signInAddress(returnTo: string): string {
  return `${signInPath}?return_to=${encodeURIComponent(returnTo)}`;
}

/**
 * Where a browser goes after sign-in: a path of this server, or the start page. Browsers read a backslash as a slash, drop
 * control characters, and take two slashes as the start of another host.
 */
export function readReturnTo(url: URL): string {
  const returnTo = url.searchParams.get("return_to") ?? "";
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are refused
  const isOwnPath = /^\/(?![/\\])[^\\\u0000-\u001f\u007f]*$/.test(returnTo);
  const address = isOwnPath ? toAscii(returnTo) : "/";
  return address.length <= longestReturnTo ? address : "/";
}

/** Headers and cookies allow only ASCII. ASCII characters stay as they are, so that the path remains the same one. */
function toAscii(path: string): string {
  return path.replace(/[^!-~]+/g, encodeURIComponent);
}

/** Counts requests in flight. */
export interface RequestCounter {
  /** A request arrived, at this time on the clock of `performance.now()`. */
  begin(atMs: number): void;
  /** A request's response is ready, and the request is recorded. */
  end(): void;
}

export type ServePath = (request: RoutedRequest, server: Bun.Server<SocketEvents>) => Promise<Response>;

/** Stands in log lines and metrics for all paths without a route. */
const unmatched = "unmatched";
const methodsWithBody: ReadonlySet<Route["method"]> = new Set(["POST", "PUT", "PATCH"]);

/**
 * Serves the routes of one path or, given none, all paths without a route. Every request takes these steps: it is observed,
 * authenticated, handled, responded to and recorded.
 */
export function servePath(
  routes: readonly Route[],
  services: HttpServices,
  counter: RequestCounter,
  /** What people who are signed in see at an address without a page. */
  missingPage?: HandlePage,
): ServePath {
  const byMethod = new Map<string, Route>(routes.map((route) => [route.method, route]));
  const path = routes[0]?.path ?? unmatched;
  const isSecret = routes.some((route) => route.access === "open" && route.isSecret === true);

  function routeFor(request: RoutedRequest): Route {
    const { method, params } = request;
    // Paths that begin with an environment's name do not match the names that Presage reserves for itself.
    const environment = params?.[environmentParameter];
    const isForeign = environment !== undefined && isReservedName(environment.toLowerCase());
    if (path === unmatched || isForeign) {
      const isResponses = /^\/v1\/responses(\/|$)/.test(URL.parse(request.url)?.pathname ?? "");
      const instead = isResponses ? " Presage has no Responses API; use /v1/chat/completions." : "";
      throw new ServiceError("not_found", `There is nothing at this path.${instead}`);
    }
    const route = byMethod.get(method === "HEAD" ? "GET" : method);
    if (route === undefined) throw new MethodNotAllowedError([...byMethod.keys()]);
    return route;
  }

  return async (request, server) => {
    const turn = itemOfTurn();
    // Bun closes a connection that sends further requests meanwhile.
    if (turn !== undefined) await turn;
    const exchange = openExchange(services, request);
    counter.begin(exchange.startedAtMs);
    let response: Response;
    let route: Route | undefined;
    try {
      route = routeFor(request);
      response = await handle(services, route, { request, server, exchange });
    } catch (error) {
      // Work that was aborted because the client disconnected fails with the signal's own reason.
      const isClientDisconnected = request.signal.aborted && error === request.signal.reason;
      const reason = isClientDisconnected ? new ClientDisconnectedError() : error;
      response = respondToError(services, reason, { route, path, isSecret }, request, exchange);
      if (missingPage !== undefined && expectsPage(route, request)) {
        const shown = showToUser(services, missingPage, { request, server, exchange });
        response = (await shown.catch(() => undefined)) ?? response;
      }
    }
    exchange.atEnd?.();
    if (exchange.reservedBytes > 0) response = releaseMemory(response, exchange);
    closeWhenIdle({ server, request });
    const totalMs = msSince(exchange);
    setHeaders(response.headers, exchange, totalMs);
    if (isSecret) hideAddress(response.headers);
    // Makes the client open a new connection, to another process.
    if (services.phase() === "stopping") response.headers.set("connection", "close");
    end(exchange, { method: request.method, route: path, status: response.status, totalMs });
    return response;
  };

  function end(exchange: Exchange, ending: Ending): void {
    if (exchange.lasting === undefined) record(exchange, ending);
    else void exchange.lasting.then(() => record(exchange, { ...ending, totalMs: msSince(exchange) }));
  }

  function record(exchange: Exchange, ending: Ending): void {
    recordExchange(services, exchange, ending);
    counter.end();
  }
}

function msSince({ startedAtMs }: Exchange): number {
  return performance.now() - startedAtMs;
}

const findCaller = { caller: authenticate, key: authenticateKey, program: authenticateProgram };

/** Not async: a key is nearly always known, and every frame of a function that waits is held with the request. */
function handle(services: HttpServices, route: Route, call: Call): Response | Promise<Response> {
  const { exchange } = call;
  // With a body, the connection must not idle until the body has arrived.
  if (!methodsWithBody.has(route.method)) keepOpen(call);
  if (route.access === "open") {
    exchange.isOfDashboard = route.isOfDashboard;
    return route.handle(call);
  }
  if (route.access === "page") {
    exchange.isOfDashboard = true;
    return handlePage(services, route, call);
  }
  const found = findCaller[route.access](services, call);
  return found instanceof Promise ? handleLater(found, route, call) : handleFor(found, route, call);
}

async function handlePage(services: HttpServices, route: Extract<Route, { access: "page" }>, call: Call) {
  return (await showToUser(services, route.handle, call)) ?? redirectToSignIn(requestAddress(call.request));
}

type HandlePage = Extract<Route, { access: "page" }>["handle"];

/** A page, for who is signed in. */
async function showToUser(services: HttpServices, handle: HandlePage, call: Call) {
  const session = await findSession(services, call.request.headers);
  if (session === undefined) return undefined;
  recordProof(call.exchange, session.caller.proof);
  return await handle({ ...call, ...session });
}

type CallerRoute = Exclude<Route, { access: "open" | "page" }>;

async function handleLater(found: Promise<Caller>, route: CallerRoute, call: Call): Promise<Response> {
  return await handleFor(await found, route, call);
}

function handleFor(caller: Caller, route: CallerRoute, { request, server, exchange }: Call) {
  recordProof(exchange, caller.proof);
  checkAccess(caller, route.needs);
  return route.handle({ request, server, exchange, caller });
}

function recordProof(exchange: Exchange, proof: Proof): void {
  if (proof.kind === "key") {
    exchange.keyId = proof.keyId;
    exchange.keyName = proof.keyName;
  } else if (proof.kind === "session") {
    exchange.sessionId = proof.sessionId;
    exchange.isOfDashboard = true;
  }
}

function respondToError(
  { log }: HttpServices,
  error: unknown,
  { route, path, isSecret }: { route: Route | undefined; path: string; isSecret: boolean },
  request: Request,
  exchange: Exchange,
): Response {
  const { requestId } = exchange;
  const failed = errorResponse(error, requestId);
  const { status, body, headers, category, isUnexpected } = failed;
  if (category !== undefined) exchange.category = category;
  // A program that is asked for a password may in turn ask a person.
  if (route?.access === "program") delete headers["www-authenticate"];
  if (error instanceof RateLimitError) exchange.rate = error.rate;
  if (isUnexpected) log.logger.error({ requestId, err: error }, "unexpected error");
  if (isStoreUnavailable(error)) log.storeFailed(error);
  if (error instanceof SignInError) {
    log.logger.warn({ requestId, failure: error.kind, reason: error.reason }, "sign-in failed");
  }
  if (!expectsPage(route, request)) {
    // A call to an unknown path may come from such a client, with a wrong base URL.
    const isOpenAi = isOpenAiPath(path) || path === unmatched;
    const sent = isOpenAi ? { ...body, error: openAiError(failed) } : body;
    return Response.json(sent, { status, headers });
  }
  const url = isSecret ? null : URL.parse(request.url);
  return errorPage({ status, text: inWords(body.detail), requestId, url, headers });
}

/** True for the routes of pages, and for an address without a route that is opened in a browser. */
function expectsPage(route: Route | undefined, { headers }: Request): boolean {
  if (route === undefined) return headers.get("sec-fetch-mode") === "navigate";
  return route.access === "page" || (route.access === "open" && route.isPage);
}

/** Hides an address that is a secret, whatever the response is. */
function hideAddress(headers: Headers): void {
  headers.set("referrer-policy", "no-referrer");
  headers.set("x-robots-tag", "noindex, nofollow, noarchive");
  headers.set("cache-control", "no-store");
}

function setHeaders(headers: Headers, exchange: Exchange, totalMs: number): void {
  const { requestId, sessionId, upstreamMs, rate, usesOldNames, deployment, cache, ageS } = exchange;
  const total = `total;dur=${totalMs.toFixed(2)}`;
  headers.set("x-request-id", requestId);
  headers.set(
    "server-timing",
    upstreamMs === undefined ? total : `upstream;dur=${upstreamMs.toFixed(2)}, ${total}`,
  );
  headers.set("x-content-type-options", "nosniff");
  headers.set("referrer-policy", "same-origin");
  // After a session has ended, the browser's back button must not show its pages again.
  if (sessionId !== undefined) headers.set("cache-control", "no-store");
  if (deployment !== undefined) headers.set(deploymentHeader, deployment);
  if (cache !== undefined) headers.set(cacheHeader, cache);
  if (ageS !== undefined) headers.set("age", String(ageS));
  if (usesOldNames) headers.set("deprecation", deprecatedSince);
  if (rate === undefined) return;
  // These names are OpenAI's.
  headers.set("x-ratelimit-limit-requests", String(rate.limit));
  headers.set("x-ratelimit-remaining-requests", String(rate.remaining));
}
