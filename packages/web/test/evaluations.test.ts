import { expect } from "bun:test";
import type { Presage } from "@presage/sdk";
import type { Page } from "playwright-core";
import { dashboardTests } from "./support/dashboard-tests.ts";
import { resultTexts, showsResults } from "./support/result-rows.ts";

const dashboardTest = dashboardTests();

/** Evaluates outputs that pass if they are “yes”. Each test uses its own app. */
async function evaluate(client: Presage, app: string, outputs: readonly string[]): Promise<string[]> {
  const ids: string[] = [];
  for (const output of outputs) {
    const [item] = await client.evaluate({
      evaluators: [{ evaluator: "exact-match" }],
      evaluated_model_output: output,
      evaluated_model_gold_answer: "yes",
      app,
    });
    ids.push(item?.evaluation_result?.id ?? "");
  }
  return ids;
}

dashboardTest("A filtered view is shared by its address", async ({ visit, client }) => {
  await evaluate(client, "shop", ["yes", "no", "never"]);
  await evaluate(client, "kitchen", ["no, not there"]);
  const page = await visit("/evaluations");
  await showsResults(page, 4);
  await page.getByRole("combobox", { name: "App" }).selectOption("shop");
  await page.getByRole("combobox", { name: "Verdict" }).selectOption("Fail");
  await showsResults(page, 2);
  expect(await resultTexts(page)).toEqual([expect.stringContaining("never"), expect.stringContaining("no")]);
  const { pathname, search } = new URL(page.url());
  expect(search).toBe("?app=shop&verdict=fail");

  const elsewhere = await visit(pathname + search);
  await showsResults(elsewhere, 2);
  expect(await resultTexts(elsewhere)).toEqual(await resultTexts(page));
  await elsewhere.getByRole("button", { name: /^Remove the filter App/ }).click();
  await showsResults(elsewhere, 3);
  await elsewhere.goBack();
  await showsResults(elsewhere, 2);
});

dashboardTest("Results are browsed by keyboard and corrected", async ({ visit, client }) => {
  const [first = "", second = "", third = ""] = await evaluate(client, "keys", ["one", "two", "three"]);
  const page = await visit("/evaluations?app=keys");
  const drawer = (id: string) => page.getByRole("dialog", { name: `Result ${id}` });
  await page.getByRole("link", { name: `Result ${third}:` }).press("Enter");
  await drawer(third).waitFor();
  await page.keyboard.press("j");
  await drawer(second).waitFor();
  await page.keyboard.press("j");
  await drawer(first).waitFor();
  await page.keyboard.press("k");
  await drawer(second).waitFor();

  await drawer(second).getByRole("button", { name: "Mark as pass" }).click();
  // Typed letters are not taken as shortcuts.
  await drawer(second).getByRole("textbox", { name: "Comment" }).pressSequentially("just so");
  await drawer(second).getByRole("button", { name: "Save correction" }).click();
  await drawer(second).getByText("A person marked this as a pass").waitFor();
  const corrected = await client.results.get(second);
  expect(corrected).toMatchObject({ pass: false, correction: { pass: true, comment: "just so" } });

  await page.keyboard.press("Escape");
  await drawer(second).waitFor({ state: "hidden" });
  const row = page.getByRole("link", { name: `Result ${second}:` });
  expect(await row.evaluate((link) => link === document.activeElement)).toBe(true);
  expect(new URL(page.url()).search).toBe("?app=keys");
});

dashboardTest("Evaluations without a verdict are separate from fails", async ({ visit, client }) => {
  await evaluate(client, "apart", ["no"]);
  await client.evaluate({
    evaluators: [{ evaluator: "judge", profile_name: "system:is-concise" }],
    evaluated_model_output: "No model judges this.",
    app: "apart",
  });
  const page = await visit("/evaluations?app=apart");
  await showsResults(page, 1);
  expect(await resultTexts(page)).toEqual([expect.stringContaining("Fail")]);
  await page.getByRole("link", { name: "1 ended in an error" }).click();
  await showsResults(page, 1);
  await page.getByRole("row").getByText("No verdict").waitFor();
  expect(await resultTexts(page)).toEqual([expect.stringContaining("needs_model")]);
  await page.getByRole("link", { name: /^Result \d+: No verdict/ }).click();
  const drawer = page.getByRole("dialog");
  await drawer.getByText("It counts neither as a pass nor as a fail.").waitFor();
  expect(await drawer.getByText("Fail", { exact: true }).count()).toBe(0);
});

dashboardTest("An export has the results of the view", async ({ visit, client }) => {
  await evaluate(client, "export", ["yes", "no", "no, not that"]);
  const page = await visit("/evaluations?app=export&verdict=fail");
  await showsResults(page, 2);
  const lines = (await download(page, "JSON Lines"))
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(lines.map((line) => [line.app, line.pass, line.evaluated_model_output])).toEqual([
    ["export", false, "no, not that"],
    ["export", false, "no"],
  ]);
  const csv = await download(page, "CSV");
  expect(csv.trim().split(/\r?\n/)).toHaveLength(3);
  expect(csv).toContain('"no, not that"');
});

dashboardTest("Of 1,000 results at most 200 rows are rendered", async ({ visit, client }) => {
  await client.results.importBatch(
    Array.from({ length: 1000 }, (_, index) => ({
      evaluator_id: "elsewhere",
      pass: index % 2 === 0,
      evaluated_model_output: `output ${index}`,
      app: "many",
    })),
  );
  const page = await visit("/evaluations?app=many");
  await page.getByText("output 999", { exact: true }).waitFor();
  const end = page.getByText("All 1,000 results loaded.");
  let most = 0;
  while (!(await end.isVisible())) {
    await page.getByRole("table").hover();
    await page.mouse.wheel(0, 20_000);
    most = Math.max(most, await page.getByRole("row").count());
  }
  await page.getByText("output 0", { exact: true }).waitFor();
  expect(most).toBeGreaterThan(10);
  expect(Math.max(most, await page.getByRole("row").count())).toBeLessThanOrEqual(200);
});

async function download(page: Page, format: string): Promise<string> {
  await page.getByRole("button", { name: "Export", exact: true }).click();
  const downloading = page.waitForEvent("download");
  await page.getByRole("menuitem", { name: format }).click();
  return await Bun.file(await (await downloading).path()).text();
}
