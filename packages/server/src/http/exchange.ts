import type { ErrorCategory, UsageFailure, UsageOperation } from "@presage/contract";
import type { Admission, RateStatus } from "../platform/limits/admission.ts";
import type { ByteBudget, Holder } from "../platform/limits/memory.ts";
import type { LongWork } from "../platform/limits/turns.ts";
import type { Log } from "../platform/observability/logger.ts";
import type { Metrics } from "../platform/observability/metrics.ts";
import type { RequestSpan, Tracing } from "../platform/observability/tracing.ts";
import { type Authenticator, type Caller, limitHolders, type SessionCookie, spenderOf } from "./caller.ts";

/** nginx's status for a client that disconnected. No one receives it, but logs and metrics show it. */
export const clientDisconnectedStatus = 499;

const usableRequestId = /^[\w.:/+=@-]{1,128}$/;

/** The header that names a deployment in requests, and in responses the one that answered. */
export const deploymentHeader = "x-presage-deployment";

/** The header that says where a prediction came from. */
export const cacheHeader = "x-presage-cache";

/** Its values: cached, shared with a concurrent equal request, requested, or not cacheable. */
type CacheResult = "hit" | "shared" | "miss" | "off";

/** Process phase, as `/ready` reports it. */
export type Phase = "starting" | "ready" | "stopping";

/** One finished request. */
export interface Use {
  accountId: string;
  /** The key; for a session, the user. Undefined: not known. */
  keyId: string | undefined;
  operation: UsageOperation;
  /** Undefined: it succeeded. */
  failure: UsageFailure | undefined;
  promptTokens: number | undefined;
  completionTokens: number | undefined;
  /** The part of the prompt that the upstream had in its own cache. Absent: none. */
  upstreamCachedTokens?: number | undefined;
  /** The part of the prompt that consisted of a world's examples. Absent: none. */
  exampleTokens?: number | undefined;
  /** The name that was sent to the upstream. Absent: the upstream was not asked, or its tokens are not known. */
  model?: string | undefined;
  /** Whether the upstream was asked for these tokens; if not, they are counted separately. Absent: it was. */
  wasAsked?: boolean;
  /** A further call to a model for a request that is counted already. */
  isFurtherCall?: boolean;
  totalMs: number;
  /** The upstream's part of `totalMs`; undefined if it was not called. */
  upstreamMs: number | undefined;
}

/** The tokens of a call to a model. */
type ModelCall = Pick<
  Use,
  "model" | "promptTokens" | "completionTokens" | "upstreamCachedTokens" | "exampleTokens" | "wasAsked"
>;

/** The services for serving any request. Made once, by `composeServer`. */
export interface HttpServices {
  readonly settings: {
    /** Body limit of requests with a prediction's texts or samples. */
    readonly maxBodyBytes: number;
    /** Body limit of all other requests. */
    readonly maxShortBodyBytes: number;
  };
  phase(): Phase;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly tracing: Tracing;
  /** Counts the memory of requests in flight and of responses being written. */
  readonly memory: ByteBudget;
  /** Turns of work that would delay other requests. */
  readonly longWork: LongWork;
  recordUsage(use: Use): void;
  readonly authenticator: Authenticator;
  readonly sessionCookie: SessionCookie;
}

/** The facts collected about a request while it is served, for its log line, metrics and headers, and the memory it reserves. */
export interface Exchange extends Holder {
  readonly requestId: string;
  readonly startedAtMs: number;
  /** Absent if there is nothing to trace. */
  readonly span: RequestSpan | undefined;
  /** The queue in which reading a long body waits for its turn. */
  readonly longWork: LongWork;
  keyId: string | undefined;
  /** Shown on a terminal instead of the key's id. */
  keyName: string | undefined;
  sessionId: string | undefined;
  /** Whether it is one of the many requests of the dashboard's pages, logged at debug. */
  isOfDashboard: boolean;
  /** The account and operation to count the request under. */
  countsFor: { accountId: string; keyId: string; operation: UsageOperation } | undefined;
  /** What is left of the key's rate limit or, if it has none, of its user's or account's. */
  rate: RateStatus | undefined;
  upstreamMs: number | undefined;
  /** When the last call to the upstream ended; 0 before. */
  upstreamEndedAtMs: number;
  /** Calls to models before the last one, whose figures are the exchange's own: a world may make several. */
  earlierCalls: ModelCall[] | undefined;
  promptTokens: number | undefined;
  completionTokens: number | undefined;
  /** The part of the prompt that the upstream had in its own cache. */
  upstreamCachedTokens: number | undefined;
  /** The part of the prompt that consisted of a world's examples. */
  exampleTokens: number | undefined;
  /** The model named in the request to the upstream. */
  model: string | undefined;
  /** The name of the deployment that answered. */
  deployment: string | undefined;
  /** Where a prediction came from. */
  cache: CacheResult | undefined;
  /** Whether the upstream was asked for the last call's tokens. */
  wasAsked: boolean;
  /** The age of a cached prediction. */
  ageS: number | undefined;
  /** Called once the response is ready. */
  atEnd: (() => void) | undefined;
  /** Resolves when the work that continues after the response's start has ended. The request is recorded then. */
  lasting: Promise<void> | undefined;
  /** Why the request failed. */
  category: ErrorCategory | undefined;
  /** Whether the request has deprecated fields. */
  usesOldNames: boolean;
}

/** Starts observing a request. */
export function openExchange(
  {
    tracing,
    memory,
    longWork,
  }: Pick<HttpServices, "memory" | "longWork"> & { tracing: Pick<Tracing, "startRequest"> },
  { method, headers }: Pick<Request, "method" | "headers">,
): Exchange {
  return {
    requestId: requestIdOf(headers),
    startedAtMs: performance.now(),
    span: tracing.startRequest(method, headers),
    memory,
    longWork,
    reservedBytes: 0,
    keyId: undefined,
    keyName: undefined,
    sessionId: undefined,
    isOfDashboard: false,
    countsFor: undefined,
    rate: undefined,
    upstreamMs: undefined,
    upstreamEndedAtMs: 0,
    earlierCalls: undefined,
    promptTokens: undefined,
    completionTokens: undefined,
    upstreamCachedTokens: undefined,
    exampleTokens: undefined,
    model: undefined,
    deployment: undefined,
    cache: undefined,
    wasAsked: true,
    ageS: undefined,
    atEnd: undefined,
    lasting: undefined,
    category: undefined,
    usesOldNames: false,
  };
}

/** Keeps the figures of the last call to a model, before those of the next one replace them. */
export function keepCall(exchange: Exchange): void {
  const { model, promptTokens, completionTokens, upstreamCachedTokens, exampleTokens, wasAsked } = exchange;
  const tokens = { promptTokens, completionTokens, upstreamCachedTokens, exampleTokens };
  exchange.earlierCalls ??= [];
  exchange.earlierCalls.push({ model, ...tokens, wasAsked });
}

/** Counts the request in the account's usage, whatever the response. */
export function countUsage(
  { exchange, caller }: { exchange: Exchange; caller: Caller },
  operation: UsageOperation,
): void {
  exchange.countsFor = { ...spenderOf(caller), operation };
}

/** Admits a request within the limits or throws; it counts as in flight until its response is ready. */
export function admit(
  admission: Admission,
  { exchange, caller }: { exchange: Exchange; caller: Caller },
): void | Promise<void> {
  const holders = limitHolders(caller);
  const leave = () => admission.leave(holders);
  const rate = admission.admit(holders);
  if (rate instanceof Promise) return rate.then((taken) => enter(exchange, taken, leave));
  enter(exchange, rate, leave);
}

function enter(exchange: Exchange, rate: RateStatus | undefined, leave: () => void): void {
  exchange.rate = rate;
  exchange.atEnd = leave;
}

/** How a request, or a message of a socket, ended. */
export interface Ending {
  method: string;
  route: string;
  status: number;
  totalMs: number;
}

/** Records the metrics, usage, trace and the one log line of a request. They contain no prompt, key or header. */
export function recordExchange(
  services: Pick<HttpServices, "log" | "metrics" | "recordUsage">,
  exchange: Exchange,
  ending: Ending,
): void {
  services.metrics.requests([ending.route, String(ending.status)]);
  recordWork(services, exchange, ending);
}

/** Like `recordExchange`, for work that is not a request itself: a message of a socket. */
export function recordWork(
  { log, metrics, recordUsage }: Pick<HttpServices, "log" | "metrics" | "recordUsage">,
  exchange: Exchange,
  { method, route, status, totalMs }: Ending,
): void {
  const { requestId, keyId, sessionId, upstreamMs, category, span, cache, wasAsked } = exchange;
  let { promptTokens, completionTokens } = exchange;
  if (upstreamMs !== undefined) {
    metrics.upstreamSeconds.observe(upstreamMs / 1000);
    metrics.overheadSeconds.observe((totalMs - upstreamMs) / 1000);
  }
  if (cache !== undefined) metrics.cacheResults([cache]);
  countTokens(metrics, wasAsked, promptTokens, completionTokens);
  if (category !== undefined) metrics.failures([category]);
  if (exchange.usesOldNames) metrics.oldNames([keyId ?? "none"]);
  if (exchange.countsFor !== undefined) {
    recordUsage({
      ...exchange.countsFor,
      failure: usageFailureOf(status, category),
      promptTokens,
      completionTokens,
      upstreamCachedTokens: exchange.upstreamCachedTokens,
      exampleTokens: exchange.exampleTokens,
      model: exchange.model,
      wasAsked,
      totalMs,
      upstreamMs,
    });
  }
  for (const earlier of exchange.earlierCalls ?? noCalls) {
    countTokens(metrics, earlier.wasAsked, earlier.promptTokens, earlier.completionTokens);
    const use = { ...earlier, failure: undefined, isFurtherCall: true, totalMs: 0, upstreamMs: undefined };
    if (exchange.countsFor !== undefined) recordUsage({ ...exchange.countsFor, ...use });
    promptTokens = (promptTokens ?? 0) + (earlier.promptTokens ?? 0);
    completionTokens = (completionTokens ?? 0) + (earlier.completionTokens ?? 0);
  }
  span?.end(route, status);
  const record = {
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
    cache: cache === "off" ? undefined : cache,
    category,
  };
  log.request(record, exchange.isOfDashboard ? "debug" : "info", exchange.keyName);
}

const noCalls: readonly ModelCall[] = [];

function countTokens(
  { tokens }: Metrics,
  isOfModel: boolean | undefined,
  promptTokens: number | undefined,
  completionTokens: number | undefined,
): void {
  if (isOfModel === false) {
    tokens(["cached"], (promptTokens ?? 0) + (completionTokens ?? 0));
    return;
  }
  if (promptTokens !== undefined) tokens(["prompt"], promptTokens);
  if (completionTokens !== undefined) tokens(["completion"], completionTokens);
}

/** Why a request failed, as usage counts it; undefined if it succeeded. */
export function usageFailureOf(
  status: number,
  category: ErrorCategory | undefined,
): UsageFailure | undefined {
  // A response that had begun when it failed has the status 200.
  if (category !== undefined) return category;
  if (status < 400) return undefined;
  if (status === 402) return "budget";
  return status < 500 && status !== clientDisconnectedStatus ? "invalid" : "other";
}

function toHundredths(value: number): number {
  return Math.round(value * 100) / 100;
}

function requestIdOf(headers: Headers): string {
  const given = headers.get("x-request-id");
  return given !== null && usableRequestId.test(given) ? given : crypto.randomUUID();
}
