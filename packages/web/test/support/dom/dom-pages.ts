import type { Page } from "../page.ts";
import type { Pages } from "../run-with-visitor.ts";
import type { RunningDashboard } from "../running-dashboard.ts";
import { openDomPage } from "./dom-page.ts";

/** The options of a visit that happy-dom supports; it never has motion. */
const known = new Set(["viewport", "colorScheme", "reducedMotion"]);
const usualViewport = { width: 1280, height: 720 };

/** The pages of a file's tests in happy-dom. */
export function domPages({ presage, cookies }: RunningDashboard): Pages<Page> {
  return {
    async visit(path, { isSignedIn = true, ...options }) {
      const unknown = Object.keys(options).filter((option) => !known.has(option));
      if (unknown.length > 0) throw new Error(`Only a browser has ${unknown.join(", ")}.`);
      const problems: string[] = [];
      const page = openDomPage({
        origin: presage.url,
        cookies: new Map(isSignedIn ? cookies.map(({ name, value }) => [name, value]) : []),
        report: (problem) => problems.push(problem),
        viewport: options.viewport ?? usualViewport,
        colorScheme: options.colorScheme === "dark" ? "dark" : "light",
      });
      await page.goto(path);
      return { page, problems };
    },
    async flush() {},
    async giveBack({ page }) {
      await page.close();
    },
    async close() {},
  };
}
