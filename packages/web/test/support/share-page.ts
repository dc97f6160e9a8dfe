import { afterAll } from "bun:test";
import type { Page } from "playwright-core";
import { openContext, type VisitOptions } from "./open-context.ts";
import type { Visitor } from "./run-with-visitor.ts";

/**
 * One page for the tests of a file that change nothing and only look. A page in a context of its own has a process of its own, which
 * loads and compiles every script again: that is half of what opening a page costs.
 */
export function sharePage(options: VisitOptions) {
  let opened: Promise<Page> | undefined;
  const problems: string[] = [];
  afterAll(async () => {
    await (await opened)?.context().close();
  });

  async function open(visitor: Visitor<Page>): Promise<Page> {
    const context = await openContext(visitor, problems, options);
    await context.addCookies(visitor.cookies);
    return await context.newPage();
  }

  return async (visitor: Visitor<Page>, path: string, look: (page: Page) => Promise<void>): Promise<void> => {
    if (
      opened !== undefined &&
      (await opened.then(
        (page) => page.isClosed(),
        () => true,
      ))
    )
      opened = undefined;
    opened ??= open(visitor);
    const page = await opened;
    if (options.viewport) await page.setViewportSize(options.viewport);
    await page.emulateMedia({ colorScheme: options.colorScheme ?? "light" });
    try {
      await page.goto(new URL(path, visitor.presage.url).href);
      await look(page);
      // Events of a page arrive in order, so a round trip waits for all earlier ones.
      await page.title();
    } catch (error) {
      if (problems.length === 0) throw error;
      throw new Error(`The pages reported:\n${problems.splice(0).join("\n")}`, { cause: error });
    }
    if (problems.length > 0) throw new Error(`The pages reported:\n${problems.splice(0).join("\n")}`);
  };
}
