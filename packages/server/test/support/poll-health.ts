/** Run as a thread: asks `/health` again and again, and says how long the slowest answer took. */
declare const self: Worker;

let slowestMs = 0;
let slowestSelfMs = 0;
let asked = 0;

self.onmessage = async ({ data }: MessageEvent<string>) => {
  if (data === "report") {
    postMessage({ slowestMs, slowestSelfMs, asked });
    slowestMs = 0;
    slowestSelfMs = 0;
    asked = 0;
    return;
  }
  for (;;) {
    const startedAtMs = performance.now();
    const response = await fetch(`${data}/health`);
    if (response.status !== 200) throw new Error(`/health answered ${response.status}`);
    await response.text();
    slowestMs = Math.max(slowestMs, performance.now() - startedAtMs);
    asked += 1;
    const restedAtMs = performance.now();
    await Bun.sleep(5);
    slowestSelfMs = Math.max(slowestSelfMs, performance.now() - restedAtMs - 5);
  }
};
