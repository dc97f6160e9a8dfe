const firstPauseMs = 500;
const longestPauseMs = 30_000;
/** A worker that ran this long did not fail at once. */
const soundAfterMs = 10_000;

export interface RestartPause {
  /** How long to wait before a worker that ran for `ranMs` is started again. */
  after(ranMs: number): number;
}

/** The first restart is at once. The pause doubles while the worker ends soon after each start. */
export function createRestartPause(): RestartPause {
  let failures = 0;
  return {
    after(ranMs) {
      failures = ranMs < soundAfterMs ? failures + 1 : 0;
      return failures <= 1 ? 0 : Math.min(longestPauseMs, firstPauseMs * 2 ** (failures - 2));
    },
  };
}
