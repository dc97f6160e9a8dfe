import {
  everyResult,
  overview,
  type Page,
  readMarkMs,
  reference,
  type View,
  type Visitor,
  visit,
  withPage,
} from "./visitor.ts";

type Request = Awaited<ReturnType<Page["waitForRequest"]>>;

export interface SentFile {
  /** As the browser names it: "script", "stylesheet", "font", … */
  readonly kind: string;
  /** Size of the encoded body. */
  readonly bytes: number;
  readonly encoding: string | undefined;
}

export interface FirstLoad {
  /** Loaded before the overview shows its figures and charts. */
  readonly beforeUsable: readonly SentFile[];
  /** Loaded afterwards. */
  readonly afterwards: readonly SentFile[];
}

const describe = async (request: Request): Promise<SentFile> => {
  const response = await request.response();
  const { responseBodySize } = await request.sizes();
  return {
    kind: request.resourceType(),
    bytes: responseBodySize,
    encoding: response === null ? undefined : (await response.allHeaders())["content-encoding"],
  };
};

export const measureFirstLoad = async (visitor: Visitor): Promise<FirstLoad> =>
  await withPage(visitor, async (page) => {
    const requests: Request[] = [];
    page.on("request", (request) => requests.push(request));
    await page.goto(visitor.origin + overview.path, { waitUntil: "commit" });
    await readMarkMs(page, overview.mark);
    const early = [...requests];
    await page.waitForLoadState("networkidle");
    const late = requests.filter((request) => !early.includes(request));
    return {
      beforeUsable: await Promise.all(early.map(describe)),
      afterwards: await Promise.all(late.map(describe)),
    };
  });

/** How a page becomes usable on a slow processor. */
export interface SlowLoad {
  /** What tasks take beyond 50 ms each, with the processor throttled to a quarter. */
  readonly blockedMs: number;
  /** The cumulative layout shift; 0 if nothing moves. */
  readonly shift: number;
}

const slowdown = 4;

/** The first load of a page, until the network is idle, with a quarter of the processor. */
export const measureSlowLoad = async (visitor: Visitor, path: string): Promise<SlowLoad> =>
  await withPage(visitor, async (page) => {
    const devTools = await page.context().newCDPSession(page);
    await devTools.send("Emulation.setCPUThrottlingRate", { rate: slowdown });
    await page.goto(visitor.origin + path, { waitUntil: "commit" });
    await page.getByRole("heading", { level: 1 }).waitFor();
    await page.waitForLoadState("networkidle");
    return await page.evaluate<SlowLoad>("presageBench.slowLoad()");
  });

export const sumBytes = (files: readonly SentFile[], kind: string): number =>
  files.reduce((sum, file) => sum + (file.kind === kind ? file.bytes : 0), 0);

/** The size of all scripts of the page, whenever they are loaded. */
export const sumScripts = ({ beforeUsable, afterwards }: FirstLoad): number =>
  sumBytes([...beforeUsable, ...afterwards], "script");

/** Milliseconds from the navigation until the page's contents are painted, by view. */
export type ViewTimes = ReadonlyMap<string, number>;

export interface NavigationTimes {
  /** Each page in a new browser context that has only the session. */
  readonly cold: ViewTimes;
  /** All pages in one context that has visited them before. */
  readonly warm: ViewTimes;
}

const measureEach = async (
  turns: readonly View[],
  measure: (view: View) => Promise<number>,
): Promise<ViewTimes> => {
  const times = new Map<string, number>();
  for (const view of turns) times.set(view.name, await measure(view));
  return times;
};

/** Visits every page once, so that the server is warm too before the first round. */
export const warmUp = async (visitor: Visitor, views: readonly View[]): Promise<void> =>
  await withPage(visitor, async (page) => {
    for (const view of views) await visit(page, visitor.origin, view);
  });

/** The views take turns; each round begins with a different view. */
export const measureNavigation = async (
  visitor: Visitor,
  views: readonly View[],
  round: number,
): Promise<NavigationTimes> => {
  const first = round % views.length;
  const turns = [...views.slice(first), ...views.slice(0, first)];
  const visitWith = (page: Page) => (view: View) => visit(page, visitor.origin, view);
  const cold = await measureEach(turns, (view) => withPage(visitor, (page) => visitWith(page)(view)));
  const warm = await withPage(visitor, async (page) => {
    await measureEach(turns, visitWith(page));
    return await measureEach(turns, visitWith(page));
  });
  return { cold, warm };
};

/** The time of the reference page in the same round. */
export const referenceMs = (times: ViewTimes): number => times.get(reference.name) ?? Number.NaN;

export interface DrawerTimes {
  /** The first result opened in a page. */
  readonly firstMs: number;
  readonly nextMs: number;
}

/** Milliseconds from the click on a row until the complete result is painted. */
const openResult = async (page: Page, row: number): Promise<number> => {
  await page.locator("[data-row-link]").nth(row).click();
  const shownMs = await readMarkMs(page, "result");
  const clickedMs = await page.evaluate<number>("presageBench.clickedMs");
  await page.waitForLoadState("networkidle");
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "hidden" });
  return shownMs - clickedMs;
};

export const measureDrawer = async (visitor: Visitor): Promise<DrawerTimes> =>
  await withPage(visitor, async (page) => {
    await visit(page, visitor.origin, everyResult);
    return { firstMs: await openResult(page, 0), nextMs: await openResult(page, 1) };
  });

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
