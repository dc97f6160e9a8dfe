import { expect } from "bun:test";
import { examples } from "../../src/pages/playground/examples.ts";
import { readDraft } from "../../src/parts/playground-draft.ts";
import { dashboardTests } from "../support/dashboard-tests.ts";

/** There is no upstream, so the sandbox responds. */
const { dashboardTest } = dashboardTests();

dashboardTest(
  "The sandbox gives an example's gold answer, or the menu says that it needs a model",
  async (visitor) => {
    const page = await visitor.visit("/playground");
    await page.getByText("Sandbox", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Examples" }).click();
    for (const { name, draft } of examples) {
      const { response } = await visitor.client.predict(readDraft(draft).request);
      const item = page.getByRole("menuitem", { name });
      expect([name, (await item.textContent())?.includes("Needs a model")]).toEqual([
        name,
        response.content !== draft.goldAnswer,
      ]);
    }
    expect(examples.filter(({ needsModel }) => !needsModel).length).toBeGreaterThan(1);
  },
);

dashboardTest("Without a model, evaluators that need one cannot be chosen", async ({ visit }) => {
  const page = await visit("/playground");
  // The playground starts with the first example, and compares the response with its gold answer.
  await page.getByRole("button", { name: "Predict" }).click();
  await page.getByText("The same text as the gold answer.").waitFor();
  await page.getByRole("button", { name: /^Show \d+ more$/ }).click();
  const judge = page.getByRole("group", { name: "judge" });
  await judge.getByText("Needs a model").waitFor();
  expect(await judge.getByRole("checkbox").count()).toBeGreaterThan(0);
  expect(await judge.getByRole("checkbox", { disabled: false }).count()).toBe(0);
  const rule = page.getByRole("group", { name: "exact-match" });
  expect(await rule.getByRole("checkbox", { disabled: false }).count()).toBeGreaterThan(0);
});
