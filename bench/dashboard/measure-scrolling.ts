import type { View } from "./views.ts";
import { type Page, type Visitor, visit, withPage } from "./visitor.ts";

export interface ScrollSample {
  readonly totalMs: number;
  /** Processor time of the page's main thread. Unlike task durations, it does not grow if the machine is busy. */
  readonly cpuMs: number;
  /** The longest task of 50 ms or more, the shortest that browsers report; 0 if there was none. */
  readonly longestTaskMs: number;
  readonly longTasks: number;
  readonly mostRows: number;
  readonly heapBeforeBytes: number;
  readonly heapAfterBytes: number;
}

interface Seen {
  readonly taskMs: readonly number[];
  readonly mostRows: number;
  readonly lastRow: number;
}

/** The explorer's page size. */
export const rowsPerPage = 100;
export const wheelPixels = 1_200;
const frameMs = 16;
const patienceMs = 60_000;

type DevTools = Awaited<ReturnType<ReturnType<Page["context"]>["newCDPSession"]>>;

/** Heap in use after a garbage collection. */
const readHeapBytes = async (devTools: DevTools): Promise<number> => {
  await devTools.send("HeapProfiler.collectGarbage");
  return (await devTools.send("Runtime.getHeapUsage")).usedSize;
};

const readCpuMs = async (devTools: DevTools): Promise<number> => {
  const { metrics } = await devTools.send("Performance.getMetrics");
  return (metrics.find(({ name }) => name === "TaskDuration")?.value ?? Number.NaN) * 1000;
};

/** Turns the mouse wheel once a frame until the wanted number of rows has been shown. */
export const measureScrolling = async (visitor: Visitor, view: View, rows: number): Promise<ScrollSample> =>
  await withPage(visitor, async (page) => {
    await visit(page, visitor.origin, view);
    const devTools = await page.context().newCDPSession(page);
    await devTools.send("Performance.enable", { timeDomain: "threadTicks" });
    const heapBeforeBytes = await readHeapBytes(devTools);
    await page.getByRole("table").hover();
    await page.evaluate("presageBench.watchScrolling()");
    const readSeen = () => page.evaluate<Seen>("presageBench.scrolling");

    const cpuBeforeMs = await readCpuMs(devTools);
    const startedAtMs = performance.now();
    let seen = await readSeen();
    while (seen.lastRow < rows) {
      if (performance.now() - startedAtMs > patienceMs) {
        throw new Error(`after ${patienceMs / 1000} s only ${seen.lastRow} rows had been shown`);
      }
      await page.mouse.wheel(0, wheelPixels);
      await page.waitForTimeout(frameMs);
      seen = await readSeen();
    }
    const totalMs = performance.now() - startedAtMs;
    const cpuMs = (await readCpuMs(devTools)) - cpuBeforeMs;

    await page.waitForLoadState("networkidle");
    const { taskMs, mostRows } = await readSeen();
    return {
      totalMs,
      cpuMs,
      longestTaskMs: Math.max(0, ...taskMs),
      longTasks: taskMs.length,
      mostRows,
      heapBeforeBytes,
      heapAfterBytes: await readHeapBytes(devTools),
    };
  });
