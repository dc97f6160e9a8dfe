import type { BrowserContext, Page } from "playwright-core";
import { openContext, type VisitOptions } from "./open-context.ts";
import type { Pages, Visited } from "./run-with-visitor.ts";
import type { RunningDashboard } from "./running-dashboard.ts";

/** A page in its own browser context. */
interface PooledPage extends Visited<Page> {
  isReusable: boolean;
}

/** Options that can be changed for an open page. A visit with any other option gets a page that is not reused. */
const settable = ["viewport", "colorScheme", "reducedMotion"];
/** Events that tests listen to. */
const listened = ["console", "dialog", "load", "request"];
const usualViewport = { width: 1280, height: 720 };

/** Reuses pages for the tests of a file. Opening a page and loading all scripts anew is half of the cost of a visit. */
export function poolPages(dashboard: RunningDashboard): Pages<Page, PooledPage> {
  const contexts: BrowserContext[] = [];
  const free: PooledPage[] = [];

  async function open(options: VisitOptions, isReusable: boolean): Promise<PooledPage> {
    const problems: string[] = [];
    const context = await openContext(dashboard, problems, options);
    contexts.push(context);
    return { page: await context.newPage(), isReusable, problems };
  }

  async function reuse(options: VisitOptions): Promise<PooledPage> {
    const taken = free.pop() ?? (await open({}, true));
    await taken.page.setViewportSize(options.viewport ?? usualViewport);
    await taken.page.emulateMedia({ media: null, colorScheme: "light", reducedMotion: "reduce", ...options });
    return taken;
  }

  /** Visits an empty document of the server's origin, because only its own documents can clear its storage. */
  async function clean(page: Page): Promise<void> {
    const context = page.context();
    const empty = new URL("/empty", dashboard.presage.url).href;
    await Promise.all(context.pages().map((other) => (other === page ? undefined : other.close())));
    await context.setOffline(false);
    await context.clearPermissions();
    // Not all events, since the library itself listens to others.
    for (const event of listened) page.removeAllListeners(event);
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await page.route(empty, (route) =>
      route.fulfill({ contentType: "text/html", body: '<link rel="icon" href="data:,">' }),
    );
    await page.goto(empty);
    await page.evaluate(() => {
      localStorage.clear();
      sessionStorage.clear();
    });
    await context.clearCookies();
    await page.unrouteAll();
    await page.goto("about:blank");
    const session = await context.newCDPSession(page);
    await session.send("Page.resetNavigationHistory");
    await session.detach();
    await page.mouse.move(0, 0);
  }

  return {
    async visit(path, { isSignedIn = true, ...options }) {
      const isUsual = Object.keys(options).every((option) => settable.includes(option));
      const taken = isUsual ? await reuse(options) : await open(options, false);
      const { page } = taken;
      if (isSignedIn) await page.context().addCookies(dashboard.cookies);
      await page.goto(new URL(path, dashboard.presage.url).href);
      return taken;
    },
    /** A page's events arrive in order, so a round trip waits for all earlier ones. */
    async flush({ page }) {
      await Promise.all(
        page
          .context()
          .pages()
          .map((one) => one.title()),
      );
    },
    async giveBack(taken) {
      const { page, isReusable, problems } = taken;
      const isClean =
        isReusable &&
        (await clean(page).then(
          () => true,
          () => false,
        ));
      if (!isClean) return await page.context().close();
      problems.length = 0;
      free.push(taken);
    },
    async close() {
      await Promise.all(contexts.map((context) => context.close()));
    },
  };
}
