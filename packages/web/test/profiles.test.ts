import { expect } from "bun:test";
import { dashboardTests } from "./support/dashboard-tests.ts";

const dashboardTest = dashboardTests();

dashboardTest("A profile is created, revised, compared, tried and archived", async ({ visit, client }) => {
  const page = await visit("/evaluators");
  await page.getByRole("button", { name: "New profile of rouge-l" }).click();
  const form = page.getByRole("dialog", { name: "New profile of rouge-l" });
  await form.getByRole("textbox", { name: "Name" }).fill("near enough");
  await form.getByRole("textbox", { name: "Threshold" }).fill("0.9");
  await form.getByRole("button", { name: "Create profile" }).click();

  await page.getByRole("heading", { name: "near enough", level: 1 }).waitFor();
  await page.getByRole("button", { name: "Revise" }).click();
  const revising = page.getByRole("dialog");
  await revising.getByText("No changes yet.").waitFor();
  expect(await revising.getByRole("button", { name: "Save as revision 2" }).isDisabled()).toBe(true);
  await revising.getByRole("textbox", { name: "Threshold" }).fill("0.5");
  await revising.getByRole("button", { name: "Save as revision 2" }).click();
  await revising.waitFor({ state: "hidden" });
  const [profile] = await client.profiles.list({ name: "near enough", get_last_revision: true });
  expect(profile).toMatchObject({ revision: 2, config: { threshold: 0.5 } });

  await page.getByRole("deletion").getByText("0.9").waitFor();
  await page.getByRole("insertion").getByText("0.5").waitFor();
  await page.getByRole("combobox", { name: "From revision" }).selectOption("2 · newest");
  await page.getByText("Revision 2 and revision 2 are the same.").waitFor();

  await page.getByRole("textbox", { name: "Output" }).fill("the door is open");
  await page.getByRole("textbox", { name: "Gold answer" }).fill("the door is wide open");
  await page.getByRole("button", { name: "Evaluate" }).click();
  const result = page.getByRole("region", { name: "Result", exact: true });
  await result.getByText("Pass", { exact: true }).waitFor();
  expect(await client.results.search({ app: "default" })).toEqual([]);

  await page.getByRole("button", { name: "Archive" }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: "Archive profile" }).click();
  await page.getByRole("button", { name: "Revise" }).waitFor({ state: "hidden" });
  const archived = await client.profiles.list({ name: "near enough", include_archived: true });
  expect(archived.every(({ archived_at }) => archived_at !== null)).toBe(true);
  await page.goto(new URL("/evaluators", page.url()).href);
  await page.getByRole("button", { name: "New profile of rouge-l" }).waitFor();
  expect(await page.getByRole("link", { name: "near enough" }).count()).toBe(0);
  await page.getByRole("switch", { name: "Archived profiles" }).click();
  await page.getByRole("link", { name: "near enough" }).waitFor();
});

dashboardTest("A rejected config is reported at its field, and the input stays", async (visitor) => {
  const { visit, client, expectErrors } = visitor;
  await client.profiles.create({ evaluator_family: "rouge-l", name: "taken", config: {} });
  const page = await visit("/evaluators");
  await page.getByRole("button", { name: "New profile of rouge-l" }).click();
  const form = page.getByRole("dialog");
  const name = form.getByRole("textbox", { name: "Name" });
  const threshold = form.getByRole("textbox", { name: "Threshold" });
  await name.fill("taken");
  await threshold.fill("7");
  expectErrors(/status of (409|422)/);
  await form.getByRole("button", { name: "Create profile" }).click();
  await form.getByRole("alert").getByText("less than or equal to 1").waitFor();
  expect(await threshold.getAttribute("aria-invalid")).toBe("true");

  await threshold.fill("0.7");
  await form.getByRole("button", { name: "Create profile" }).click();
  await form.getByRole("alert").filter({ hasText: "name" }).waitFor();
  expect([await name.inputValue(), await threshold.inputValue()]).toEqual(["taken", "0.7"]);

  // Closing the form or reloading the page loses nothing.
  await page.reload();
  await page.getByRole("button", { name: "New profile of rouge-l" }).click();
  expect([await name.inputValue(), await threshold.inputValue()]).toEqual(["taken", "0.7"]);
});
