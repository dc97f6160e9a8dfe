import type { VisitOptions } from "./open-context.ts";
import type { RunningDashboard } from "./running-dashboard.ts";

export interface Visitor<Page> extends Omit<RunningDashboard, "stop"> {
  /** Opens a page that shares nothing with others, signed in as the owner unless told otherwise. */
  visit(path: string, options?: VisitOptions): Promise<Page>;
  /** Allows expected console errors, such as that of a rejected request. */
  expectErrors(pattern: RegExp): void;
}

/** A page of a test. */
export interface Visited<Page> {
  page: Page;
  /** Forbidden things that the page has done. */
  problems: string[];
}

/** The source of pages for the tests of a file. */
export interface Pages<Page, Taken extends Visited<Page> = Visited<Page>> {
  /** Opens a path in a page without traces of earlier tests; only the server's files may be cached. */
  visit(path: string, options: VisitOptions): Promise<Taken>;
  /** Waits until the pages have reported all problems. */
  flush(taken: Taken): Promise<void>;
  /** Removes what a test left behind, so that another test can use the page. */
  giveBack(taken: Taken): Promise<void>;
  close(): Promise<void>;
}

/** Runs a test, and fails it if one of its pages did anything forbidden. */
export async function runWithVisitor<Page, Taken extends Visited<Page>>(
  running: RunningDashboard,
  pages: Pages<Page, Taken>,
  body: (visitor: Visitor<Page>) => Promise<void>,
): Promise<void> {
  const opened: Taken[] = [];
  const expected: RegExp[] = [];
  const problems = () => opened.flatMap((visited) => visited.problems);

  async function visit(path: string, options: VisitOptions = {}): Promise<Page> {
    const visited = await pages.visit(path, options);
    opened.push(visited);
    return visited.page;
  }

  let reported: string[] = [];
  try {
    await body({ ...running, visit, expectErrors: (pattern) => expected.push(pattern) });
    await Promise.all(opened.map((visited) => pages.flush(visited)));
    reported = problems();
  } catch (error) {
    reported = problems();
    if (reported.length === 0) throw error;
    throw new Error(`The pages reported:\n${reported.join("\n")}`, { cause: error });
  } finally {
    await Promise.all(opened.map((visited) => pages.giveBack(visited)));
  }
  const unexpected = reported.filter((problem) => !expected.some((pattern) => pattern.test(problem)));
  if (unexpected.length > 0) throw new Error(`The pages reported:\n${unexpected.join("\n")}`);
}
