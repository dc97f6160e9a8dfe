import { expect } from "bun:test";
import { dashboardTests } from "../support/dashboard-tests.ts";
import { fillDashboard } from "../support/fill-dashboard.ts";

/** The compressed size of all scripts. */
const maxBytes = 200_000;
/** One of the scripts sets the theme before anything is painted. */
const maxScripts = 5;

const { browserTest } = dashboardTests();

browserTest(
  "A cold page loads few scripts, small ones and all at once, whichever it is",
  async ({ visit, client }) => {
    const { run, other } = await fillDashboard(client);
    for (const path of [
      "/",
      "/playground",
      "/worlds",
      "/runs",
      `/runs/${run}`,
      "/runs/new",
      "/datasets",
      "/evaluations",
      "/predictions",
      "/evaluators",
      "/usage",
      `/compare?runs=${run},${other}`,
      "/environments/sandbox",
      "/error-taxonomies",
      "/review",
      "/api-keys",
      "/account",
    ]) {
      const page = await visit(path);
      await page.getByRole("heading", { level: 1 }).waitFor();
      await page.waitForLoadState("networkidle");
      const scripts = await page.evaluate(() =>
        performance
          .getEntriesByType("resource")
          .filter((entry) => entry instanceof PerformanceResourceTiming)
          .filter(({ name }) => name.endsWith(".js"))
          .map(({ encodedBodySize }) => encodedBodySize),
      );
      const announced = await page.locator("head :is(script[src], link[rel=modulepreload])").count();
      const bytes = scripts.reduce((sum, size) => sum + size, 0);
      await page.close();
      expect(bytes).toBeGreaterThan(50_000);
      expect(bytes).toBeLessThan(maxBytes);
      expect(scripts.length).toBeLessThanOrEqual(maxScripts);
      // No script is discovered only after another has been loaded.
      expect(announced).toBe(scripts.length);
    }
  },
);
