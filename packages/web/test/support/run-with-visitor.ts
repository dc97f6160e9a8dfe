import type { BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import type { RunningDashboard } from "./running-dashboard.ts";
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

const timeoutMs = 15_000;

/** Runs a test, and fails it as well if one of its pages did what no page may do. */
export async function runWithVisitor(
  running: RunningDashboard,
  body: (visitor: Visitor) => Promise<void>,
): Promise<void> {
  const { browser, cookies, otherOrigins, presage } = running;
  const contexts: BrowserContext[] = [];
  const issues: string[] = [];
  const expected: RegExp[] = [];

  async function visit(path: string, { isSignedIn = true, ...options }: VisitOptions = {}): Promise<Page> {
    const context = await browser.newContext(options);
    contexts.push(context);
    context.setDefaultTimeout(timeoutMs);
    watchContext(context, presage.url, otherOrigins, issues);
    if (isSignedIn) await context.addCookies(cookies.map((cookie) => ({ ...cookie, url: presage.url })));
    const page = await context.newPage();
    await page.goto(new URL(path, presage.url).href);
    return page;
  }

  try {
    await body({ ...running, visit, expectErrors: (pattern) => expected.push(pattern) });
    await Promise.all(contexts.map(hearAll));
  } catch (error) {
    if (issues.length === 0) throw error;
    throw new Error(`The pages reported:\n${issues.join("\n")}`, { cause: error });
  } finally {
    await Promise.all(contexts.map((context) => context.close()));
  }
  const unexpected = issues.filter((issue) => !expected.some((pattern) => pattern.test(issue)));
  if (unexpected.length > 0) throw new Error(`The pages reported:\n${unexpected.join("\n")}`);
}

/** What pages report arrives in order, so that after an answer of theirs everything before it is here. */
async function hearAll(context: BrowserContext): Promise<void> {
  await Promise.all(context.pages().map((page) => page.title()));
}
