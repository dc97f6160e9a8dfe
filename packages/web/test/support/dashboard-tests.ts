import { afterAll, beforeAll, test } from "bun:test";
import type { Page as PlaywrightPage } from "playwright-core";
import { isWholeRun } from "../../../server/test/support/whole-run.ts";
import { chromiumPath } from "./browser.ts";
import { domPages } from "./dom/dom-pages.ts";
import type { Page } from "./page.ts";
import { poolPages } from "./page-pool.ts";
import { type Pages, runWithVisitor, type Visited, type Visitor } from "./run-with-visitor.ts";
import { type DashboardOptions, type RunningDashboard, startDashboard } from "./running-dashboard.ts";

const timeoutMs = 240_000;
/** `PRESAGE_TEST_PAGES=browser` runs every test of the dashboard in the browser. */
const isAllInBrowser = process.env.PRESAGE_TEST_PAGES === "browser";
/** A page in the browser, which can do all that a page in happy-dom can. */
type BrowserPage = PlaywrightPage & Page;

const hasBrowser = chromiumPath !== undefined;

if (!hasBrowser) {
  process.stderr.write(
    "The browser tests are skipped: no Chromium was found. Install it (Debian: apt-get install chromium), or name one in PRESAGE_TEST_CHROMIUM.\n",
  );
}

/** Starts a server for the tests of a file. Returns functions that define tests: in happy-dom, or in a browser if needed. */
export function dashboardTests(options: () => DashboardOptions = () => ({})) {
  let running: RunningDashboard;
  const opened: { close(): Promise<void> }[] = [];
  beforeAll(async () => {
    running = await startDashboard(options());
  }, timeoutMs);
  afterAll(async () => {
    await Promise.all(opened.map((pages) => pages.close()));
    await running.stop();
  }, timeoutMs);

  function testsIn<P, Taken extends Visited<P>>(
    isSkipped: boolean,
    open: (dashboard: RunningDashboard) => Pages<P, Taken>,
  ) {
    let pages: Pages<P, Taken> | undefined;
    function openOnce(): Pages<P, Taken> {
      if (pages !== undefined) return pages;
      pages = open(running);
      opened.push(pages);
      return pages;
    }
    return (sentence: string, body: (visitor: Visitor<P>) => Promise<void>) =>
      test.skipIf(isSkipped)(sentence, () => runWithVisitor(running, openOnce(), body), timeoutMs);
  }

  const browserTest = testsIn<BrowserPage, Visited<BrowserPage>>(
    !hasBrowser,
    poolPages as (dashboard: RunningDashboard) => Pages<BrowserPage, Visited<BrowserPage>>,
  );
  /** For all browser tests except twelve journeys (docs/decisions/0015-testing.md). They run only in `npm run test:all`. */
  const slowBrowserTest: typeof browserTest | (() => void) = isWholeRun ? browserTest : () => {};
  const domTest = testsIn<Page, Visited<Page>>(false, domPages);
  const dashboardTest = isAllInBrowser ? (browserTest as typeof domTest) : domTest;
  /** For slow tests that have a cheaper counterpart. They run only in `npm run test:all`. */
  const slowDashboardTest: typeof dashboardTest | (() => void) = isWholeRun ? dashboardTest : () => {};
  return { browserTest, slowBrowserTest, dashboardTest, slowDashboardTest };
}
