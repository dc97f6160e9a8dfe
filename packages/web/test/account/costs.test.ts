import { afterAll, beforeAll, expect } from "bun:test";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually } from "../../../server/test/support/eventually.ts";
import {
  completion,
  startUpstream,
  type TestUpstream,
} from "../../../server/test/support/upstream/upstream.ts";
import { dashboardTests } from "../support/dashboard-tests.ts";

let directory: string;
let upstream: TestUpstream;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "presage-costs-page-"));
  upstream = startUpstream(() => Response.json(completion("The door is open.")));
  const prices = "currency: EUR\nmodels:\n  org/priced: { prompt: 100000, completion: 200000 }\n";
  await writeFile(join(directory, "prices.yaml"), prices);
});
afterAll(async () => {
  await upstream.stop();
  await rm(directory, { recursive: true });
});

const { dashboardTest } = dashboardTests(() => ({
  environment: {
    PRESAGE_UPSTREAM_URL: upstream.url,
    PRESAGE_UPSTREAM_MODEL: "org/priced",
    PRESAGE_PRICES: join(directory, "prices.yaml"),
  },
}));

dashboardTest(
  "The page of people and spending shows costs, what they leave out, and sets a budget that stops",
  async (visitor) => {
    const messages = [{ role: "user" as const, content: "open door" }];
    await visitor.client.predict({ interaction: { state: "You are in the hall.", action: "open door" } });
    await visitor.client.chatCompletions.create({ model: "org/unpriced", messages });
    await eventually(
      () => visitor.client.usage.list(),
      ({ data }) => data.length === 2,
    );
    const page = await visitor.visit("/usage");
    const table = page.getByRole("table");
    const cells = async (name: string) =>
      (await table.getByRole("row", { name }).getByRole("cell").allTextContents()).map((text) => text.trim());
    await page.getByText("50.0 % of 36 tokens").waitFor();
    await page.getByRole("button", { name: "Add a price" }).click();
    await page.getByText('"org/unpriced": { prompt: 0.00, completion: 0.00 }').waitFor();
    await page.keyboard.press("Escape");
    // 11 prompt and 7 completion tokens.
    expect(await cells("Owner")).toEqual(["2", "0", "36", "€2.50 +"]);
    // The only person's keys are shown from the start.
    await table.getByRole("button", { name: "bootstrap" }).click();
    expect(await cells("org/priced")).toEqual(["–", "–", "18", "€2.50"]);
    expect(await cells("org/unpriced")).toEqual(["–", "–", "18", "–"]);

    const keys = await visitor.visit("/api-keys");
    await keys.getByRole("columnheader", { name: "Cost this month" }).waitFor();
    await keys.getByRole("row", { name: "bootstrap" }).getByText("€2.50").waitFor();

    await page.getByRole("button", { name: "Set a budget" }).click();
    const dialog = page.getByRole("dialog", { name: "Monthly budget" });
    await dialog.getByRole("textbox", { name: "Amount in EUR" }).fill("1e999");
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.getByText("An amount, such as 250").waitFor();
    await dialog.getByRole("textbox", { name: "Amount in EUR" }).fill("2");
    await dialog.getByRole("checkbox").check();
    await dialog.getByRole("button", { name: "Save" }).click();
    await page.getByText("It is spent: requests that ask a model are refused.").waitFor();
    expect((await visitor.client.budgets.list()).data).toMatchObject([
      { limit: 2, stops: true, state: "stopped" },
    ]);

    const { id } = await visitor.client.apiKeys.create({ name: "cluster" });
    await visitor.client.budgets.set({ api_key_id: id, limit: 0, stops: false });
    const overview = await visitor.visit("/");
    await overview.getByRole("link", { name: "Budget of the account" }).waitFor();
    const needs = overview.getByRole("listitem").filter({ hasText: "Budget of cluster" });
    await needs.getByText("The budget is 0").waitFor();
    await visitor.client.apiKeys.revoke(id);
    await overview.reload();
    await overview.getByRole("link", { name: "Budget of the account" }).waitFor();
    await needs.waitFor({ state: "detached" });

    visitor.expectErrors(/status of 400/);
    await page.route(/\/v1\/usage\?/, (route) => route.fulfill({ status: 400, json: { detail: "Not now" } }));
    await page.getByRole("button", { name: "More" }).press("Enter");
    await page.getByRole("menuitem", { name: "Download as CSV" }).press("Enter");
    await page.getByRole("alert").getByText("Not now").waitFor();
  },
);
