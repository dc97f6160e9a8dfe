import { expect } from "bun:test";
import { eventually } from "../../../server/test/support/eventually.ts";
import { dashboardTests } from "../support/dashboard-tests.ts";
import { resultTexts, showsResults } from "../support/result-rows.ts";

const { dashboardTest, slowDashboardTest } = dashboardTests();

dashboardTest(
  "Filters offer the values there are, with how many results each would leave",
  async ({ visit, client }) => {
    const result = (app: string, evaluator_id: string, pass: boolean) => ({ app, evaluator_id, pass });
    await client.results.importBatch([
      { ...result("shop", "strict", true), evaluation_run_id: "nightly", tags: { room: "hall" } },
      { ...result("shop", "strict", false), tags: { room: "hall" } },
      { ...result("shop", "kind", true), tags: { room: "cellar" } },
      result("garden", "kind", true),
    ]);
    const page = await visit("/evaluations?view=verdicts");
    await showsResults(page, 4);
    await page.getByRole("button", { name: "Filters" }).click();
    const filters = page.getByRole("dialog", { name: "Filters" });
    const offered = async (name: string, expected: string[]) => {
      const options = page.getByRole("combobox", { name, exact: true }).locator("option");
      const found = await eventually(
        () => options.allInnerTexts(),
        (texts) => texts.join() === expected.join(),
      );
      expect(found).toEqual(expected);
    };
    await offered("App", ["Any app", "shop · 3", "garden · 1"]);
    await offered("Evaluator", ["Any evaluator", "external:kind · 2", "external:strict · 2"]);
    await page.getByRole("combobox", { name: "App", exact: true }).selectOption("shop");
    await showsResults(page, 3);
    // Choosing a filter narrows the options of the others, not its own.
    await offered("Evaluator", ["Any evaluator", "external:strict · 2", "external:kind · 1"]);
    await offered("App", ["Any app", "shop · 3", "garden · 1"]);

    await page.keyboard.press("Escape");
    await filters.waitFor({ state: "hidden" });
    await page.getByRole("combobox", { name: "Period", exact: true }).selectOption("The last 7 days");
    await page.waitForURL(/since=/);
    await showsResults(page, 3);
    await page.getByRole("button", { name: "Filters" }).click();
    const suggested = async (name: string, value: string) => {
      const input = filters.getByRole("combobox", { name, exact: true });
      const list = page.locator(`datalist[id="${await input.getAttribute("list")}"]`);
      await list.locator(`option[value="${value}"]`).waitFor({ state: "attached" });
      return await list
        .locator("option")
        .evaluateAll((options: HTMLOptionElement[]) => options.map(({ value, label }) => [value, label]));
    };
    expect(await suggested("Run ID", "nightly")).toEqual([["nightly", "nightly · 1"]]);
    await offered("Run", ["Any run", "nightly · 1"]);
    await suggested("Tags", "room=");
    await filters.getByRole("combobox", { name: "Tags", exact: true }).fill("room=");
    expect(await suggested("Tags", "room=hall")).toEqual([
      ["room=hall", "hall · 2"],
      ["room=cellar", "cellar · 1"],
    ]);
    await filters.getByRole("combobox", { name: "Tags", exact: true }).fill("room=cellar");
    await page.keyboard.press("Enter");
    await showsResults(page, 1);

    // Text that was typed just before the filters close still applies.
    await filters.getByRole("textbox", { name: "Sample", exact: true }).fill("none");
    await page.keyboard.press("Escape");
    await page.waitForURL(/sample=none/);
    await page.getByText("No results match").waitFor();
  },
);

slowDashboardTest("A view is saved under a name, opened again and deleted", async ({ visit, client }) => {
  await client.results.importBatch([
    { app: "saved", evaluator_id: "theirs", pass: false, evaluated_model_output: "one" },
    { app: "saved", evaluator_id: "theirs", pass: true, evaluated_model_output: "two" },
  ]);
  const page = await visit("/evaluations?app=saved&verdict=fail&columns=verdict,output");
  await showsResults(page, 1);
  await page.getByRole("button", { name: "Saved views" }).click();
  const views = page.getByRole("dialog", { name: "Saved views" });
  await views.getByRole("textbox", { name: "Save this view as" }).fill("what fails");
  await page.keyboard.press("Enter");
  await views.getByRole("link", { name: "what fails" }).waitFor();

  // Another tab saves a view, too.
  await page.evaluate(() => {
    const view = { name: "of another tab", search: "?app=other" };
    localStorage.setItem("presage-views-evaluations", JSON.stringify([view]));
  });
  await views.getByRole("textbox", { name: "Save this view as" }).fill("what fails");
  await page.keyboard.press("Enter");
  await views.getByRole("link", { name: "of another tab" }).waitFor();
  await views.getByRole("button", { name: "Delete the view of another tab" }).click();

  await page.goto(new URL("/evaluations?app=saved", page.url()).href);
  await showsResults(page, 2);
  await page.getByRole("button", { name: "Saved views" }).click();
  await views.getByRole("link", { name: "what fails" }).press("Enter");
  await showsResults(page, 1);
  expect(await resultTexts(page)).toEqual([expect.stringContaining("one")]);
  expect(Object.fromEntries(new URL(page.url()).searchParams)).toEqual({
    app: "saved",
    verdict: "fail",
    columns: "verdict,output",
    sort: "-",
  });
  await views.getByRole("button", { name: "Delete the view what fails" }).click();
  await views.getByText("Save the filters").waitFor();
  expect(await page.evaluate(() => localStorage.getItem("presage-views-evaluations"))).toBe("[]");
});
