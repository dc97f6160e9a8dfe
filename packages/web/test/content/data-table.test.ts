import { expect } from "bun:test";
import { eventually } from "../../../server/test/support/eventually.ts";
import { copiedText } from "../support/copied-text.ts";
import { dashboardTests } from "../support/dashboard-tests.ts";
import type { Locator, Page } from "../support/page.ts";

const { slowBrowserTest, dashboardTest, slowDashboardTest } = dashboardTests();
const names = ["run 10", "run 9", "alpha"];

/** The names of keys in the order of the table, without the keys of other tests. */
async function shownNames(page: Page): Promise<string[]> {
  const all = await page.getByRole("rowheader").allInnerTexts();
  return all.flatMap((text) => names.find((name) => text.startsWith(name)) ?? []);
}

async function expectNames(page: Page, expected: string[]): Promise<void> {
  const found = await eventually(
    () => shownNames(page),
    (shown) => shown.join() === expected.join(),
  );
  expect(found).toEqual(expected);
}

function column(page: Page, name: string): Locator {
  return page.getByRole("columnheader", { name, exact: true });
}

dashboardTest(
  "A table's order and columns stand in the address, and the browser remembers them",
  async ({ visit, client }) => {
    for (const name of names) await client.apiKeys.create({ name });
    const page = await visit("/api-keys");
    await column(page, "Name").getByRole("button").click();
    await expectNames(page, ["alpha", "run 9", "run 10"]);
    expect(await column(page, "Name").getAttribute("aria-sort")).toBe("ascending");
    await column(page, "Name").getByRole("button").click();
    await expectNames(page, ["run 10", "run 9", "alpha"]);

    await page.getByRole("button", { name: "Options of API keys" }).press("Enter");
    await page.getByRole("menuitemcheckbox", { name: "Last used" }).click();
    await page.getByRole("menuitemcheckbox", { name: "Scopes, limits" }).click();
    await page.keyboard.press("Escape");
    await page.getByRole("menu").waitFor({ state: "detached" });
    await column(page, "Last used").waitFor({ state: "detached" });
    const wanted = { sort: "-name", columns: "tick,name,state,actions" };
    await page.waitForURL(({ searchParams }) => Bun.deepEquals(Object.fromEntries(searchParams), wanted));
    const shared = page.url();

    const colleague = await visit(shared);
    await expectNames(colleague, ["run 10", "run 9", "alpha"]);
    expect(await column(colleague, "Last used").count()).toBe(0);

    await page.goto(new URL("/api-keys", shared).href);
    await expectNames(page, ["run 10", "run 9", "alpha"]);
    // The remembered view is in the address as well, so that it can be shared.
    await page.waitForURL(shared);
    await page.getByRole("button", { name: "Options of API keys" }).press("Enter");
    await page.getByRole("menuitem", { name: "As at first" }).click();
    await column(page, "Last used").waitFor();
    await column(page, "Name").getByRole("button").click();
    await page.waitForURL((url) => url.search === "");
  },
);

dashboardTest("J, K and the arrows go through a table's rows, but not while typing", async ({ visit }) => {
  const page = await visit("/api-keys?sort=name");
  await expectNames(page, ["alpha", "run 9", "run 10"]);
  const focused = () =>
    page.evaluate(() => document.activeElement?.querySelector("th[scope=row]")?.textContent ?? "");
  await page.keyboard.press("j");
  await page.locator("tr:focus").waitFor();
  const first = await focused();
  await page.keyboard.press("j");
  const reached = async (name: string) => await eventually(focused, (shown) => shown === name);
  const second = await eventually(focused, (shown) => shown !== first);
  expect(second).not.toBe(first);
  await page.keyboard.press("ArrowDown");
  expect(await eventually(focused, (shown) => shown !== second)).not.toBe(first);
  await page.keyboard.press("k");
  await page.keyboard.press("k");
  expect(await reached(first)).toBe(first);

  await page.getByRole("button", { name: "Create key" }).click();
  const name = page.getByRole("dialog").getByRole("textbox", { name: "Name" });
  await name.pressSequentially("jk");
  expect(await name.inputValue()).toBe("jk");
});

slowBrowserTest("A table is copied for spreadsheets and as Markdown", async ({ visit }) => {
  const page = await visit("/api-keys?sort=name&columns=name,scopes", { permissions: ["clipboard-read"] });
  await expectNames(page, ["alpha", "run 9", "run 10"]);
  const copied = async (kind: string, start: string) => {
    await page.getByRole("button", { name: /Options of API keys|Copied/ }).click();
    await page.getByRole("menuitem", { name: kind }).click();
    return await copiedText(page, (text) => text.startsWith(start));
  };
  const tabbed = "Name\tScopes, limits\nalpha\t";
  expect(await copied("Copy for a spreadsheet", tabbed)).toStartWith(tabbed);
  const markdown = "| Name | Scopes, limits |\n| :-- | :-- |\n| alpha | ";
  expect(await copied("Copy as Markdown", markdown)).toStartWith(markdown);
});

slowDashboardTest("Rows are selected with X and cleared with Escape", async ({ visit, client }) => {
  const { id } = await client.datasets.create({ name: "few" });
  const sample = { trajectory_id: "t", step: 0, interaction: { state: "a", action: "b" }, next_state: "c" };
  await client.datasets.upload(id, JSON.stringify(sample));
  for (const name of ["first", "second"]) {
    const request = { name, dataset_id: id, target: { baseline: "no-change" as const } };
    await client.runs.create({ ...request, evaluators: [{ evaluator: "exact-match" }] });
  }
  const page = await visit("/runs");
  await page.getByRole("checkbox", { name: "Select second" }).waitFor();
  await page.keyboard.press("j");
  await page.locator("[data-row-link]:focus").waitFor();
  await page.keyboard.press("x");
  await page.locator("input:checked").waitFor();
  await page.getByRole("checkbox", { name: "Select first" }).check();
  await page.getByRole("link", { name: "Compare 2 runs" }).waitFor();
  await page.getByRole("checkbox", { name: "Select first" }).press("Escape");
  await page.getByRole("link", { name: "Compare 2 runs" }).waitFor({ state: "detached" });
  expect(await page.locator("input:checked").count()).toBe(0);
});

slowDashboardTest("Arrow keys reach the headings and the controls of a row", async ({ visit, client }) => {
  await client.apiKeys.create({ name: "arrows" });
  const page = await visit("/api-keys?sort=-name");
  const rows = page.getByRole("table").locator("tr[data-row]");
  await rows.first().focus();
  await page.keyboard.press("ArrowRight");
  const named = () => page.evaluate(() => document.activeElement?.getAttribute("aria-label") ?? "");
  expect(await named()).toStartWith("Select ");
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("ArrowUp");
  expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("Name");
  await page.keyboard.press("ArrowDown");
  expect(await page.evaluate(() => document.activeElement?.hasAttribute("data-row"))).toBe(true);
});
