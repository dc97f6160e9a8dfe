import { expect } from "bun:test";
import { dashboardTests } from "../support/dashboard-tests.ts";

const { dashboardTest, slowDashboardTest } = dashboardTests();

dashboardTest(
  "An empty Presage loads an example with one click, and removes it with one",
  async ({ visit, client }) => {
    const page = await visit("/");
    await page.getByRole("button", { name: "Open the example" }).click();
    // Leads to the comparison of the example's runs.
    const said = page.getByRole("list", { name: "What the comparison says" });
    await said
      .getByText(/^Example: sandbox without memory is better than Example: no change on exact-match by \d/)
      .waitFor({ timeout: 120_000 });
    expect((await client.runs.list()).map(({ status }) => status)).toEqual(["finished", "finished"]);

    await page.getByRole("link", { name: "Datasets" }).click();
    await page.getByRole("region", { name: "The example" }).waitFor();
    await page.getByRole("link", { name: "Overview" }).click();
    await page.getByRole("link", { name: "Compare the example’s runs" }).waitFor();
    const figures = page
      .getByRole("region", { name: "Latest runs" })
      .getByRole("row")
      .filter({ hasText: "Example: sandbox without memory" });
    await figures.getByText("%").first().waitFor();
    await page.getByRole("button", { name: "Remove the example" }).click();
    await page.getByRole("button", { name: "Open the example" }).waitFor();
    expect(await client.datasets.list()).toEqual([]);
    expect(await client.runs.list()).toEqual([]);
  },
);

slowDashboardTest("Who asked the sandbox first still has the other ways in", async ({ visit, client }) => {
  const page = await visit("/");
  // The command is shown as a shell in a clone finds it.
  await page.getByText("npx presage import traces/*.json --name mine").waitFor();
  await page.getByRole("link", { name: "Ask the sandbox meanwhile" }).click();
  await page.getByRole("button", { name: "Predict", exact: true }).click();
  await page.getByRole("region", { name: "Response 1" }).waitFor();
  await client.evaluate({
    evaluators: [{ evaluator: "exact-match" }],
    evaluated_model_output: "open",
    evaluated_model_gold_answer: "open",
  });
  await page.getByRole("link", { name: "Overview" }).click();
  await page.getByRole("link", { name: "Import traces" }).waitFor();
  await page.getByRole("button", { name: "Open the example" }).waitFor();
});
