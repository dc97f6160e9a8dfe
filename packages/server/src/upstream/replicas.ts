import { UpstreamError } from "../platform/errors.ts";
import {
  chooseReplica,
  createRecentCalls,
  createSessionPlaces,
  type Place,
  slownessOf,
} from "./choose-replica.ts";
import { isDubious, isUnserved } from "./failures.ts";
import {
  type BegunCall,
  createReplica,
  hash,
  isLimited,
  isTimeout,
  outcomeOf,
  type Replica,
} from "./replica.ts";
import type { OnReplicaChange } from "./replica-health.ts";
import { createRetryShare } from "./retry-share.ts";
import { type CompleteResponse, NoResponseError, type Send, type UpstreamCall } from "./send.ts";
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

const probeTimeoutMs = 5_000;

/** A call, and the replicas that it was sent to. */
export interface ReplicaCall<Read> extends UpstreamCall<Read> {
  /** 0 for a deployment with one replica. */
  key: number;
  tries?: Try[];
}

interface Try {
  replica: Replica;
  beganAtMs: number;
  /** The error of its answer, if that was dubious. */
  error?: UpstreamError;
}

/** No replica could be asked: each is ejected or has as many requests as it may. */
export class NoReplicaError extends UpstreamError {
  constructor() {
    super("unavailable", "Every replica of the upstream is out or has as many requests as it may hold.");
  }
}

export interface ReplicasOptions {
  /** Base URL of each replica, including `/v1`, without a trailing slash. */
  urls: readonly string[];
  /** Maximum requests in flight at one replica. No maximum if absent. */
  maxInFlightPerReplica?: number;
  /** Whether all replicas may be out, because another deployment takes over. False if absent. */
  hasFallback?: boolean;
  /** Called when a replica is ejected, and when it is back. */
  onReplicaChange?: (url: string, ...change: Parameters<OnReplicaChange>) => void;
  /** A monotonic clock; the process's if absent. */
  nowMs?: () => number;
}

/** The replicas of one deployment as one upstream. */
export type Replicas = ReturnType<typeof createReplicas>;

export function createReplicas(
  {
    urls,
    maxInFlightPerReplica = Number.POSITIVE_INFINITY,
    hasFallback = false,
    ...options
  }: ReplicasOptions,
  createSend: (url: string) => Send,
) {
  const nowMs = options.nowMs ?? (() => performance.now());
  const isSingle = urls.length === 1;
  const all = urls.map((url) =>
    createReplica({
      url,
      send: createSend(url),
      maxInFlight: maxInFlightPerReplica,
      isLimitable: !isSingle,
      onChange: (...change) => options.onReplicaChange?.(url, ...change),
      recent: createRecentCalls(nowMs),
      nowMs,
    }),
  );
  /** Whether there is nothing to choose, because the only replica is always asked. */
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

  /** The candidates that this call has not been sent to. */
  function without(tries: readonly Try[], candidates: readonly Replica[]): readonly Replica[] {
    return candidates.filter((one) => !tries.some(({ replica }) => replica === one));
  }

  function hasOther({ tries = [] }: Pick<ReplicaCall<unknown>, "tries">): boolean {
    return !isSingle && without(tries, askable()).some(({ inFlight, limit }) => inFlight < limit);
  }

  function choose({ key, tries }: Pick<ReplicaCall<unknown>, "key" | "tries">): Place<Replica> {
    if (isFixed) return { replica: all[0], hasPrefix: true };
    const candidates = askable();
    const untried = tries === undefined ? candidates : without(tries, candidates);
    const { replica, hasPrefix } = places.choose(untried, key);
    return { replica: replica ?? chooseReplica(candidates, key), hasPrefix };
  }

  function ended(tried: Try, doubted: Try | undefined, begun: BegunCall, error: unknown): void {
    const ending = { nowMs: nowMs(), mayEject };
    tried.replica.end({ ...begun, ...ending }, error);
    if (isSingle) return;
    if (isDubious(error)) tried.error = error;
    if (doubted?.error !== undefined) {
      const { beganAtMs, error: answer } = doubted;
      const isAnswered = outcomeOf(error) === "answered";
      doubted.replica.settle(isAnswered ? { beganAtMs, error: answer } : undefined, ending);
    }
    if (error === undefined) retryShare?.earn();
    for (const [place, slowness] of slownessOf(all.map(({ latency }) => latency.average())).entries()) {
      const one = all[place];
      if (one !== undefined) one.slowness = slowness;
    }
  }

  const probing = new Set<Replica>();

  /** Without timers: the next call that chooses a replica causes those whose time out is over to be probed. */
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
    /** Whether calls need a key. */
    needKeys: !isSingle,
    /** Sends to the replica for the call's key, but not to one that it was sent to before while there is another. */
    send<Read>(call: ReplicaCall<Read>): Promise<CompleteResponse<Read>> {
      const { replica, hasPrefix } = choose(call);
      if (replica === undefined) return Promise.reject(new NoReplicaError());
      // A retry is a copy of the call that shares this list.
      const tried: Try = { replica, beganAtMs: nowMs() };
      const doubted = call.tries?.findLast(({ error }) => error !== undefined);
      if (call.tries !== undefined) call.tries.push(tried);
      else if (!isSingle) call.tries = [tried];
      // A list of models says nothing about the model behind it, and its latency nothing about a completion's.
      if (call.method === "GET") return replica.send(call);
      replica.begin(hasPrefix);
      doubted?.replica.doubt();
      const begun: BegunCall = {
        beganAtMs: tried.beganAtMs,
        held: replica.inFlight,
        isFreshConnection: call.freshConnection === true,
      };
      const { key } = call;
      const sent = replica.send(call);
      // Attached to the call rather than wrapped around it, because thousands wait at the same time.
      sent.then(
        () => ended(tried, doubted, begun, undefined),
        (error) => {
          ended(tried, doubted, begun, error);
          if (!isSingle && isTimeout(error)) places.timedOut(key, replica);
        },
      );
      return sent;
    },
    /** Whether a call immediately goes to another replica: it got no response, or one that another replica with room may improve on. */
    mayFailOver(call: ReplicaCall<unknown>, error: unknown): boolean {
      if (isSingle) return false;
      if (error instanceof NoResponseError) return without(call.tries ?? [], askable()).length > 0;
      return (isDubious(error) || isLimited(error)) && hasOther(call);
    },
    /** Whether a replica that the call has not asked has room for it. */
    hasOther,
    /** Whether a failover is free; otherwise it counts as a retry. */
    isFailoverFree: (error: unknown): boolean =>
      error instanceof NoResponseError &&
      all.filter(({ health }) => !health.isDown()).length * 2 >= all.length,
    /** Undefined for a single replica, which a call asks again as often as it may. */
    retryShare,
    inFlight: () => all.reduce((sum, one) => sum + one.inFlight, 0),
    /** Whether any replica that did not fail its last call may be asked now. */
    canServe: () =>
      askable().some(({ inFlight, maxInFlight, health }) => inFlight < maxInFlight && !health.hasFailed()),
    all,
  };
}

/** Whether the replica answers at all. An error with a status other than 503 is an answer: the live call that follows decides. */
async function probe(replica: Replica): Promise<boolean> {
  const signal = AbortSignal.timeout(probeTimeoutMs);
  return await replica
    .send({ method: "GET", path: "/models", read: () => {}, signal, freshConnection: true })
    .then(
      () => true,
      (error: unknown) => error instanceof UpstreamError && !isUnserved(error),
    );
}
