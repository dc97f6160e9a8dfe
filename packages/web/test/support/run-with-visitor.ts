import type { BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import type { RunningDashboard } from "./running-dashboard.ts";
import { slowDown } from "./slow-down.ts";
import { watchContext } from "./watch-context.ts";

export interface VisitOptions extends BrowserContextOptions {
  isSignedIn?: boolean;
}

export interface Visitor extends Omit<RunningDashboard, "stop"> {
  /** Opens a page in a browser context of its own, signed in as the owner unless told otherwise. */
  visit(path: string, options?: VisitOptions): Promise<Page>;
  /** Allows console errors that belong to the test, such as that of a rejected request. */
  expectErrors(pattern: RegExp): void;
}

const timeoutMs = 60_000;

/** Runs a test, and fails it if one of its pages did something forbidden. */
export async function runWithVisitor(
  running: RunningDashboard,
  body: (visitor: Visitor) => Promise<void>,
): Promise<void> {
  const contexts: BrowserContext[] = [];
  const problems: string[] = [];
  const expected: RegExp[] = [];

  async function visit(path: string, options: VisitOptions = {}): Promise<Page> {
    const context = await openContext(running, problems, options);
    contexts.push(context);
    const page = await context.newPage();
    await page.goto(new URL(path, running.presage.url).href);
    return page;
  }

  try {
    await body({ ...running, visit, expectErrors: (pattern) => expected.push(pattern) });
    await Promise.all(contexts.map(flushEvents));
  } catch (error) {
    if (problems.length === 0) throw error;
    throw new Error(`The pages reported:\n${problems.join("\n")}`, { cause: error });
  } finally {
    await Promise.all(contexts.map((context) => context.close()));
  }
  const unexpected = problems.filter((problem) => !expected.some((pattern) => pattern.test(problem)));
  if (unexpected.length > 0) throw new Error(`The pages reported:\n${unexpected.join("\n")}`);
}

/** A context whose pages report to `problems` what is forbidden. */
export async function openContext(
  { browser, cookies, otherOrigins, presage }: Omit<RunningDashboard, "stop">,
  problems: string[],
  { isSignedIn = true, ...options }: VisitOptions,
): Promise<BrowserContext> {
  const context = await browser.newContext(options);
  context.setDefaultTimeout(timeoutMs);
  await slowDown(context);
  watchContext(context, presage.url, otherOrigins, problems);
  if (isSignedIn) await context.addCookies(cookies.map((cookie) => ({ ...cookie, url: presage.url })));
  return context;
}

/** Events of a page arrive in order, so a round trip waits for all earlier ones. */
async function flushEvents(context: BrowserContext): Promise<void> {
  await Promise.all(context.pages().map((page) => page.title()));
}
