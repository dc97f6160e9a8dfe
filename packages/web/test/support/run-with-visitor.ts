import type { Page } from "playwright-core";
import type { VisitOptions } from "./open-context.ts";
import type { PagePool, PooledPage } from "./page-pool.ts";
import type { RunningDashboard } from "./running-dashboard.ts";

export interface Visitor extends Omit<RunningDashboard, "stop"> {
  /** Opens a page in a browser context of its own, signed in as the owner unless told otherwise. */
  visit(path: string, options?: VisitOptions): Promise<Page>;
  /** Allows console errors that belong to the test, such as that of a rejected request. */
  expectErrors(pattern: RegExp): void;
}

/** Runs a test, and fails it if one of its pages did something forbidden. */
export async function runWithVisitor(
  running: RunningDashboard,
  pool: PagePool,
  body: (visitor: Visitor) => Promise<void>,
): Promise<void> {
  const opened: PooledPage[] = [];
  const expected: RegExp[] = [];
  const problems = () => opened.flatMap((visited) => visited.problems);

  async function visit(path: string, options: VisitOptions = {}): Promise<Page> {
    const visited = await pool.visit(path, options);
    opened.push(visited);
    return visited.page;
  }

  let reported: string[] = [];
  try {
    await body({ ...running, visit, expectErrors: (pattern) => expected.push(pattern) });
    await Promise.all(opened.map(({ page }) => flushEvents(page)));
    reported = problems();
  } catch (error) {
    reported = problems();
    if (reported.length === 0) throw error;
    throw new Error(`The pages reported:\n${reported.join("\n")}`, { cause: error });
  } finally {
    await Promise.all(opened.map((visited) => pool.giveBack(visited)));
  }
  const unexpected = reported.filter((problem) => !expected.some((pattern) => pattern.test(problem)));
  if (unexpected.length > 0) throw new Error(`The pages reported:\n${unexpected.join("\n")}`);
}

/** Events of a page arrive in order, so a round trip waits for all earlier ones. */
async function flushEvents(visited: Page): Promise<void> {
  await Promise.all(
    visited
      .context()
      .pages()
      .map((page) => page.title()),
  );
}
