export interface Sweeper {
  /** Sweeps soon: something was deleted. */
  schedule(): void;
  /** Ends after the current statement. */
  stop(): Promise<void>;
}

export interface SweeperOptions {
  /** Deletes what is no longer wanted, a little at a time, until nothing is left or `signal` is aborted. */
  sweep(signal: AbortSignal): Promise<void>;
  intervalMs: number;
  onFailure(error: unknown): void;
}

/** Sweeps at once, then regularly and when asked to. What could not be swept is swept the next time. */
export function startSweeper({ sweep, intervalMs, onFailure }: SweeperOptions): Sweeper {
  const stopping = new AbortController();
  let sweeping: Promise<void> = Promise.resolve();
  let isWaiting = false;

  async function sweepNow(): Promise<void> {
    isWaiting = false;
    await sweep(stopping.signal).catch(onFailure);
  }

  function schedule(): void {
    if (isWaiting || stopping.signal.aborted) return;
    isWaiting = true;
    sweeping = sweeping.then(sweepNow);
  }

  const timer = setInterval(schedule, intervalMs);
  schedule();
  return {
    schedule,
    async stop() {
      clearInterval(timer);
      stopping.abort();
      await sweeping;
    },
  };
}
