import { expect } from "bun:test";
import type { Page } from "playwright-core";
import { copiedText, expectCopied } from "../support/copied-text.ts";
import { dashboardTests } from "../support/dashboard-tests.ts";
import { signOut } from "../support/sign-out.ts";

const { browserTest, slowBrowserTest } = dashboardTests(() => ({ hasFile: true }));

slowBrowserTest("The printed address signs in once", async ({ visit, newSignInAddress, expectErrors }) => {
  const address = await newSignInAddress();
  const page = await visit(address, { isSignedIn: false });
  await page.getByRole("heading", { name: "Overview", level: 1 }).waitFor();
  expect(page.url()).not.toContain("#");

  expectErrors(/status of 401 .*\/auth\/local/);
  const elsewhere = await visit(address, { isSignedIn: false });
  await elsewhere.getByRole("alert").getByText("This sign-in link was already used").waitFor();
  expect(new URL(elsewhere.url()).hash).toBe("");
  await elsewhere.getByText("npx presage sign-in").waitFor();
});

slowBrowserTest(
  "The sign-in page has the dashboard's logo and font, and copies its command",
  async (visitor) => {
    const dashboard = await visitor.visit("/account");
    const logo = (page: Page) => page.locator("svg path[d^='M11 24']").first();
    await logo(dashboard).waitFor();
    const fontOf = (page: Page) =>
      page.locator("h1").evaluate((heading) => {
        const [first = ""] = getComputedStyle(heading).fontFamily.split(",");
        return first.replaceAll('"', "");
      });

    const permissions = ["clipboard-read", "clipboard-write"];
    const page = await visitor.visit("/sign-in", { isSignedIn: false, permissions });
    await logo(page).waitFor();
    expect(await logo(page).getAttribute("d")).toBe(await logo(dashboard).getAttribute("d"));
    expect(await fontOf(page)).toBe(await fontOf(dashboard));
    const loaded = await page.evaluate(async () => {
      await document.fonts.ready;
      return [...document.fonts].filter(({ status }) => status === "loaded").map(({ family }) => family);
    });
    expect(loaded).toContain(await fontOf(page));

    await page.getByRole("button", { name: "Copy" }).click();
    const command = "npx presage sign-in";
    expect(await copiedText(page, (text) => text === command)).toBe(command);
  },
);

slowBrowserTest("The command can be copied where the clipboard API is missing", async ({ visit }) => {
  const page = await visit("/sign-in", { isSignedIn: false });
  await page.evaluate(() => {
    Object.defineProperty(navigator, "clipboard", { value: undefined });
    // Runs after the page's own listener.
    window.addEventListener("copy", (event) => {
      document.title = event.clipboardData?.getData("text/plain") ?? "";
    });
  });
  await expectCopied(page, () => page.getByRole("button", { name: "Copy" }).click());
  expect(await page.title()).toBe("npx presage sign-in");
});

browserTest("Signing in leads to the requested page", async ({ visit, newSignInAddress, presage }) => {
  const page = await visit("/usage?period=30d", { isSignedIn: false });
  await page.getByRole("heading", { name: "Sign in", level: 1 }).waitFor();
  const { search } = new URL(page.url());
  expect(search).toBe("?return_to=%2Fusage%3Fperiod%3D30d");

  // Opens the address in the tab that already shows the sign-in page.
  const { hash } = new URL(await newSignInAddress());
  await page.goto(`${presage.url}/sign-in${search}${hash}`);
  await page.waitForURL(`${presage.url}/usage?period=30d`);
  await page.getByRole("heading", { name: "People & spend", level: 1 }).waitFor();
});

slowBrowserTest(
  "Signing out leads to the page that says so, also while a list is still read",
  async (visitor) => {
    const { visit, newSignInAddress } = visitor;
    const page = await visit(await newSignInAddress(), { isSignedIn: false });
    await page.getByRole("heading", { name: "Overview", level: 1 }).waitFor();
    const isList = /\/v1\/evaluator/;
    const isSignedOut = Promise.withResolvers<void>();
    await page.route(isList, async (route) => {
      await isSignedOut.promise;
      await route.fulfill({ status: 401, json: {} });
    });
    await page.route("**/auth/sign-out", async (route) => {
      isSignedOut.resolve();
      await route.continue();
    });
    const asked = page.waitForRequest(isList);
    await page.getByRole("link", { name: "Evaluators" }).click();
    await asked;
    await signOut(page);
    await page.getByRole("heading", { name: "You are signed out" }).waitFor();
  },
);

slowBrowserTest("A second tab is signed in as well", async ({ visit, newSignInAddress, presage }) => {
  const page = await visit(await newSignInAddress(), { isSignedIn: false });
  await page.getByRole("heading", { name: "Overview", level: 1 }).waitFor();
  const second = await page.context().newPage();
  await second.goto(`${presage.url}/api-keys`);
  await second.getByRole("heading", { name: "API keys", level: 1 }).waitFor();
});

slowBrowserTest("After signing out, the back button shows nothing from before", async (visitor) => {
  const { visit, newSignInAddress, presage, client } = visitor;
  await client.apiKeys.create({ name: "secret project" });
  const page = await visit(await newSignInAddress(), { isSignedIn: false });
  await page.getByRole("link", { name: "Settings" }).click();
  await page.getByRole("rowheader", { name: "secret project" }).waitFor();

  await signOut(page);
  await page.waitForURL(`${presage.url}/sign-in?signed_out`);
  await page.getByRole("heading", { name: "You are signed out" }).waitFor();
  await page.goBack();
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
  expect(await page.getByText("secret project").count()).toBe(0);
  await page.goBack();
  await page.goForward();
  await page.getByRole("heading", { name: /^(Sign in|You are signed out)$/ }).waitFor();
  expect(await page.getByText("secret project").count()).toBe(0);
});

slowBrowserTest("After signing out in one tab, the others leave by themselves", async (visitor) => {
  const { visit, newSignInAddress, presage, expectErrors } = visitor;
  // Requests that the other tab has not finished are refused.
  expectErrors(/status of 401/);
  const page = await visit(await newSignInAddress(), { isSignedIn: false });
  await page.getByRole("link", { name: "Settings" }).click();
  await page.getByRole("heading", { name: "API keys", level: 1 }).waitFor();
  const second = await page.context().newPage();
  await second.goto(presage.url);
  await signOut(second);
  await second.getByRole("heading", { name: "You are signed out" }).waitFor();
  await page.getByRole("heading", { name: "Sign in", level: 1 }).waitFor();
  expect(new URL(page.url()).search).toBe("?return_to=%2Fapi-keys");
});

slowBrowserTest("A session ended elsewhere leads to sign-in and back at the next click", async (visitor) => {
  const { visit, newSignInAddress, presage, client, expectErrors } = visitor;
  const page = await visit(await newSignInAddress(), { isSignedIn: false });
  await page.getByRole("link", { name: "Settings" }).click();
  // Waits until no requests are pending.
  await page.getByRole("rowheader", { name: "bootstrap" }).waitFor();
  for (const { id } of await client.sessions.list()) await client.sessions.end(id);

  expectErrors(/status of 401/);
  await page.getByRole("link", { name: "Evaluators" }).click();
  await page.getByRole("heading", { name: "Sign in", level: 1 }).waitFor();
  const { pathname, search } = new URL(page.url());
  expect(pathname + search).toBe("/sign-in?return_to=%2Fevaluators");
  const { hash } = new URL(await newSignInAddress());
  await page.goto(`${presage.url}/sign-in${search}${hash}`);
  await page.getByRole("heading", { name: "Evaluators", level: 1 }).waitFor();
});
