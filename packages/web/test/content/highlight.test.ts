import { expect } from "bun:test";
import { dashboardTests } from "../support/dashboard-tests.ts";

const { dashboardTest, slowBrowserTest, slowDashboardTest } = dashboardTests();
const attack = `<img src=x onerror="window.attacked=1">\u202e`;

dashboardTest("JSON of a model is coloured, and still only text", async ({ visit, client }) => {
  const [result] = await client.results.importBatch([
    {
      evaluator_id: "theirs",
      pass: true,
      evaluated_model_output: JSON.stringify({ [attack]: [attack, 1, null] }),
    },
  ]);
  const page = await visit(`/evaluations?result=${result?.id}`);
  const output = page.getByRole("dialog").getByRole("tabpanel", { name: "Output", exact: true });
  await page.getByRole("dialog").getByRole("tab", { name: "Output", exact: true }).click();
  await output.locator(".text-code-property", { hasText: "<img src=x onerror=" }).waitFor();
  await output.locator(".text-code-string", { hasText: "RLO" }).waitFor();
  await output.locator(".text-code-number", { hasText: "1" }).waitFor();
  expect(await output.locator("img").count()).toBe(0);
  expect(await page.evaluate(() => "attacked" in window)).toBe(false);
});

slowBrowserTest("A megabyte of JSON is coloured where it is seen", async ({ visit, client }) => {
  const rooms = Array.from({ length: 20_000 }, (_, index) => ({ room: `room ${index}`, doors: index % 4 }));
  const [result] = await client.results.importBatch([
    { evaluator_id: "theirs", pass: true, evaluated_model_output: JSON.stringify(rooms) },
  ]);
  const page = await visit(`/evaluations?result=${result?.id}`);
  await page.getByRole("dialog").getByRole("tab", { name: "Output", exact: true }).click();
  const output = page.getByRole("dialog").getByRole("tabpanel", { name: "Output", exact: true });
  await output.locator(".text-code-property").first().waitFor();
  await output.getByRole("button", { name: /^Show all/ }).click();
  await output.getByRole("region", { name: "Output" }).press("End");
  await output.locator(".text-code-string", { hasText: "room 19999" }).waitFor();
  expect(await output.locator("span").count()).toBeLessThan(2_000);
});

slowDashboardTest("Programs to copy are coloured in their language", async ({ visit }) => {
  const page = await visit("/playground");
  await page.getByRole("tab", { name: "Code" }).click();
  await page.getByRole("radio", { name: "Python", exact: true }).click();
  await page.locator("pre .text-code-keyword", { hasText: "import" }).first().waitFor();
});
