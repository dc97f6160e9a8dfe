import { setTimeout as sleep } from "node:timers/promises";
import { type Folder, foldSoon } from "../write/fold-soon.ts";

/** Writers come first: for four fifths of the time nothing is in their way, even while a million results are counted. */
const pausePerWork = 4;
const maxPauseMs = 500;

/**
 * Counts results by tag a moment after it was scheduled, until all are counted. `rollUpSome` counts some of them and returns whether
 * there are more.
 */
export function rollUpSoon(rollUpSome: () => Promise<boolean>, onFailure: (error: unknown) => void): Folder {
  let isStopped = false;
  const folder = foldSoon(async () => {
    while (!isStopped) {
      const startedAtMs = performance.now();
      if (!(await rollUpSome())) return;
      const pauseMs = pausePerWork * (performance.now() - startedAtMs);
      await sleep(Math.min(pauseMs, maxPauseMs), undefined, { ref: false });
    }
  }, onFailure);
  return {
    schedule: () => folder.schedule(),
    async stop() {
      isStopped = true;
      await folder.stop();
    },
  };
}
