import { UpstreamError } from "../platform/errors.ts";
import {
  type Candidate,
  createLatencyWindow,
  type LatencyWindow,
  type RecentCalls,
} from "./choose-replica.ts";
import { isDubious, isRefusal, isUnserved, retryAfterMs } from "./failures.ts";
import {
  createReplicaHealth,
  type EjectionReason,
  type OnReplicaChange,
  type ReplicaHealth,
} from "./replica-health.ts";
import { NoResponseError, type Send } from "./send.ts";

/** What a call says about the replica. */
type Outcome = "failed" | "dubious" | "limited" | "answered" | "unknown";

export interface BegunCall {
  beganAtMs: number;
  /** The replica's requests in flight at that time, including this one. */
  held: number;
  /** Whether it has its own connection. */
  isFreshConnection: boolean;
}

interface Ending {
  nowMs: number;
  /** Whether the replica may be ejected now. */
  mayEject(): boolean;
}

/** What this process knows about one replica. */
export interface Replica extends Candidate {
  readonly url: string;
  readonly send: Send;
  readonly health: ReplicaHealth;
  readonly latency: LatencyWindow;
  readonly recent: RecentCalls;
  slowness: number;
  inFlight: number;
  requests: number;
  /** Requests that came because their key prefers this replica, or went to it before. */
  prefixRequests: number;
  lastFailure: { at: Date; category: UpstreamError["category"] } | undefined;
  /** A call begins. */
  begin(hasPrefix: boolean): void;
  /** A call has ended; `error` is undefined if it succeeded. */
  end(call: BegunCall & Ending, error: unknown): void;
  /** Another replica is asked because this one's answer was dubious. */
  doubt(): void;
  /** `fault` is the call if the other replica answered it, so that this one is to blame. */
  settle(fault: { beganAtMs: number; error: UpstreamError } | undefined, ended: Ending): void;
}

interface ReplicaOptions {
  url: string;
  send: Send;
  maxInFlight: number;
  /** Whether its 429s limit the requests that it is sent. */
  isLimitable: boolean;
  onChange: OnReplicaChange;
  recent: RecentCalls;
  nowMs: () => number;
}

/** The longest rest that a 429 may ask for. */
const maxRestMs = 60_000;
/** This many dubious answers in a row are enough to eject a replica, if they turn out to be its fault. */
const doubtsToWait = 3;

export function createReplica(options: ReplicaOptions): Replica {
  const { url, send, maxInFlight, isLimitable, recent } = options;
  const health = createReplicaHealth(options.onChange);
  let ownLimit = maxInFlight;
  let halvedAtMs = Number.NEGATIVE_INFINITY;
  let restsUntilMs = Number.NEGATIVE_INFINITY;
  let dubiousInRow = 0;
  /** Its dubious answers that another replica is being asked about. */
  let doubts = 0;

  /** Halves the limit. Calls that began before the last halving belong to the same crowd and must not halve it again. */
  function halve(beganAtMs: number, nowMs: number, retryAfter: string | undefined): void {
    if (!isLimitable) return;
    restsUntilMs = Math.max(restsUntilMs, nowMs + Math.min(maxRestMs, retryAfterMs(retryAfter)));
    if (beganAtMs < halvedAtMs) return;
    ownLimit = Math.max(1, Math.floor(Math.min(ownLimit, replica.inFlight) / 2));
    halvedAtMs = nowMs;
  }

  /**
   * Whether a call that was cut off counts as slow: it would have taken longer, but says nothing unless it had waited longer than usual.
   * For a replica that has never answered, only time-outs count.
   */
  function tellsLatency(error: unknown, waitedMs: number): boolean {
    const usualMs = replica.latency.average()?.ms;
    if (isTimeout(error)) return waitedMs > (usualMs ?? 0);
    return outcomeOf(error) === "unknown" && usualMs !== undefined && waitedMs > usualMs;
  }

  const replica: Replica = {
    url,
    seed: hash(url),
    send,
    health,
    latency: createLatencyWindow(),
    recent,
    slowness: 1,
    inFlight: 0,
    requests: 0,
    prefixRequests: 0,
    lastFailure: undefined,
    /** A returning replica must answer one live call first. */
    get maxInFlight() {
      return health.state() === "returning" ? 1 : maxInFlight;
    },
    get limit() {
      // With a limit of 0 the replica comes last.
      if (options.nowMs() < restsUntilMs || (doubts > 0 && dubiousInRow >= doubtsToWait)) return 0;
      return Math.min(ownLimit, replica.maxInFlight);
    },
    begin(hasPrefix) {
      replica.inFlight += 1;
      replica.requests += 1;
      if (hasPrefix) replica.prefixRequests += 1;
    },
    end({ beganAtMs, held, nowMs, isFreshConnection, mayEject }, error) {
      const outcome = outcomeOf(error);
      if (isLimited(error)) halve(beganAtMs, nowMs, error.retryAfter);
      replica.inFlight -= 1;
      if (outcome !== "unknown") recent.count(1, isOfDeployment(error) ? 1 : 0);
      const tookMs = nowMs - beganAtMs;
      if (tellsLatency(error, tookMs)) replica.latency.recordWait(tookMs, held);
      if (error === undefined) {
        replica.latency.record(tookMs, held);
        if (ownLimit < maxInFlight) ownLimit += 1;
      } else if (isOfReplica(error)) {
        replica.lastFailure = { at: new Date(), category: error.category };
      }
      if (isUnserved(error)) {
        const isReset = error instanceof NoResponseError && error.reason === "reset";
        const mayBeStale = isReset && !isFreshConnection;
        health.failed(beganAtMs, nowMs, { mayEject, mayBeStale, why: reasonOf(error) });
      } else if (outcome === "dubious") dubiousInRow += 1;
      else if (outcome !== "unknown") {
        dubiousInRow = 0;
        health.answered(beganAtMs, nowMs);
      }
    },
    doubt() {
      doubts += 1;
    },
    settle(fault, { nowMs, mayEject }) {
      doubts -= 1;
      if (fault !== undefined)
        health.failed(fault.beganAtMs, nowMs, { mayEject, why: reasonOf(fault.error) });
    },
  };
  return replica;
}

function reasonOf(error: UpstreamError): EjectionReason {
  const { category, status } = error;
  if (error instanceof NoResponseError) return { reason: error.reason };
  if (status !== undefined && status >= 300) return { reason: "status", status };
  return { reason: category === "timeout" ? "timeout" : "not_a_completion", status };
}

export function isTimeout(error: unknown): boolean {
  return error instanceof UpstreamError && error.category === "timeout";
}

export function outcomeOf(error: unknown): Outcome {
  if (error === undefined) return "answered";
  if (!(error instanceof UpstreamError)) return "unknown";
  if (isLimited(error)) return "limited";
  if (isDubious(error)) return "dubious";
  return isUnserved(error) ? "failed" : "answered";
}

export function isLimited(error: unknown): error is UpstreamError {
  return error instanceof UpstreamError && error.status === 429;
}

/** Whether the failure is worth showing to the replica's operator: a 4xx is about the request. */
function isOfReplica(error: unknown): error is UpstreamError {
  return isUnserved(error) || isDubious(error) || isLimited(error);
}

/** Whether the deployment failed, and not the request: its server, its credential, its address or its answer. */
function isOfDeployment(error: unknown): boolean {
  return error instanceof UpstreamError && error.category !== "rate_limit" && !isRefusal(error);
}

/** A hash of 32 bits, the same in every process. */
export function hash(text: string, seed = 0): number {
  return Number(BigInt.asUintN(32, Bun.hash.rapidhash(text, BigInt(seed))));
}
