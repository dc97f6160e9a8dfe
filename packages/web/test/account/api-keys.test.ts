import { expect } from "bun:test";
import { createPresage } from "@presage/sdk";
import { dashboardTests } from "../support/dashboard-tests.ts";

const { browserTest, dashboardTest, slowBrowserTest } = dashboardTests();

browserTest("A key is created, used, and rejected once it is revoked", async ({ visit, presage }) => {
  const page = await visit("/api-keys");
  await page.getByRole("button", { name: "Create key" }).click();
  const form = page.getByRole("dialog", { name: "Create key" });
  await form.getByRole("textbox", { name: "Name" }).fill("training cluster");
  await form.getByRole("textbox", { name: "Requests per minute" }).fill("600");
  await form.getByRole("button", { name: "Create key" }).click();

  const shown = page.getByRole("alertdialog", { name: "New key “training cluster”" });
  const apiKey = await shown.getByRole("textbox", { name: "Key" }).inputValue();
  expect(apiKey).toMatch(/^psg_\w{38,}$/);
  // Escape does not close the dialog.
  await page.keyboard.press("Escape");
  await shown.getByRole("button", { name: "I have stored it" }).click();
  await shown.waitFor({ state: "hidden" });

  const row = page.getByRole("row", { name: "training cluster" });
  await row.getByText("Active", { exact: true }).waitFor();
  const kept = await page.evaluate(() =>
    JSON.stringify([
      document.documentElement.outerHTML,
      location.href,
      { ...localStorage },
      { ...sessionStorage },
    ]),
  );
  expect(kept).toContain("training cluster");
  expect(kept).not.toContain(apiKey);

  const client = createPresage({ baseUrl: presage.url, apiKey });
  const { response } = await client.predict({
    interaction: { state: "You are in the hall.", action: "look around" },
  });
  expect(response.content).not.toBe("");

  await row.getByText("600 a minute").waitFor();
  await row.getByRole("button", { name: "Change the settings of training cluster" }).click();
  const settings = page.getByRole("dialog", { name: "Settings of this key" });
  const atOnce = settings.getByRole("textbox", { name: "Requests at once" });
  await atOnce.fill("none");
  await settings.getByRole("button", { name: "Save" }).click();
  await settings.getByRole("alert").getByText("A whole number").waitFor();
  await atOnce.fill("64");
  await settings.getByRole("combobox", { name: "Stored predictions" }).selectOption("1 in 100");
  await settings.getByRole("button", { name: "Save" }).click();
  await settings.waitFor({ state: "hidden" });
  await row.getByText("600 a minute, 64 at once").waitFor();
  await row.getByText("Stores 1 in 100").waitFor();

  await row.getByRole("button", { name: "Revoke training cluster" }).click();
  const question = page.getByRole("alertdialog", { name: "Revoke this key?" });
  await question.getByText("training cluster").waitFor();
  await question.getByRole("button", { name: "Revoke key" }).click();
  await question.waitFor({ state: "hidden" });
  await row.waitFor({ state: "hidden" });
  await expect(client.me()).rejects.toMatchObject({ category: "unauthenticated", status: 401 });

  await page.getByRole("switch", { name: "Show revoked (1)" }).click();
  await row.getByText("Revoked").waitFor();
  expect(await row.getByRole("button").count()).toBe(0);
});

dashboardTest("Several keys are revoked at once", async ({ visit, client }) => {
  for (const name of ["leaver 1", "leaver 2", "stays"]) await client.apiKeys.create({ name });
  const page = await visit("/api-keys");
  for (const name of ["leaver 1", "leaver 2"]) await page.getByRole("checkbox", { name }).check();
  await page.getByRole("button", { name: "Revoke 2 keys" }).click();
  const question = page.getByRole("alertdialog", { name: "Revoke 2 keys?" });
  await question.getByRole("button", { name: "Revoke 2 keys" }).click();
  await question.waitFor({ state: "hidden" });
  await page.getByRole("row", { name: "leaver 1" }).waitFor({ state: "hidden" });
  const left = (await client.apiKeys.list()).filter(({ revoked_at }) => revoked_at === null);
  expect(left.map(({ name }) => name)).not.toContain("leaver 2");
  expect(left.map(({ name }) => name)).toContain("stays");
});

dashboardTest("A key without a name is not created, and the input stays", async ({ visit, client }) => {
  const before = await client.apiKeys.list();
  const page = await visit("/api-keys");
  await page.getByRole("button", { name: "Create key" }).click();
  const form = page.getByRole("dialog", { name: "Create key" });
  await form.getByRole("combobox", { name: "Expires" }).selectOption("Never");
  await form.getByRole("button", { name: "Create key" }).click();
  await form.getByRole("alert").getByText("Give the key a name.").waitFor();
  expect(await form.getByRole("combobox", { name: "Expires" }).inputValue()).toBe("never");
  expect(await client.apiKeys.list()).toHaveLength(before.length);
});

dashboardTest(
  "Cancelling a revocation keeps the key active and the focus in place",
  async ({ visit, client }) => {
    const { id } = await client.apiKeys.create({ name: "notebook" });
    const page = await visit("/api-keys");
    const revoke = page.getByRole("button", { name: "Revoke notebook" });
    await revoke.press("Enter");
    const question = page.getByRole("alertdialog", { name: "Revoke this key?" });
    await question.waitFor();
    await page.keyboard.press("Escape");
    await question.waitFor({ state: "hidden" });
    await revoke.and(page.locator(":focus")).waitFor();
    const key = (await client.apiKeys.list()).find((listed) => listed.id === id);
    expect(key?.revoked_at).toBeNull();
  },
);

slowBrowserTest("On a phone, names of keys are readable", async ({ visit, client }) => {
  const name = "nightly evaluation";
  const expires_at = new Date(Date.now() + 60_000).toISOString();
  await client.apiKeys.create({ name, expires_at });
  const page = await visit("/api-keys", { viewport: { width: 390, height: 844 } });
  const shown = page.getByRole("row", { name }).getByText(name, { exact: true });
  await shown.waitFor();
  const { clientWidth, scrollWidth } = await shown.evaluate(({ clientWidth, scrollWidth }) => ({
    clientWidth,
    scrollWidth,
  }));
  expect(scrollWidth).toBeLessThanOrEqual(clientWidth);
});
