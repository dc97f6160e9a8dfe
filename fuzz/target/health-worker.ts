/** Runs in its own thread, so that the fuzzer's own work is not measured as a slow response. */
import { readFileSync } from "node:fs";
import type { HealthSample, HealthTarget } from "./target.ts";

declare const self: Worker;

const pauseMs = 20;
const tickMs = 10;
let latenessMs = 0;
let lastTickMs = performance.now();
setInterval(() => {
  const nowMs = performance.now();
  latenessMs = Math.max(latenessMs, nowMs - lastTickMs - tickMs);
  lastTickMs = nowMs;
}, tickMs);

self.onmessage = async ({ data: { url, pid } }: MessageEvent<HealthTarget>) => {
  for (;;) {
    latenessMs = 0;
    const waitedBeforeMs = waitedForProcessorMs(pid);
    const startedAt = Date.now();
    const startedAtMs = performance.now();
    const status = await fetch(`${url}/health`).then(
      async (response) => {
        await response.arrayBuffer();
        return response.status;
      },
      () => 0,
    );
    const tookMs = performance.now() - startedAtMs;
    const machineMs = Math.min(tookMs, Math.max(latenessMs, waitedForProcessorMs(pid) - waitedBeforeMs));
    self.postMessage({ startedAt, tookMs, machineMs, status } satisfies HealthSample);
    await Bun.sleep(pauseMs);
  }
};

/** How long a process's main thread has waited for a processor since it started. Linux only. */
function waitedForProcessorMs(pid: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/schedstat`, "utf8").split(" ")[1]) / 1e6;
  } catch {
    return 0;
  }
}
