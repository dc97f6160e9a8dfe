import { afterAll } from "bun:test";
import type { Page } from "playwright-core";
import { openContext, type VisitOptions } from "./open-context.ts";
import type { Visitor } from "./run-with-visitor.ts";

/**
 * One page for those tests of a file that only look at it. They reuse the loaded dashboard, which saves half of the cost of
 * opening a page; after a failed test, the next one gets a new page.
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
    opened ??= open(visitor);
    const page = await opened;
    if (options.viewport) await page.setViewportSize(options.viewport);
    await page.emulateMedia({ colorScheme: options.colorScheme ?? "light" });
    let isDone = false;
    try {
      await follow(page, new URL(path, visitor.presage.url).href);
      await look(page);
      // A page's events arrive in order, so a round trip waits for all earlier ones.
      await page.title();
      isDone = true;
    } finally {
      if (!isDone || problems.length > 0) {
        opened = undefined;
        await page.context().close();
      }
      // Replaces the original error, which the reported problems caused.
      // biome-ignore lint/correctness/noUnsafeFinally: nothing is returned.
      if (problems.length > 0) throw new Error(`The pages reported:\n${problems.splice(0).join("\n")}`);
    }
  };
}

/** Navigates as a link of the dashboard does, without loading the dashboard again. */
export async function follow(page: Page, url: string): Promise<void> {
  if (page.url() === url) return;
  const isLoaded = new URL(page.url()).origin === new URL(url).origin;
  if (isLoaded) await page.evaluate((href) => history.pushState({}, "", href), url);
  else await page.goto(url);
}
