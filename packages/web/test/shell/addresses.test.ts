import { expect } from "bun:test";
import { dashboardTests } from "../support/dashboard-tests.ts";

const { dashboardTest, slowDashboardTest } = dashboardTests();

const addresses = [
  ["/?period=yesterday", "Overview"],
  ["/usage?period=7&period=8", "People & spend"],
  ["/datasets?sort=+&columns=a+b", "Datasets"],
  ["/environments?sort=+", "Environments"],
  ["/environments/sandbox?tab=x&split=all&index=-1&status=done&by=x&revision=0&before=a", "sandbox"],
  ["/environments/sandbox/play?split=all&index=x&episode=1", "Play sandbox"],
  ["/evaluators?q=true&archived=9", "Evaluators"],
  ["/evaluators?q=one&q=other", "Evaluators"],
  ["/evaluations?verdict=perhaps&min_score=9&since=never", "Evaluations"],
  ["/evaluations?tag=nonsense&order=up&result=x&after=y", "Evaluations"],
  ["/compare?runs=a&direction=up&open=x", "Compare"],
  ["/predictions?source=x&period=1y&category=no&status=9", "Predictions"],
  ["/review?drawn=x&result=x&revision=0", "Review"],
  ["/runs?status=done&mode=1&selected=x&sort=%20", "Runs"],
  ["/runs/new?dataset=none&revision=0", "New run"],
] as const;

dashboardTest("The log's address leads to its predictions, with what was searched for", async ({ visit }) => {
  const page = await visit("/log?status=failed&period=7d");
  await page.getByRole("heading", { name: "Predictions", level: 1 }).waitFor();
  expect(new URL(page.url()).pathname + new URL(page.url()).search).toBe(
    "/predictions?status=failed&period=7d",
  );
});

slowDashboardTest("Invalid search parameters are ignored", async ({ visit }) => {
  for (const [address, title] of addresses) {
    const page = await visit(address);
    await page.getByRole("heading", { name: title, level: 1 }).waitFor();
    await page.waitForLoadState("networkidle");
    // The page neither crashes nor shows a rejected request.
    await page.getByRole("alert").waitFor({ state: "detached" });
    await page.close();
  }
});
