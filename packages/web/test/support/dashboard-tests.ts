import { afterAll, beforeAll, test } from "bun:test";
import type { BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import { chromiumPath } from "./browser.ts";
import { type DashboardOptions, type RunningDashboard, startDashboard } from "./running-dashboard.ts";
import { watchContext } from "./watch-context.ts";

export interface VisitOptions extends BrowserContextOptions {
  isSignedIn?: boolean;
}

/** What a test of the dashboard works with. */
export interface Visitor extends Omit<RunningDashboard, "stop"> {
  /** Opens a page in a browser context of its own, signed in as the owner unless told otherwise. */
  visit(path: string, options?: VisitOptions): Promise<Page>;
  /** Errors in the console that belong to the test, such as that of a call that is refused. */
  expectErrors(pattern: RegExp): void;
}

const patienceMs = 15_000;
const startTimeoutMs = 60_000;

if (chromiumPath === undefined) {
  process.stderr.write(
    "The browser tests are skipped: no Chromium was found. Install it (Debian: apt-get install chromium), or name one in PRESAGE_TEST_CHROMIUM.\n",
  );
}

/** Starts a server and a browser for the tests that are defined with what it returns. A test fails too if a page of its own reports an error or calls another origin. */
export function dashboardTests(options: () => DashboardOptions = () => ({})) {
  let running: RunningDashboard;
  beforeAll(async () => {
    if (chromiumPath !== undefined) running = await startDashboard(options());
  }, startTimeoutMs);
  afterAll(async () => {
    if (chromiumPath !== undefined) await running.stop();
  });

  return (sentence: string, body: (visitor: Visitor) => Promise<void>, timeoutMs = 60_000) => {
    test.skipIf(chromiumPath === undefined)(
      sentence,
      async () => {
        const faults: string[] = [];
        const expected: RegExp[] = [];
        const contexts: BrowserContext[] = [];
        try {
          await body({
            ...running,
            async visit(path, { isSignedIn = true, ...contextOptions } = {}) {
              const context = await running.browser.newContext(contextOptions);
              contexts.push(context);
              context.setDefaultTimeout(patienceMs);
              const { url } = running.presage;
              watchContext(context, url, running.otherOrigins, faults);
              if (isSignedIn) await context.addCookies(running.cookies.map((cookie) => ({ ...cookie, url })));
              const page = await context.newPage();
              await page.goto(new URL(path, url).href);
              return page;
            },
            expectErrors: (pattern) => expected.push(pattern),
          });
          await Promise.all(contexts.map(hearAll));
        } catch (error) {
          if (faults.length === 0) throw error;
          throw new Error(`The pages reported:\n${faults.join("\n")}`, { cause: error });
        } finally {
          await Promise.all(contexts.map((context) => context.close()));
        }
        const unexpected = faults.filter((fault) => !expected.some((pattern) => pattern.test(fault)));
        if (unexpected.length > 0) throw new Error(`The pages reported:\n${unexpected.join("\n")}`);
      },
      timeoutMs,
    );
  };
}

/** What pages report arrives in order, so that after an answer of theirs everything before it is here. */
async function hearAll(context: BrowserContext): Promise<void> {
  await Promise.all(context.pages().map((page) => page.title()));
}
