import { expect } from "bun:test";
import { dashboardTests } from "./support/dashboard-tests.ts";

const dashboardTest = dashboardTests();

dashboardTest("A taxonomy is created, its label set, moved and removed", async ({ visit, client }) => {
  const labelsOf = async () => {
    const revisions = await client.errorTaxonomies.list({ name: "slips" });
    return Object.fromEntries(revisions.map(({ revision, labels }) => [revision, labels]));
  };
  const page = await visit("/error-taxonomies");
  await page.getByRole("button", { name: "New taxonomy" }).first().click();
  const form = page.getByRole("dialog", { name: "New taxonomy" });
  await form.getByRole("textbox", { name: "Name" }).fill("slips");
  await form
    .getByRole("textbox", { name: "Outline" })
    .fill("State\n  Forgets a change\n  Invents an object\nForm");
  await form.getByRole("region", { name: "Preview of the tree" }).getByText("Invents an object").waitFor();
  await form.getByRole("button", { name: "Create taxonomy" }).click();
  await page.getByRole("heading", { name: "slips", level: 1 }).waitFor();
  await page.getByRole("heading", { name: "3 kinds of error" }).waitFor();

  const label = page
    .getByRole("textbox", { name: "Label" })
    .or(page.getByRole("combobox", { name: "Label" }));
  await page.getByRole("button", { name: "Set label" }).click();
  await label.fill("production");
  await page.getByRole("dialog").getByRole("button", { name: "Set label" }).click();
  const remove = page.getByRole("button", { name: "Remove the label production" });
  await remove.waitFor();
  expect(await labelsOf()).toEqual({ 1: ["production"] });

  await page.getByRole("button", { name: "New revision" }).click();
  const revising = page.getByRole("dialog", { name: "New revision of slips" });
  await revising
    .getByRole("textbox", { name: "Outline" })
    .fill("State\n  Forgets a change\n  Wrong room\nForm");
  await revising.getByRole("button", { name: "Save as new revision" }).click();
  await page.getByRole("heading", { name: "What changed from 1 to 2" }).waitFor();
  await page.getByText("Wrong room").first().waitFor();
  await remove.waitFor({ state: "hidden" });

  await page.getByRole("button", { name: "Set label" }).click();
  await label.fill("production");
  await page.getByText("Revision 1 has “production” now.").waitFor();
  await page.getByRole("button", { name: "Move label" }).click();
  await remove.waitFor();
  expect(await labelsOf()).toEqual({ 1: [], 2: ["production"] });

  await remove.click();
  await page.getByRole("alertdialog").getByRole("button", { name: "Remove label" }).click();
  await remove.waitFor({ state: "hidden" });
  expect(await labelsOf()).toEqual({ 1: [], 2: [] });
});

dashboardTest("A built-in taxonomy cannot be changed, but can be copied", async ({ visit, client }) => {
  const page = await visit("/error-taxonomies");
  await page.getByRole("link", { name: "system:agent-errors" }).click();
  await page.getByRole("heading", { name: "system:agent-errors", level: 1 }).waitFor();
  expect(await page.getByRole("button", { name: "New revision" }).count()).toBe(0);
  expect(await page.getByRole("button", { name: "Set label" }).count()).toBe(0);
  await page.getByRole("button", { name: "Copy", exact: true }).click();
  const form = page.getByRole("dialog", { name: "Copy system:agent-errors" });
  await form.getByRole("textbox", { name: "Name" }).fill("our agent errors");
  await form.getByRole("button", { name: "Create taxonomy" }).click();
  await page.getByRole("heading", { name: "our agent errors", level: 1 }).waitFor();
  const [copy] = await client.errorTaxonomies.list({ name: "our agent errors" });
  const [original] = await client.errorTaxonomies.list({ name: "system:agent-errors" });
  expect(copy?.revision).toBe(1);
  expect<unknown>(copy?.body).toEqual(original?.body);
});
