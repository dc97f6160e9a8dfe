import { orAborted } from "../../../limits/deadline.ts";

/** After this many failures in a row, the deployment counts as away. */
const maxFailuresInARow = 20;
const firstProbeMs = 1_000;
const longestProbeMs = 30_000;
/** A limit that names no pause. */
const defaultPauseMs = 1_000;
const longestPauseMs = 60_000;

export interface PaceListeners {
  /** The deployment has failed many times in a row: one prediction at a time is tried until one succeeds. */
  onAway(reason: string): void;
  onBack(): void;
}

export interface Pace {
  /** Waits until one more prediction may start. Each turn ends with one of the calls below. */
  take(signal: AbortSignal): Promise<void>;
  succeeded(): void;
  /** The upstream limits the rate, or this server has no memory for more responses at once. */
  limited(retryAfterMs: number, by?: "rate" | "memory"): void;
  failed(reason: string): void;
  /** Nothing was sent, or no one waits for the response. */
  abandoned(): void;
  isAway(): boolean;
  /** How often the deployment was away. */
  outages(): number;
  /** For how long nothing was asked, and why. */
  waitedMs(): Record<"rate" | "memory" | "outages", number>;
}

/**
 * How many predictions of a run are in flight at once. A limit of the upstream halves the number and pauses; each success
 * raises it again, by one when all have succeeded.
 */
export function createPace(
  concurrency: number,
  { onAway, onBack }: PaceListeners,
  nowMs = () => performance.now(),
): Pace {
  const waiting: (() => void)[] = [];
  const waited = { rate: 0, memory: 0, outages: 0 };
  let window = concurrency;
  let inUse = 0;
  let notBeforeMs = 0;
  let halvedAtMs = Number.NEGATIVE_INFINITY;
  let failuresInARow = 0;
  let outages = 0;
  let away: { sinceMs: number; probeMs: number } | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;

  function admit(): void {
    clearTimeout(timer);
    const restMs = notBeforeMs - nowMs();
    if (restMs > 0) {
      if (waiting.length > 0) timer = setTimeout(admit, restMs);
      return;
    }
    const most = away === undefined ? Math.floor(window) : 1;
    while (inUse < most) {
      const next = waiting.shift();
      if (next === undefined) return;
      inUse += 1;
      next();
    }
  }

  function pause(ms: number): void {
    notBeforeMs = Math.max(notBeforeMs, nowMs() + ms);
  }

  function leave(): void {
    inUse -= 1;
    admit();
  }

  return {
    async take(signal) {
      signal.throwIfAborted();
      const turn = Promise.withResolvers<void>();
      waiting.push(turn.resolve);
      admit();
      try {
        await orAborted(turn.promise, signal);
      } catch (error) {
        const place = waiting.indexOf(turn.resolve);
        if (place >= 0) waiting.splice(place, 1);
        else leave();
        throw error;
      }
    },
    succeeded() {
      failuresInARow = 0;
      window = Math.min(concurrency, window + 1 / Math.max(1, window));
      if (away !== undefined) {
        waited.outages += nowMs() - away.sinceMs;
        away = undefined;
        notBeforeMs = 0;
        onBack();
      }
      leave();
    },
    limited(retryAfterMs, by = "rate") {
      const pauseMs = Math.min(longestPauseMs, retryAfterMs > 0 ? retryAfterMs : defaultPauseMs);
      const now = nowMs();
      // Those in flight at the same time report the same limit.
      if (now >= notBeforeMs && now - halvedAtMs > defaultPauseMs) {
        halvedAtMs = now;
        window = Math.max(1, window / 2);
      }
      waited[by] += Math.max(0, now + pauseMs - Math.max(now, notBeforeMs));
      pause(pauseMs);
      leave();
    },
    failed(reason) {
      failuresInARow += 1;
      if (away !== undefined) {
        pause(away.probeMs);
        away.probeMs = Math.min(longestProbeMs, away.probeMs * 2);
      } else if (failuresInARow >= maxFailuresInARow) {
        away = { sinceMs: nowMs(), probeMs: firstProbeMs };
        outages += 1;
        pause(firstProbeMs);
        onAway(reason);
      }
      leave();
    },
    abandoned: leave,
    isAway: () => away !== undefined,
    outages: () => outages,
    waitedMs: () => ({ ...waited }),
  };
}
