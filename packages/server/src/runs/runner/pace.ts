import { orAborted } from "../../platform/limits/deadline.ts";

/** After this many failures in a row, the deployment counts as away. */
const maxFailuresInARow = 20;
/** For a deployment that has never answered: each time-out may take minutes. */
const maxTimeoutsAtFirst = 5;
const firstProbeMs = 1_000;
const longestProbeMs = 30_000;
/** For a rate limit that names no pause. */
const defaultPauseMs = 1_000;
const longestPauseMs = 60_000;
/** A number of calls that any deployment can take. */
const firstAtOnce = 4;
/** Until the first limit, the number grows by half with each round of responses. */
const rampPerSuccess = 0.5;
/** The number grows while the latest latencies are at most this many times the usual ones, which adapt slowly. */
const latencyHolds = 1.5;
const shareOfLatest = 1 / 4;
const shareOfUsual = 1 / 64;

export interface PaceListeners {
  /** Called if the deployment fails even on what it answered before: then one prediction at a time is tried until one succeeds. */
  onAway(reason: string, failures: number): void;
  onBack(): void;
}

export interface Pace {
  /** Waits until one more prediction may start, and returns the time of its start. Each turn ends with one of the calls below. */
  take(signal: AbortSignal): Promise<number>;
  /** A latency of null says nothing about the pace. */
  succeeded(latencyMs: number | null): void;
  /** Called if the upstream limits the rate, or this server has no memory for more concurrent responses. */
  limited(retryAfterMs: number, by?: "rate" | "memory"): void;
  /** `begunAtMs` is the time that `take` returned. */
  failed(reason: string, begunAtMs: number, isTimeout?: boolean): void;
  /** Counts the deployment as away until it answers: a failing request is to blame only if another one succeeds. */
  doubt(reason: string): void;
  /** Ends a turn in which nothing was sent, or whose response nobody waits for. */
  abandoned(): void;
  isAway(): boolean;
  /** How often the deployment failed while it counted as away. */
  outages(): number;
  /** The most predictions in flight, if time-outs have reduced it. */
  atOnce(): number | undefined;
  /** How often the deployment has answered. */
  answers(): number;
  /** How long nothing was asked, by reason. */
  waitedMs(): Record<"rate" | "memory" | "outages", number>;
}

/**
 * How many predictions of a run are in flight: few at first, and more while latency stays low, up to `concurrency`. A limit of the
 * upstream halves the number and pauses, a time-out halves it; from then on it grows by one each time all have succeeded.
 */
export function createPace(
  concurrency: number,
  { onAway, onBack }: PaceListeners,
  { patience = 1, nowMs = () => performance.now() } = {},
): Pace {
  const waited = { rate: 0, memory: 0, outages: 0 };
  const window = createWindow(concurrency);
  const counts = { failuresInARow: 0, answers: 0, outages: 0 };
  let away: { sinceMs: number; probeMs: number; isSure: boolean } | undefined;
  const turns = createTurns(() => (away === undefined ? Math.floor(window.size()) : 1), nowMs);

  /** Requests that the deployment answered before may still be answered. */
  function doubt(reason: string): void {
    if (away !== undefined) return;
    away = { sinceMs: nowMs(), probeMs: firstProbeMs * patience, isSure: false };
    turns.pause(away.probeMs);
    if (counts.answers === 0) countOutage(away, reason);
  }

  function countOutage(outage: { isSure: boolean }, reason: string): void {
    counts.outages += 1;
    if (!outage.isSure) onAway(reason, counts.failuresInARow);
    outage.isSure = true;
  }

  return {
    take: turns.take,
    succeeded(latencyMs) {
      counts.failuresInARow = 0;
      counts.answers += 1;
      window.succeeded(latencyMs);
      if (away?.isSure) {
        waited.outages += nowMs() - away.sinceMs;
        onBack();
      }
      if (away !== undefined) turns.resume();
      away = undefined;
      turns.leave();
    },
    limited(retryAfterMs, by = "rate") {
      const pauseMs = Math.min(longestPauseMs, retryAfterMs > 0 ? retryAfterMs : defaultPauseMs);
      const now = nowMs();
      // Calls that are in flight at the same time report the same limit.
      if (!turns.arePaused() && now - window.halvedAtMs() > defaultPauseMs) window.halve(now);
      waited[by] += turns.pause(pauseMs);
      turns.leave();
    },
    failed(reason, begunAtMs, isTimeout = false) {
      counts.failuresInARow += 1;
      // Calls that began before the last halving were part of the same crowd, which was already halved.
      if (isTimeout && begunAtMs > window.halvedAtMs()) window.timedOut(nowMs());
      if (away === undefined) {
        const most = isTimeout && counts.answers === 0 ? maxTimeoutsAtFirst : maxFailuresInARow;
        if (counts.failuresInARow >= most) doubt(reason);
      } else if (begunAtMs > away.sinceMs) {
        countOutage(away, reason);
        turns.pause(away.probeMs);
        away.probeMs = Math.min(longestProbeMs, away.probeMs * 2);
      }
      turns.leave();
    },
    doubt,
    abandoned: turns.leave,
    isAway: () => away !== undefined,
    outages: () => counts.outages,
    atOnce: window.atOnce,
    answers: () => counts.answers,
    waitedMs: () => ({ ...waited }),
  };
}

/** The number of calls that may be in flight. */
function createWindow(concurrency: number) {
  let size = Math.min(concurrency, firstAtOnce);
  let isRamp = true;
  let isBroughtDown = false;
  let latency: { latest: number; usual: number } | undefined;
  let halvedAtMs = Number.NEGATIVE_INFINITY;

  function doesLatencyHold(latencyMs: number | null): boolean {
    if (latencyMs === null) return true;
    latency ??= { latest: latencyMs, usual: latencyMs };
    latency.latest += (latencyMs - latency.latest) * shareOfLatest;
    latency.usual += (latencyMs - latency.usual) * shareOfUsual;
    return latency.latest <= latency.usual * latencyHolds;
  }

  function halve(now: number): void {
    halvedAtMs = now;
    isRamp = false;
    size = Math.max(1, size / 2);
  }

  return {
    halve,
    size: () => size,
    halvedAtMs: () => halvedAtMs,
    timedOut(now: number): void {
      halve(now);
      isBroughtDown = size < concurrency;
    },
    succeeded(latencyMs: number | null): void {
      if (doesLatencyHold(latencyMs))
        size = Math.min(concurrency, size + (isRamp ? rampPerSuccess : 1 / Math.max(1, size)));
      if (size === concurrency) isBroughtDown = false;
    },
    /** The number, if time-outs have reduced it. */
    atOnce: () => (isBroughtDown ? Math.floor(size) : undefined),
  };
}

/** Lets waiting calls in, in order: up to `most` at the same time, and none during a pause. */
function createTurns(most: () => number, nowMs: () => number) {
  const waiting: (() => void)[] = [];
  let inUse = 0;
  let notBeforeMs = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;

  function admit(): void {
    clearTimeout(timer);
    const restMs = notBeforeMs - nowMs();
    if (restMs > 0) {
      if (waiting.length > 0) timer = setTimeout(admit, restMs);
      return;
    }
    while (inUse < most()) {
      const next = waiting.shift();
      if (next === undefined) return;
      inUse += 1;
      next();
    }
  }

  function leave(): void {
    inUse -= 1;
    admit();
  }

  return {
    leave,
    async take(signal: AbortSignal): Promise<number> {
      signal.throwIfAborted();
      const turn = Promise.withResolvers<void>();
      waiting.push(turn.resolve);
      admit();
      try {
        await orAborted(turn.promise, signal);
        return nowMs();
      } catch (error) {
        const place = waiting.indexOf(turn.resolve);
        if (place >= 0) waiting.splice(place, 1);
        else leave();
        throw error;
      }
    },
    arePaused: () => nowMs() < notBeforeMs,
    /** Returns by how much the pause grows. */
    pause(ms: number): number {
      const now = nowMs();
      const longer = Math.max(0, now + ms - Math.max(now, notBeforeMs));
      notBeforeMs = Math.max(notBeforeMs, now + ms);
      return longer;
    },
    resume(): void {
      notBeforeMs = 0;
    },
  };
}
