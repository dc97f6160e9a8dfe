import { expect } from "bun:test";
import { eventually } from "../../server/test/support/eventually.ts";
import { openStore } from "../../server/test/support/store/open-store.ts";
import { storeResults } from "../../server/test/support/store/store-results.ts";
import { dashboardTests } from "./support/dashboard-tests.ts";

const dashboardTest = dashboardTests();

const comparison = "compared with the previous 7 days";

dashboardTest("The overview says that it compares once there is an earlier period", async (visitor) => {
  const { visit, client, databaseUrl } = visitor;
  await client.results.importBatch([{ evaluator_id: "theirs", pass: true }]);
  const page = await visit("/");
  await page.getByRole("row").filter({ hasText: "external:theirs" }).waitFor();
  expect(await page.getByText(comparison).count()).toBe(0);

  const tenDaysAgo = (Date.now() - 10 * 86_400_000) * 1000;
  await using store = await openStore(databaseUrl);
  await storeResults(store.database, store.owner.account_id, [
    { evaluatorId: "earlier", createdAt: tenDaysAgo },
  ]);
  await page.reload();
  await page.getByText(comparison).waitFor();
});

dashboardTest("Latencies of a single day are figures, not a chart of one dot", async ({ visit, client }) => {
  await client.predict({ interaction: { state: "The door is closed.", action: "open door" } });
  const now = Date.now();
  const period = {
    since: new Date(now - 86_400_000).toISOString(),
    until: new Date(now + 60_000).toISOString(),
  };
  await eventually(
    () => client.usage.list(period),
    ({ data }) => data.length > 0,
    20_000,
  );
  const page = await visit("/");
  await page.getByText("All predictions of this period were made in one day.").first().waitFor();
  expect(await page.getByRole("figure", { name: "Latency" }).count()).toBe(0);
});
