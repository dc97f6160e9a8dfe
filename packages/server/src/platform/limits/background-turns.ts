import { setTimeout as sleep } from "node:timers/promises";

/** Fewer would make small commits of work that waits for nothing but the store. */
const atOnceWhileIdle = 16;
/** While there are live requests, background work has a third of the main thread. */
const restPerWork = 2;
/** Timers are no more exact. */
const shortestRestMs = 1;
/** A turn in which much else happened says little about background work. */
const longestRestMs = 20;

export interface BackgroundTurns {
  /** Resolves when it is the caller's turn, to do what takes less than a millisecond. Rejects with the signal's reason if it is aborted by then. */
  take(signal: AbortSignal): Promise<void>;
}

/**
 * Turns on the main thread for work that may wait, in the order of the requests. What becomes possible at the
 * same time, when a commit ends for instance, would otherwise be done in one turn of the event loop, in which nothing else is
 * answered.
 */
export function createBackgroundTurns(
  hasLiveRequests: () => boolean,
  { nextLoop = nextTurnOfTheLoop, rest = (ms: number) => sleep(ms), nowMs = () => performance.now() } = {},
): BackgroundTurns {
  const waiting: (() => void)[] = [];
  let isRunning = false;

  async function run(): Promise<void> {
    isRunning = true;
    let owedMs = 0;
    await nextLoop();
    while (waiting.length > 0) {
      const startedAtMs = nowMs();
      for (const begin of waiting.splice(0, hasLiveRequests() ? 1 : atOnceWhileIdle)) begin();
      // By then, it is done, and everything that has arrived is read.
      await nextLoop();
      owedMs = hasLiveRequests() ? owedMs + restPerWork * (nowMs() - startedAtMs) : 0;
      if (owedMs < shortestRestMs) continue;
      await rest(Math.min(owedMs, longestRestMs));
      owedMs = 0;
    }
    isRunning = false;
  }

  return {
    async take(signal) {
      signal.throwIfAborted();
      const turn = Promise.withResolvers<void>();
      waiting.push(turn.resolve);
      if (!isRunning) void run();
      await turn.promise;
      signal.throwIfAborted();
    },
  };
}

function nextTurnOfTheLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
