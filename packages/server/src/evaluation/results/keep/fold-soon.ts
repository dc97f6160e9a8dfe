/** Readers add up what is not folded yet, so it need not be at once; but there should not be much of it. */
const foldAfterMs = 2_000;
/** The store is in trouble, and nothing is lost by waiting. */
const foldAgainAfterMs = 30_000;

export interface Folder {
  /** There is something to be folded. */
  note(): void;
  /** Waits for a fold that is under way, and begins no other. What is left is folded by another process, or after the next start. */
  stop(): Promise<void>;
}

/** Folds a moment after something was noted, once for all that was noted until then. */
export function foldSoon(fold: () => Promise<void>, onFailure: (error: unknown) => void): Folder {
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  let isFailing = false;
  let underWay = Promise.resolve();

  function plan(afterMs: number): void {
    if (isStopped || timer !== undefined) return;
    timer = setTimeout(() => {
      // Whatever is noted from here on asks for another one.
      timer = undefined;
      underWay = underWay.then(run);
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
    note: () => plan(isFailing ? foldAgainAfterMs : foldAfterMs),
    async stop() {
      isStopped = true;
      clearTimeout(timer);
      await underWay;
    },
  };
}
