import { expect } from "bun:test";
import type { Locator } from "playwright-core";
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

dashboardTest("Names of taxonomies and their errors are readable on a phone", async ({ visit, client }) => {
  const name = "what our world model gets wrong in kitchens";
  const deep = "A thing is in two places at once";
  await client.errorTaxonomies.create({
    error_taxonomy_name: name,
    body: { State: { Objects: { Position: [deep, "A thing is nowhere"] } } },
  });
  const page = await visit("/error-taxonomies", { viewport: { width: 390, height: 844 } });
  const link = page.getByRole("link", { name });
  await link.waitFor();
  for (const row of await page.getByRole("rowheader").getByRole("link").all()) {
    expect(await readableWidth(row)).toBeGreaterThan(200);
  }
  await link.click();
  const leaf = page.getByText(deep);
  await leaf.waitFor();
  expect(await readableWidth(leaf)).toBeGreaterThan(170);
});

/** How wide the text's element is on the screen; 0 if part of the text is cut off. */
async function readableWidth(text: Locator): Promise<number> {
  return await text.evaluate((element) => {
    const { left, right } = element.getBoundingClientRect();
    const isCut = element.scrollWidth > element.clientWidth && element.clientWidth > 0;
    return isCut ? 0 : Math.min(right, innerWidth) - left;
  });
}
