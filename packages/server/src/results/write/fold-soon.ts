/** Readers add what is not folded yet, so folding is not urgent, but there should never be much to add. */
const foldAfterMs = 2_000;
/** The store has a problem, and nothing is lost by waiting. */
const foldAgainAfterMs = 30_000;

/** Folds new counts into the stored ones. */
export interface Folder {
  /** Call when there are new counts. */
  schedule(): void;
  /** Waits for a fold in progress, and starts no other. Another process, or this one after its next start, folds the rest. */
  stop(): Promise<void>;
}

/** Folds a moment after it was scheduled, once for everything scheduled until then. */
export function foldSoon(fold: () => Promise<void>, onFailure: (error: unknown) => void): Folder {
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  let isFailing = false;
  let inProgress = Promise.resolve();

  function plan(afterMs: number): void {
    if (isStopped || timer !== undefined) return;
    timer = setTimeout(() => {
      // Counts that arrive from here on need another fold.
      timer = undefined;
      inProgress = inProgress.then(run);
    }, afterMs);
    timer.unref();
  }

  async function run(): Promise<void> {
    try {
      await fold();
      isFailing = false;
    } catch (error) {
      if (!isFailing) onFailure(error);
      isFailing = true;
      plan(foldAgainAfterMs);
    }
  }

  return {
    schedule: () => plan(isFailing ? foldAgainAfterMs : foldAfterMs),
    async stop() {
      isStopped = true;
      clearTimeout(timer);
      await inProgress;
    },
  };
}
