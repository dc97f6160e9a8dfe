import { UpstreamError } from "../platform/errors.ts";
import {
  type Candidate,
  chooseReplica,
  createLatencyWindow,
  createRecentCalls,
  createSessionPlaces,
  type LatencyWindow,
  type Place,
  type RecentCalls,
  slownessOf,
} from "./choose-replica.ts";
import { isRefusal, isUnserved } from "./failures.ts";
import { createReplicaHealth, type ReplicaHealth, type ReplicaState } from "./replica-health.ts";
import { createRetryShare, type RetryShare } from "./retry.ts";
import { NoResponseError, type Send, type UpstreamCall } from "./send.ts";
import type { CompletionOptions, CompletionRequest, SessionHeader } from "./upstream.ts";

/** A replica's URL as it may be shown: without user, password and query. */
export function replicaAddress(url: string): string {
  const { origin, pathname } = new URL(url);
  return origin + pathname;
}

/**
 * What requests of one trajectory have in common, so that they come to one replica: the client's session, or the part of the
 * prompt that no step changes, which is the system turn and, in a chat of three or more messages, the first user turn. In a
 * shorter chat the user turn is the step itself.
 */
export function routingKeyOf(
  { messages }: Pick<CompletionRequest, "messages">,
  session: SessionHeader | undefined,
  prefix?: CompletionOptions["prefix"],
): number {
  if (session !== undefined) return hash(session.value);
  if (prefix !== undefined) return hash(prefix());
  const system = contentOf(messages, "system");
  const user = messages.length >= 3 || system === undefined ? contentOf(messages, "user") : undefined;
  return hash(user ?? "", hash(system ?? ""));
}

function contentOf(messages: CompletionRequest["messages"], role: string): string | undefined {
  return messages.find((message) => message.role === role)?.content ?? undefined;
}

/** 32 bits, the same in every process. */
export function hash(text: string, seed = 0): number {
  return Number(BigInt.asUintN(32, Bun.hash.rapidhash(text, BigInt(seed))));
}

/** What a call said of the replica. */
type Outcome = "failed" | "limited" | "answered" | "unknown";

interface BegunCall {
  beganAtMs: number;
  /** The replica's requests in flight then, with this one. */
  held: number;
  /** Whether it has a connection of its own. */
  isFreshConnection: boolean;
}

interface EndedCall extends BegunCall {
  nowMs: number;
  /** Whether the replica may be ejected now. */
  mayEject(): boolean;
}

/** What is known of one replica in this process. */
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
  end(call: EndedCall, error: unknown): void;
}

interface ReplicaOptions {
  url: string;
  send: Send;
  maxInFlight: number;
  /** Whether its 429s limit what it is sent. */
  isLimitable: boolean;
  onChange: (state: ReplicaState) => void;
  recent: RecentCalls;
}

function createReplica({ url, send, maxInFlight, isLimitable, onChange, recent }: ReplicaOptions): Replica {
  const health = createReplicaHealth(onChange);
  let ownLimit = maxInFlight;
  let halvedAtMs = Number.NEGATIVE_INFINITY;

  /** Calls that began before the last halving are of the same crowd and must not halve it again. */
  function halve(beganAtMs: number, nowMs: number): void {
    if (!isLimitable || beganAtMs < halvedAtMs) return;
    ownLimit = Math.max(1, Math.floor(Math.min(ownLimit, replica.inFlight) / 2));
    halvedAtMs = nowMs;
  }

  /**
   * A call that was cut off would have taken longer, which counts where it waited longer than usual: a client that soon leaves says
   * nothing. Of a replica that has never answered, only time-outs count.
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
    /** One that returns must answer one live call first. */
    get maxInFlight() {
      return health.state() === "returning" ? 1 : maxInFlight;
    },
    get limit() {
      return Math.min(ownLimit, replica.maxInFlight);
    },
    begin(hasPrefix) {
      replica.inFlight += 1;
      replica.requests += 1;
      if (hasPrefix) replica.prefixRequests += 1;
    },
    end({ beganAtMs, held, nowMs, isFreshConnection, mayEject }, error) {
      const outcome = outcomeOf(error);
      if (outcome === "limited") halve(beganAtMs, nowMs);
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
      if (outcome === "failed") {
        const isReset = error instanceof NoResponseError && error.reason === "reset";
        health.failed(beganAtMs, nowMs, { mayEject, mayBeStale: isReset && !isFreshConnection });
      } else if (outcome !== "unknown") health.answered(beganAtMs, nowMs);
    },
  };
  return replica;
}

function isTimeout(error: unknown): boolean {
  return error instanceof UpstreamError && error.category === "timeout";
}

function outcomeOf(error: unknown): Outcome {
  if (error === undefined) return "answered";
  if (!(error instanceof UpstreamError)) return "unknown";
  if (error.status === 429) return "limited";
  return isUnserved(error) ? "failed" : "answered";
}

/** Whether the failure is worth showing to whoever looks after the replica: a 4xx is about the request. */
function isOfReplica(error: unknown): error is UpstreamError {
  if (!(error instanceof UpstreamError)) return false;
  const { status } = error;
  return status === undefined || status === 429 || status >= 500;
}

/** Whether the deployment failed, and not what was asked: its server, its credential, its address or its answer. */
function isOfDeployment(error: unknown): boolean {
  return error instanceof UpstreamError && error.category !== "rate_limit" && !isRefusal(error);
}

const probeTimeoutMs = 5_000;

/** A call, and the replicas that it was sent to. */
export interface ReplicaCall extends UpstreamCall {
  /** 0 for a deployment of one replica. */
  key: number;
  triedReplicas?: Replica[];
}

/** No replica could be asked: each is ejected or has as many requests as it may. */
class NoReplicaError extends UpstreamError {
  constructor() {
    super("unavailable", "Every replica of the upstream is out or has as many requests as it may hold.");
  }
}

/** The replicas of one deployment as one upstream. */
export interface Replicas {
  /** Whether calls need a key. */
  readonly needKeys: boolean;
  /** Sends to the replica for the call's key, and to none that it was sent to before while there is another. */
  send: Send<ReplicaCall>;
  /** Whether a call that got no response goes to another replica at once. */
  mayFailOver(call: ReplicaCall, error: unknown): boolean;
  /** Whether a failover is free; otherwise it counts as a retry. */
  isFailoverFree(): boolean;
  /** Undefined for one replica, which a call asks again as often as it may. */
  readonly retryShare: RetryShare | undefined;
  inFlight(): number;
  /** The answer of a call that had succeeded cannot be used. */
  refuseAnswer(url: string, error: unknown): void;
  /** Whether any replica may be asked now that did not fail its last call. */
  canServe(): boolean;
  readonly all: readonly Replica[];
}

export interface ReplicasOptions {
  /** Base URL of each replica, including `/v1`, without a trailing slash. */
  urls: readonly string[];
  /** Maximum requests in flight at one replica. Absent: no maximum. */
  maxInFlightPerReplica?: number;
  /** Whether all replicas may be out, because another deployment takes over. Absent: false. */
  hasFallback?: boolean;
  /** Called when a replica is ejected, and when it is back. */
  onReplicaChange?: (url: string, state: ReplicaState) => void;
  /** A monotonic clock. Absent: the process's. */
  nowMs?: () => number;
}

export function createReplicas(
  {
    urls,
    maxInFlightPerReplica = Number.POSITIVE_INFINITY,
    hasFallback = false,
    ...options
  }: ReplicasOptions,
  createSend: (url: string) => Send,
): Replicas {
  const nowMs = options.nowMs ?? (() => performance.now());
  const isSingle = urls.length === 1;
  const all = urls.map((url) =>
    createReplica({
      url,
      send: createSend(url),
      maxInFlight: maxInFlightPerReplica,
      isLimitable: !isSingle,
      onChange: (state) => options.onReplicaChange?.(url, state),
      recent: createRecentCalls(nowMs),
    }),
  );
  /** Nothing to choose: there is one, and it is always asked. */
  const isFixed = isSingle && !hasFallback && maxInFlightPerReplica === Number.POSITIVE_INFINITY;
  const mayLeave = hasFallback ? all.length : Math.floor(all.length / 2);
  const retryShare = isSingle ? undefined : createRetryShare(nowMs);
  const isOut = ({ health }: Replica) => health.state() !== "up";
  const mayEject = () => all.filter(isOut).length < mayLeave;

  function askable(): readonly Replica[] {
    let ejected = 0;
    let canServe = false;
    for (const { health } of all) {
      if (health.state() === "ejected") ejected += 1;
      else if (!health.isFailing()) canServe = true;
    }
    // If all are bad, all are asked.
    if (ejected === 0 || (!canServe && !hasFallback)) return all;
    probeWhereDue();
    return all.filter(({ health }) => health.state() !== "ejected");
  }

  const places = createSessionPlaces(all);

  function choose({ key, triedReplicas: tried }: ReplicaCall): Place<Replica> {
    if (isFixed) return { replica: all[0], hasPrefix: true };
    const candidates = askable();
    const untried = tried === undefined ? candidates : candidates.filter((one) => !tried.includes(one));
    const { replica, hasPrefix } = places.choose(untried, key);
    return { replica: replica ?? chooseReplica(candidates, key), hasPrefix };
  }

  function ended(replica: Replica, begun: BegunCall, error: unknown): void {
    replica.end({ ...begun, nowMs: nowMs(), mayEject }, error);
    if (isSingle) return;
    if (error === undefined) retryShare?.earn();
    for (const [place, slowness] of slownessOf(all.map(({ latency }) => latency.average())).entries()) {
      const one = all[place];
      if (one !== undefined) one.slowness = slowness;
    }
  }

  const probing = new Set<Replica>();

  /** There are no timers: the next call that chooses has the replicas probed whose time is over. */
  function probeWhereDue(): void {
    const at = nowMs();
    for (const replica of all) {
      if (probing.has(replica) || !replica.health.isProbeDue(at)) continue;
      probing.add(replica);
      probe(replica).then((isAlive) => {
        probing.delete(replica);
        replica.health.probed(isAlive, nowMs());
      });
    }
  }

  return {
    needKeys: !isSingle,
    send(call) {
      const { replica, hasPrefix } = choose(call);
      if (replica === undefined) return Promise.reject(new NoReplicaError());
      // A retry is a copy of the call, with the same list.
      if (call.triedReplicas !== undefined) call.triedReplicas.push(replica);
      else if (!isSingle) call.triedReplicas = [replica];
      // A list of models says nothing about the model behind it, and its latency nothing about a completion's.
      if (call.method === "GET") return replica.send(call);
      replica.begin(hasPrefix);
      const begun: BegunCall = {
        beganAtMs: nowMs(),
        held: replica.inFlight,
        isFreshConnection: call.freshConnection === true,
      };
      const { key } = call;
      const sent = replica.send(call);
      // Beside the call instead of around it: thousands wait at once.
      sent.then(
        () => ended(replica, begun, undefined),
        (error) => {
          ended(replica, begun, error);
          if (!isSingle && isTimeout(error)) places.timedOut(key, replica);
        },
      );
      return sent;
    },
    mayFailOver: ({ triedReplicas = [] }, error) =>
      !isSingle && error instanceof NoResponseError && askable().some((one) => !triedReplicas.includes(one)),
    isFailoverFree: () => all.filter(({ health }) => !health.isDown()).length * 2 >= all.length,
    retryShare,
    refuseAnswer(url, error) {
      if (isOfDeployment(error)) all.find((one) => one.url === url)?.recent.count(0, 1);
    },
    inFlight: () => all.reduce((sum, one) => sum + one.inFlight, 0),
    canServe: () =>
      askable().some(({ inFlight, maxInFlight, health }) => inFlight < maxInFlight && !health.hasFailed()),
    all,
  };
}

/** Whether the replica answers at all. An error with another status than 503 is an answer: the live call that follows decides. */
async function probe(replica: Replica): Promise<boolean> {
  const signal = AbortSignal.timeout(probeTimeoutMs);
  return await replica.send({ method: "GET", path: "/models", signal, freshConnection: true }).then(
    () => true,
    (error: unknown) => error instanceof UpstreamError && !isUnserved(error),
  );
}
