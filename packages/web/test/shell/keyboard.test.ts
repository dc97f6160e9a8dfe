import { expect } from "bun:test";
import { eventually } from "../../../server/test/support/eventually.ts";
import { dashboardTests } from "../support/dashboard-tests.ts";
import { finishRun, uploadHousehold } from "../support/household.ts";
import type { Page } from "../support/page.ts";

const maxTabs = 20;
const mainControls = [
  ["/", "button", "Open the example"],
  ["/playground", "textbox", "State"],
  ["/evaluations", "combobox", "Verdict"],
  ["/evaluators", "searchbox", "Search evaluators and profiles"],
  ["/error-taxonomies", "button", "New taxonomy"],
  ["/predictions", "combobox", "Period"],
  ["/runs", "link", "New run"],
  ["/datasets", "button", "Upload"],
  ["/review", "combobox", "Evaluator and profile"],
  ["/usage", "radio", "7 days"],
  ["/api-keys", "button", "Create key"],
  ["/account", "button", "Sign out"],
] as const;

const { dashboardTest, slowDashboardTest } = dashboardTests();

dashboardTest("The first Tab skips the navigation, the next ones go through it", async ({ visit }) => {
  const page = await visit("/api-keys");
  await page.getByRole("heading", { name: "API keys", level: 1 }).waitFor();
  await page.keyboard.press("Tab");
  expect(await focused(page)).toBe("Skip to content");
  await page.keyboard.press("Tab");
  expect(await focused(page)).toStartWith("Go to …");
  const places = await page.getByRole("navigation", { name: "Pages" }).getByRole("link").allTextContents();
  expect(places[0]).toBe("Overview");
  const seen: string[] = [];
  for (const _place of places) {
    await page.keyboard.press("Tab");
    seen.push(await focused(page));
  }
  expect(seen).toEqual(places);
  expect(places).toHaveLength(9);

  await page.getByRole("link", { name: "Skip to content" }).press("Enter");
  await page.keyboard.press("Tab");
  expect(await focused(page)).toBe("Create key");
});

dashboardTest("A dialog takes the focus and returns it", async ({ visit }) => {
  const page = await visit("/api-keys");
  const create = page.getByRole("button", { name: "Create key" });
  await create.press("Enter");
  const dialog = page.getByRole("dialog", { name: "Create key" });
  await dialog.waitFor();
  const isInside = () => dialog.evaluate((element) => element.contains(document.activeElement));
  for (let count = 0; count < 9; count++) {
    expect(await isInside()).toBe(true);
    await page.keyboard.press("Tab");
  }
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "hidden" });
  await page.locator("button:focus", { hasText: "Create key" }).waitFor();
});

slowDashboardTest("On a narrow screen the menu navigates and closes", async ({ visit }) => {
  const page = await visit("/datasets", { viewport: { width: 390, height: 844 } });
  await page.getByRole("button", { name: "Menu" }).press("Enter");
  const menu = page.getByRole("dialog", { name: "Menu" });
  await menu.getByRole("link", { name: "Settings" }).press("Enter");
  await page.getByRole("heading", { name: "API keys", level: 1 }).waitFor();
  await menu.waitFor({ state: "hidden" });
});

// Each press of Tab searches the whole page: 15 s of processor time for all pages.
slowDashboardTest("A page's main control is a few Tabs away", async ({ visit, client }) => {
  const page = await visit("/account");
  for (const [path, role, name] of mainControls) {
    // From here on, the pages have something to filter.
    if (path === "/playground") {
      const { id } = await uploadHousehold(client, "controls");
      await finishRun(client, { name: "controls", dataset_id: id, target: { baseline: "no-change" } });
    }
    await page.goto(new URL(path, page.url()).href);
    const control = page.getByRole("main").getByRole(role, { name, exact: true }).first();
    await control.waitFor();
    await page.getByRole("link", { name: "Skip to content" }).press("Enter");
    const isFocused = () => control.evaluate((element) => element === document.activeElement);
    let tabs = 0;
    for (; tabs < maxTabs && !(await isFocused()); tabs++) await page.keyboard.press("Tab");
    expect([path, await isFocused()]).toEqual([path, true]);
  }
});

async function focused(page: Page): Promise<string> {
  return await page.evaluate(() => document.activeElement?.textContent ?? "");
}

slowDashboardTest("Tab passes a table of results in one step", async ({ visit, client }) => {
  const dataset = await uploadHousehold(client, "tabbed");
  await finishRun(client, { name: "tabbed", dataset_id: dataset.id, target: { baseline: "no-change" } });
  for (const view of ["", "?view=verdicts"]) {
    const page = await visit(`/evaluations${view}`);
    const table = page.getByRole("table");
    const links = table.getByRole("link", { name: "tabbed", exact: true });
    await eventually(
      () => links.count(),
      (count) => count === 6,
    );
    const stops = table.locator("a[href], button, input, [tabindex]");
    const reachable = await stops.evaluateAll(
      (all) => all.filter((stop) => (stop as HTMLElement).tabIndex >= 0).length,
    );
    expect(reachable).toBe(1);
  }
});
