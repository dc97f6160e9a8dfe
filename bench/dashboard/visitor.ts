import { join } from "node:path";
import type { openBrowser } from "../../packages/web/test/support/browser.ts";
import type { MarkName, View } from "./views.ts";

// The library is not there where only what runs is installed, so that no import of it may stand here.
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
const marksFile = join(import.meta.dir, "page-marks.mjs");

/** A page in a new browser context that has only the session. */
export const withPage = async <Value>(
  { browser, signedIn }: Visitor,
  use: (page: Page) => Promise<Value>,
): Promise<Value> => {
  const context = await browser.newContext({ storageState: signedIn, viewport });
  try {
    context.setDefaultTimeout(patienceMs);
    await context.addInitScript({ path: marksFile });
    return await use(await context.newPage());
  } finally {
    await context.close();
  }
};

/** When it was painted, by the page's clock. */
export const readMarkMs = async (page: Page, mark: MarkName): Promise<number> =>
  await page.evaluate<number>(`presageBench.shownAtMs("${mark}", ${patienceMs})`);

/** Milliseconds from the navigation until the awaited content is painted. Returns once the network is idle. */
export const visit = async (page: Page, origin: string, { path, mark }: View): Promise<number> => {
  await page.goto(origin + path, { waitUntil: "commit" });
  const shownMs = await readMarkMs(page, mark);
  await page.waitForLoadState("networkidle");
  return shownMs;
};
