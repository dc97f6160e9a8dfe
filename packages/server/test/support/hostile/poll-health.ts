import { readFile } from "node:fs/promises";

/**
 * A worker thread that polls `/health` of a server and reports how much processor time its main thread took while the slowest
 * response was awaited: of a busy machine it sees little. Linux only.
 */
declare const self: Worker;

let slowestMs = 0;
let isReportWanted = false;

async function mainThreadMs(pid: number): Promise<number> {
  const [nanoseconds] = (await readFile(`/proc/${pid}/task/${pid}/schedstat`, "utf8")).split(" ");
  return Number(nanoseconds) / 1e6;
}

self.onmessage = async ({ data: server }: MessageEvent<{ url: string; pid: number } | undefined>) => {
  if (server === undefined) {
    isReportWanted = true;
    return;
  }
  for (;;) {
    const beforeMs = await mainThreadMs(server.pid);
    const response = await fetch(`${server.url}/health`);
    if (response.status !== 200) throw new Error(`/health answered ${response.status}`);
    await response.text();
    slowestMs = Math.max(slowestMs, (await mainThreadMs(server.pid)) - beforeMs);
    if (isReportWanted) {
      postMessage(slowestMs);
      isReportWanted = false;
      slowestMs = 0;
    }
    await Bun.sleep(5);
  }
};
