import type { openBrowser } from "../../packages/web/test/support/browser.ts";
import { programFile } from "../lib/processes.ts";

/** The content that a navigation waits for; page-marks.mjs detects it. */
export type MarkName = "signIn" | "figures" | "rows" | "result" | "report";

export interface View {
  /** The view's name in the table. */
  readonly name: string;
  readonly path: string;
  readonly mark: MarkName;
}

const explorer = (name: string, search = ""): View => ({
  name: `the explorer's first rows, ${name}`,
  path: `/evaluations${search}`,
  mark: "rows",
});

/** A static page of the same server: the time that browser, machine and server need without a dashboard. */
export const reference: View = { name: "the sign-in page (the reference)", path: "/sign-in", mark: "signIn" };

export const everyResult = explorer("no filter");

export const explorerViews: readonly View[] = [
  everyResult,
  explorer("a common app", "?app=app-main"),
  explorer("a rare tag", "?tag=environment%3Dcanary"),
  explorer("fails only", "?verdict=fail"),
];

export const overview: View = { name: "the overview's figures", path: "/", mark: "figures" };

export const runPageName = "a run's page";
export const matrixName = "a run's samples";

export const matrixOf = (runId: string): View => ({
  name: matrixName,
  path: `/runs/${runId}?tab=samples`,
  mark: "rows",
});

/** All views, in the order of the table. The last ones show one run. */
export const viewsOf = (runId: string): readonly View[] => [
  reference,
  overview,
  ...explorerViews,
  { name: runPageName, path: `/runs/${runId}`, mark: "report" },
  matrixOf(runId),
  {
    name: "a run's samples, the lowest scores first",
    path: `${matrixOf(runId).path}&sort=e1`,
    mark: "rows",
  },
];

// Without development dependencies the library is not installed, so it must not be imported here.
export type Browser = Awaited<ReturnType<typeof openBrowser>>;
export type Page = Awaited<ReturnType<Browser["newPage"]>>;
export type SignedIn = Awaited<ReturnType<ReturnType<Page["context"]>["storageState"]>>;

export interface Visitor {
  readonly browser: Browser;
  readonly origin: string;
  readonly signedIn: SignedIn;
}

const patienceMs = 30_000;
const viewport = { width: 1440, height: 900 };

/** A page in a new browser context that has only the session. */
export const withPage = async <Value>(
  { browser, signedIn }: Visitor,
  use: (page: Page) => Promise<Value>,
): Promise<Value> => {
  const context = await browser.newContext({ storageState: signedIn, viewport });
  try {
    context.setDefaultTimeout(patienceMs);
    await context.addInitScript({ path: programFile("page-marks.mjs") });
    return await use(await context.newPage());
  } finally {
    await context.close();
  }
};

/** When the mark's content was painted, by the page's clock. */
export const readMarkMs = async (page: Page, mark: MarkName): Promise<number> =>
  await page.evaluate<number>(`presageBench.shownAtMs("${mark}", ${patienceMs})`);

/** Milliseconds from the navigation until the awaited content is painted. Returns once the network is idle. */
export const visit = async (page: Page, origin: string, { path, mark }: View): Promise<number> => {
  await page.goto(origin + path, { waitUntil: "commit" });
  const shownMs = await readMarkMs(page, mark);
  await page.waitForLoadState("networkidle");
  return shownMs;
};

/** Signs in with the last link that the server printed, and returns the cookie that a browser keeps. */
export const signIn = async (browser: Browser, printed: string): Promise<SignedIn> => {
  const address = printed.match(/http\S+\/sign-in#\S+/g)?.at(-1);
  if (address === undefined) throw new Error("the server printed no address that signs in");
  const context = await browser.newContext();
  try {
    const page = await context.newPage();
    await page.goto(address);
    await page.getByRole("heading", { name: "Overview", level: 1 }).waitFor();
    return await context.storageState();
  } finally {
    await context.close();
  }
};

export interface NotMeasured {
  /** Why nothing was measured. */
  readonly notMeasured: string;
}

/** The browser driver is a development dependency, so it may not be installed. */
export const openSystemBrowser = async (): Promise<Browser | NotMeasured> => {
  const support = await import("../../packages/web/test/support/browser.ts").catch(() => undefined);
  if (support === undefined) return { notMeasured: "playwright-core is not installed" };
  if (support.chromiumPath === undefined) {
    return { notMeasured: "no Chromium was found; PRESAGE_TEST_CHROMIUM names one in an unusual place" };
  }
  return await support.openBrowser();
};
