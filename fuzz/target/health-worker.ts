/** Run as a thread of its own, so that what the fuzz itself computes does not pass for a slow answer. */
import type { HealthAnswer } from "./watch-health.ts";

declare const self: Worker;

const pauseMs = 20;
const tickMs = 10;
/** How late this thread's own timer was at worst since the last question: then the machine was busy, not the server. */
let latenessMs = 0;
let lastTickMs = performance.now();
setInterval(() => {
  const nowMs = performance.now();
  latenessMs = Math.max(latenessMs, nowMs - lastTickMs - tickMs);
  lastTickMs = nowMs;
}, tickMs);

self.onmessage = async ({ data: url }: MessageEvent<string>) => {
  for (;;) {
    latenessMs = 0;
    const startedAt = Date.now();
    const startedAtMs = performance.now();
    const status = await fetch(`${url}/health`).then(
      async (response) => {
        await response.arrayBuffer();
        return response.status;
      },
      () => 0,
    );
    const answer: HealthAnswer = { startedAt, tookMs: performance.now() - startedAtMs, latenessMs, status };
    self.postMessage(answer);
    await Bun.sleep(pauseMs);
  }
};
