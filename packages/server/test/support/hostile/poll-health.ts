/** A worker thread that polls `/health` and reports the slowest response since the last report. */
declare const self: Worker;

let slowestMs = 0;
let isReportWanted = false;

self.onmessage = async ({ data: url }: MessageEvent<string | undefined>) => {
  if (url === undefined) {
    isReportWanted = true;
    return;
  }
  for (;;) {
    const startedAtMs = performance.now();
    const response = await fetch(`${url}/health`);
    if (response.status !== 200) throw new Error(`/health answered ${response.status}`);
    await response.text();
    slowestMs = Math.max(slowestMs, performance.now() - startedAtMs);
    if (isReportWanted) {
      postMessage(slowestMs);
      isReportWanted = false;
      slowestMs = 0;
    }
    await Bun.sleep(2);
  }
};
