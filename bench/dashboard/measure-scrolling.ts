import { everyResult } from "./views.ts";
import { type Page, type Visitor, visit, withPage } from "./visitor.ts";

export interface ScrollSample {
  readonly totalMs: number;
  /** Of the tasks of 50 ms and more, which is what browsers report; 0 if there was none. */
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

/** The dashboard's own page of results. */
const rowsPerPage = 100;
const wheelPixels = 1_200;
const frameMs = 16;
const patienceMs = 60_000;

/** What is in use after a collection. */
const readHeapBytes = async (page: Page): Promise<number> => {
  const session = await page.context().newCDPSession(page);
  await session.send("HeapProfiler.collectGarbage");
  const { usedSize } = await session.send("Runtime.getHeapUsage");
  await session.detach();
  return usedSize;
};

/** Turns the mouse's wheel as fast as frames come, until so many pages of results were in sight. */
export const measureScrolling = async (visitor: Visitor, pages: number): Promise<ScrollSample> =>
  await withPage(visitor, async (page) => {
    await visit(page, visitor.origin, everyResult);
    const heapBeforeBytes = await readHeapBytes(page);
    await page.getByRole("table").hover();
    await page.evaluate("presageBench.watchScrolling()");
    const readSeen = () => page.evaluate<Seen>("presageBench.scrolling");

    const startedAtMs = performance.now();
    let seen = await readSeen();
    while (seen.lastRow < pages * rowsPerPage) {
      if (performance.now() - startedAtMs > patienceMs) {
        throw new Error(`after ${patienceMs / 1000} s only ${seen.lastRow} results were in sight`);
      }
      await page.mouse.wheel(0, wheelPixels);
      await page.waitForTimeout(frameMs);
      seen = await readSeen();
    }
    const totalMs = performance.now() - startedAtMs;

    await page.waitForLoadState("networkidle");
    const { taskMs, mostRows } = await readSeen();
    return {
      totalMs,
      longestTaskMs: Math.max(0, ...taskMs),
      longTasks: taskMs.length,
      mostRows,
      heapBeforeBytes,
      heapAfterBytes: await readHeapBytes(page),
    };
  });
