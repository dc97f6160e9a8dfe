import { expect } from "bun:test";
import { dashboardTests } from "../support/dashboard-tests.ts";

const maxBytes = 200_000;

const { browserTest } = dashboardTests();

browserTest("All scripts of the first page are small, with its first steps", async ({ visit, client }) => {
  // An empty account has nothing but the first steps.
  await client.results.importBatch([{ evaluator_id: "theirs", pass: true }]);
  const page = await visit("/");
  await page.getByRole("heading", { name: "Overview", level: 1 }).waitFor();
  await page.getByText("Can I train in it?").waitFor();
  await page.getByText("Get started").waitFor();
  await page.waitForLoadState("networkidle");
  const sizes = await page.evaluate(() =>
    performance
      .getEntriesByType("resource")
      .filter((entry) => entry instanceof PerformanceResourceTiming)
      .filter(({ name }) => name.endsWith(".js"))
      .map(({ encodedBodySize }) => encodedBodySize),
  );
  const bytes = sizes.reduce((sum, size) => sum + size, 0);
  expect(bytes).toBeGreaterThan(50_000);
  expect(bytes).toBeLessThan(maxBytes);
});
