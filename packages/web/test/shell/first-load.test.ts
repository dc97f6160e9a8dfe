import { expect } from "bun:test";
import { dashboardTests } from "../support/dashboard-tests.ts";
import { fillDashboard } from "../support/fill-dashboard.ts";

/** Compressed. */
const maxBytes = 225_000;
/** One of them sets the theme before anything is painted. */
const maxScripts = 10;

const { browserTest } = dashboardTests();

browserTest("A cold page loads few scripts, and small ones, whichever it is", async ({ visit, client }) => {
  const { run } = await fillDashboard(client);
  for (const path of [
    "/",
    "/playground",
    "/worlds",
    "/runs",
    `/runs/${run}`,
    "/datasets",
    "/evaluations",
    "/predictions",
    "/evaluators",
    "/usage",
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
    const bytes = scripts.reduce((sum, size) => sum + size, 0);
    await page.close();
    expect(bytes).toBeGreaterThan(50_000);
    expect(bytes).toBeLessThan(maxBytes);
    expect(scripts.length).toBeLessThanOrEqual(maxScripts);
  }
});
