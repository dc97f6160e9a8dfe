import { afterAll } from "bun:test";
import type { Page } from "playwright-core";
import { openContext, type VisitOptions } from "./open-context.ts";
import type { Visitor } from "./run-with-visitor.ts";

/**
 * One page for the tests of a file that change nothing and only look. They follow each other without loading the dashboard again, which
 * is half of what opening a page costs; a test that failed leaves nothing to the next one.
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
      // Events of a page arrive in order, so a round trip waits for all earlier ones.
      await page.title();
      isDone = true;
    } finally {
      if (!isDone || problems.length > 0) {
        opened = undefined;
        await page.context().close();
      }
      // Takes the place of the error, of which it is the cause.
      // biome-ignore lint/correctness/noUnsafeFinally: nothing is returned.
      if (problems.length > 0) throw new Error(`The pages reported:\n${problems.splice(0).join("\n")}`);
    }
  };
}

/** Goes on as a link of the dashboard does, without loading it again; what is there already stays. */
export async function follow(page: Page, url: string): Promise<void> {
  if (page.url() === url) return;
  const isLoaded = new URL(page.url()).origin === new URL(url).origin;
  if (isLoaded) await page.evaluate((href) => history.pushState({}, "", href), url);
  else await page.goto(url);
}
