import type { RunningPresage } from "../evaluations/start-presage.ts";

export interface Stored {
  readonly stored: number;
  readonly failed: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

const body = JSON.stringify({
  evaluators: [{ evaluator: "exact-match" }],
  evaluated_model_output: "The door is open now.",
  evaluated_model_gold_answer: "The door is open now.",
  app: "bench",
  tags: { environment: "production" },
});

/** Stores evaluations at a steady rate, however long each takes, until told to stop. */
export const storeSteadily = async (
  { origin, headers }: RunningPresage,
  perSecond: number,
  isOver: () => Promise<boolean>,
): Promise<Stored> => {
  const tookMs: number[] = [];
  const pending = new Set<Promise<void>>();
  let failed = 0;
  const store = async (dueMs: number) => {
    const response = await fetch(`${origin}/v1/evaluate`, { method: "POST", headers, body });
    await response.arrayBuffer();
    if (response.ok) tookMs.push(performance.now() - dueMs);
    else failed += 1;
  };
  const startedAtMs = performance.now();
  let sent = 0;
  let over = false;
  const watching = (async () => {
    while (!over) over = await isOver();
  })();
  while (!over) {
    const dueMs = startedAtMs + (sent * 1_000) / perSecond;
    const waitMs = dueMs - performance.now();
    if (waitMs > 0) await Bun.sleep(waitMs);
    // If the client itself was late, that says nothing about the server.
    const storing = store(performance.now()).catch(() => {
      failed += 1;
    });
    pending.add(storing);
    void storing.finally(() => pending.delete(storing));
    sent += 1;
  }
  await watching;
  await Promise.all(pending);
  tookMs.sort((a, b) => a - b);
  const at = (share: number) =>
    tookMs[Math.min(Math.floor(tookMs.length * share), tookMs.length - 1)] ?? Number.NaN;
  return { stored: tookMs.length, failed, p50Ms: at(0.5), p99Ms: at(0.99), maxMs: at(1) };
};
