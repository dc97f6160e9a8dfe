import { expect } from "bun:test";
import { expectEventually } from "../../../server/test/support/eventually.ts";
import { dashboardTests } from "../support/dashboard-tests.ts";
import type { Page } from "../support/page.ts";

const { browserTest, slowBrowserTest, dashboardTest, slowDashboardTest } = dashboardTests();
const palette = (page: Page) => page.getByRole("dialog", { name: "Go to" });

browserTest("Control K goes to pages, profiles and results by name or id", async (visitor) => {
  const { visit, client } = visitor;
  const { public_id } = await client.profiles.create({
    evaluator_family: "contains",
    name: "mentions the lamp",
    config: { substrings: ["lamp"], mode: "any" },
  });
  const [result] = await client.results.importBatch([{ evaluator_id: "theirs", pass: true, app: "palette" }]);
  const page = await visit("/account");
  await page.getByRole("heading", { name: "Account", level: 1 }).waitFor();
  await page.keyboard.press("Control+k");
  await palette(page).getByRole("combobox").pressSequentially("people");
  await palette(page).getByRole("option", { name: "People & spend" }).first().waitFor();
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "People & spend", level: 1 }).waitFor();
  await palette(page).waitFor({ state: "hidden" });

  await page.getByRole("button", { name: "Go to" }).click();
  await palette(page).getByRole("combobox").fill("lamp");
  await palette(page).getByRole("option", { name: "mentions the lamp" }).click();
  await page.waitForURL(`**/evaluators/profiles/${public_id}`);

  await page.keyboard.press("Control+k");
  await palette(page)
    .getByRole("combobox")
    .fill(result?.id ?? "");
  await palette(page)
    .getByRole("option", { name: `Result ${result?.id} of external:theirs` })
    .waitFor();
  await page.keyboard.press("Enter");
  await page.getByRole("dialog", { name: `Result ${result?.id}` }).waitFor();

  visitor.expectErrors(/404/);
  await page.keyboard.press("Control+k");
  await palette(page).getByRole("combobox").fill("01a2015d-17ca-76a5-aa4f-c26a65d9cd6e");
  await palette(page).getByText("Nothing found.", { exact: true }).waitFor();
  await page.keyboard.press("Escape");
  await palette(page).waitFor({ state: "hidden" });
});

slowBrowserTest(
  "What is typed right after Control K is in the palette, and starts no shortcut",
  async ({ visit }) => {
    const page = await visit("/account");
    await page.getByRole("heading", { name: "Account", level: 1 }).waitFor();
    await page.route("**/*.js", async (route) => {
      await new Promise((resolve) => setTimeout(resolve, 300));
      await route.continue();
    });
    await page.keyboard.press("Control+k");
    await page.keyboard.type("g usagx");
    await page.keyboard.press("Backspace");
    const input = palette(page).getByRole("combobox");
    await expectEventually(() => input.inputValue(), "g usag");
    await page.keyboard.type("e");
    expect(await input.inputValue()).toBe("g usage");
    expect(new URL(page.url()).pathname).toBe("/account");
  },
);

slowDashboardTest("A dataset is found by its name and by its id", async (visitor) => {
  visitor.expectErrors(/404/);
  const { id } = await visitor.client.datasets.create({ name: "kitchens" });
  const page = await visitor.visit("/account");
  await page.getByRole("heading", { name: "Account", level: 1 }).waitFor();
  for (const query of ["kitch", id]) {
    await page.keyboard.press("Control+k");
    await palette(page).getByRole("combobox").fill(query);
    await palette(page).getByRole("option", { name: "kitchens" }).first().waitFor();
    await page.keyboard.press("Enter");
    await page.waitForURL(`**/datasets/${id}`);
    await page.goto(new URL("/account", page.url()).href);
    await page.getByRole("heading", { name: "Account", level: 1 }).waitFor();
  }
});

dashboardTest(
  "The palette does things: it starts a run, uploads, revokes a key and darkens",
  async (visitor) => {
    const { id, name } = await visitor.client.apiKeys.create({ name: "old notebook" });
    const page = await visitor.visit("/account");
    await page.getByRole("heading", { name: "Account", level: 1 }).waitFor();
    const run = async (query: string, option: string) => {
      await page.keyboard.press("Control+k");
      await palette(page).getByRole("combobox").fill(query);
      await palette(page).getByRole("option", { name: option }).first().click();
    };
    const theme = () => page.evaluate(() => document.documentElement.dataset.theme);
    await run("dark", "Dark theme");
    await expectEventually(theme, "dark");
    expect(await page.getByRole("radio", { name: "Dark" }).first().getAttribute("aria-checked")).toBe("true");
    await run("light", "Light theme");
    await expectEventually(theme, "light");
    await run("new run", "New run");
    await page.getByRole("heading", { name: "New run", level: 1 }).waitFor();
    await run("import", "Import traces");
    await page.getByRole("dialog", { name: /Upload/ }).waitFor();
    await page.keyboard.press("Escape");
    await run("revoke old", `Revoke ${name}`);
    const confirm = page.getByRole("alertdialog", { name: "Revoke this key?" });
    await confirm.getByText(name).waitFor();
    await confirm.getByRole("button", { name: "Revoke key" }).click();
    await confirm.waitFor({ state: "hidden" });
    const keys = await visitor.client.apiKeys.list();
    expect(keys.find((key) => key.id === id)?.revoked_at).toBeString();
  },
);

dashboardTest("What could not be searched is not said to be missing", async (visitor) => {
  visitor.expectErrors(/500/);
  const page = await visitor.visit("/account");
  await page.getByRole("heading", { name: "Account", level: 1 }).waitFor();
  await page.route(/\/v1\/runs/, (route) => route.fulfill({ status: 500, json: {} }));
  await page.keyboard.press("Control+k");
  await palette(page).getByRole("combobox").fill("nowhere to be found");
  await palette(page).getByText("Not everything could be searched.").waitFor();
});

dashboardTest("What was just deleted is not found, and what was not searched is said", async (visitor) => {
  const { id } = await visitor.client.datasets.create({ name: "cellars" });
  const page = await visitor.visit(`/datasets/${id}`);
  await page.getByRole("heading", { name: "cellars", level: 1 }).waitFor();
  await page.keyboard.press("Control+k");
  await palette(page).getByRole("combobox").fill("cellars");
  await palette(page).getByRole("option", { name: "cellars" }).waitFor();
  await page.keyboard.press("Escape");
  await palette(page).waitFor({ state: "hidden" });
  await page.getByRole("button", { name: "More actions" }).click();
  await page.getByRole("menuitem", { name: "Delete the dataset" }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: "Delete dataset" }).click();
  await page.waitForURL("**/datasets");
  const many = Array.from({ length: 200 }, (_, index) => ({ name: `world ${index}` }));
  await page.route(/\/v1\/worlds/, (route) => route.fulfill({ json: { data: many, next: null } }));
  await page.keyboard.press("Control+k");
  await palette(page)
    .getByText("Nothing found. Only the newest 200 of each kind are searched by name.")
    .waitFor();
});

dashboardTest("What was typed is there again, and Enter waits for what is still loading", async (visitor) => {
  const { id } = await visitor.client.datasets.create({ name: "pantries" });
  const page = await visitor.visit("/account");
  await page.getByRole("heading", { name: "Account", level: 1 }).waitFor();
  const { promise: entered, resolve: setEntered } = Promise.withResolvers<void>();
  await page.route(/\/v1\/datasets/, async (route) => {
    await entered;
    await route.continue();
  });
  const input = palette(page).getByRole("combobox");
  await page.keyboard.press("Control+k");
  await input.fill("pantr");
  await page.keyboard.press("Escape");
  await palette(page).waitFor({ state: "hidden" });
  await page.keyboard.press("Control+k");
  expect(await input.inputValue()).toBe("pantr");
  await page.keyboard.press("Enter");
  setEntered();
  await page.waitForURL(`**/datasets/${id}`);
  // The palette is empty again.
  await page.keyboard.press("Control+k");
  expect(await input.inputValue()).toBe("");
});

slowBrowserTest("The palette finds operations and guides, and goes to their pages", async ({ visit }) => {
  const page = await visit("/account");
  await page.getByRole("heading", { name: "Account", level: 1 }).waitFor();
  await page.keyboard.press("Control+k");
  await palette(page).getByRole("combobox").fill("POST /v1/runs");
  await palette(page).getByRole("option", { name: "Predict and evaluate a dataset" }).waitFor();
  await palette(page).getByRole("combobox").fill("limits and retries");
  await palette(page).getByRole("option", { name: "Limits and retries" }).first().click();
  await page.waitForURL("**/docs/guides/operate-limits");
  await page.getByRole("heading", { name: "Limits and retries", level: 1 }).waitFor();
});

slowDashboardTest("Two keys go to a page, and the question mark lists all", async ({ visit }) => {
  const page = await visit("/api-keys");
  await page.getByRole("heading", { name: "API keys", level: 1 }).waitFor();
  await page.keyboard.press("?");
  const list = page.getByRole("dialog", { name: "Keyboard shortcuts" });
  await list.getByRole("region", { name: "Tables" }).getByText("Next row").waitFor();
  await list.getByRole("region", { name: "Go to" }).getByText("Evaluations", { exact: true }).waitFor();
  // A dialog blocks the shortcuts of the page.
  await page.keyboard.press("g");
  await page.keyboard.press("e");
  await page.keyboard.press("Escape");
  await list.waitFor({ state: "hidden" });
  expect(new URL(page.url()).pathname).toBe("/api-keys");

  await page.keyboard.press("g");
  await page.keyboard.press("p");
  await page.getByRole("heading", { name: "Playground", level: 1 }).waitFor();
  // The previous page's shortcuts are gone: there are no rows here.
  await page.keyboard.press("?");
  await list.getByRole("region", { name: "Go to" }).waitFor();
  await expectEventually(() => list.getByText("Next row").count(), 0);
});

slowDashboardTest("The account's menu says the version and what is new", async ({ visit, client }) => {
  const { server_version } = await client.me();
  const page = await visit("/account");
  await page.getByRole("button", { name: /Local mode/ }).click();
  await page.getByRole("menuitem", { name: `What is new Presage ${server_version}` }).click();
  const dialog = page.getByRole("dialog", { name: "What is new" });
  await dialog.getByText(`This server is Presage ${server_version}.`).waitFor();
  await dialog.getByRole("region", { name: "0.1.0" }).getByText("Added").waitFor();
});
