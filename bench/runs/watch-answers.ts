import type { RunningPresage } from "../evaluations/start-presage.ts";

const askEveryMs = 5;

/** Does some work, and says how long the longest of many small requests took meanwhile: a blocked event loop delays them. */
export const watchAnswers = async <Value>(
  { origin }: RunningPresage,
  work: () => Promise<Value>,
): Promise<{ value: Value; tookMs: number; slowestMs: number }> => {
  let isDone = false;
  let slowestMs = 0;
  const watch = async (): Promise<void> => {
    while (!isDone) {
      const askedAtMs = performance.now();
      await (await fetch(`${origin}/health`)).text();
      slowestMs = Math.max(slowestMs, performance.now() - askedAtMs);
      await Bun.sleep(askEveryMs);
    }
  };
  const watching = watch();
  const startedAtMs = performance.now();
  try {
    const value = await work();
    return { value, tookMs: performance.now() - startedAtMs, slowestMs };
  } finally {
    isDone = true;
    await watching;
  }
};
