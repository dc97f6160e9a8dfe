import { expect } from "bun:test";
import { dashboardTests } from "../support/dashboard-tests.ts";

const { browserTest, slowBrowserTest, dashboardTest } = dashboardTests();

browserTest("Without a network a page says so, and loads on retry", async (visitor) => {
  visitor.expectErrors(/ERR_INTERNET_DISCONNECTED/);
  const page = await visitor.visit("/api-keys");
  // Hovering over a link loads the page's code, so that only the figures are missing.
  const code = page.waitForEvent("requestfinished", (request) => request.url().includes("/assets/usage-"));
  await page.getByRole("link", { name: "People & spend" }).hover();
  await code;
  await page.getByRole("rowheader", { name: "bootstrap" }).waitFor();
  await page.context().setOffline(true);
  await page.getByRole("link", { name: "People & spend" }).click();
  await page.getByRole("alert").getByText("Presage cannot be reached").waitFor();
  await page.context().setOffline(false);
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByRole("alert").waitFor({ state: "detached" });
  // The button is gone, and the focus has moved to the page.
  await page.locator("#main:focus").waitFor();
});

slowBrowserTest("A page whose code could not be loaded can be retried", async (visitor) => {
  visitor.expectErrors(/ERR_FAILED|could not be loaded/);
  const page = await visitor.visit("/api-keys");
  await page.getByRole("rowheader", { name: "bootstrap" }).waitFor();
  let loads = 0;
  page.on("load", () => {
    loads += 1;
  });
  // Blocks the code, and the page if it is reloaded.
  await page.route(/\/assets\/|\/usage$/, (route) => route.abort());
  const failure = page.waitForEvent("requestfailed");
  await page.getByRole("link", { name: "People & spend" }).hover();
  await failure;
  await page.getByRole("link", { name: "People & spend" }).click();
  await page.getByRole("alert").getByText("Part of the dashboard could not be loaded.").waitFor();
  expect(loads).toBe(0);
  await page.unroute(/\/assets\/|\/usage$/);
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByRole("heading", { name: "People & spend", level: 1 }).waitFor();
});

dashboardTest("Pressing Enter several times creates one key", async ({ visit, client }) => {
  const page = await visit("/api-keys");
  const pressed = Promise.withResolvers<void>();
  await page.route("**/v1/api-keys", async (route) => {
    if (route.request().method() === "POST") await pressed.promise;
    await route.continue();
  });
  await page.getByRole("button", { name: "Create key" }).click();
  const name = page.getByRole("dialog").getByRole("textbox", { name: "Name" });
  await name.fill("only once");
  for (let count = 0; count < 3; count += 1) await name.press("Enter");
  pressed.resolve();
  await page.getByRole("alertdialog").waitFor();
  const made = (await client.apiKeys.list()).filter((key) => key.name === "only once");
  expect(made).toHaveLength(1);
});

dashboardTest("A failed sign-out is reported", async (visitor) => {
  visitor.expectErrors(/status of 500/);
  const page = await visitor.visit("/api-keys");
  await page.route("**/auth/sign-out", (route) => route.fulfill({ status: 500, json: {} }));
  await page.getByRole("button", { name: "Local mode" }).click();
  await page.getByRole("menuitem", { name: "Sign out" }).click();
  await page.getByRole("dialog", { name: "You are still signed in" }).getByRole("alert").waitFor();
});
