import { expect } from "bun:test";
import type { Page } from "playwright-core";
import { testKey } from "../../../server/test/support/presage/presage.ts";
import { dashboardTests } from "../support/dashboard-tests.ts";
import { expectAccessible } from "../support/expect-accessible.ts";

const { browserTest, slowBrowserTest } = dashboardTests();
/** The size of everything that a cold browser loads for the first page, including fonts. */
const maxBytes = 150_000;

const openTryOut = (page: Page) => page.locator("summary").filter({ hasText: "Try it" }).click();

/** Sends the page's form, and returns the line with the status of the answer. */
async function send(page: Page): Promise<string> {
  const form = page.locator("form[data-try]");
  if (!(await form.isVisible())) await openTryOut(page);
  await form.getByRole("button", { name: "Send" }).click();
  const line = form.getByRole("status").filter({ hasText: / ms$/ });
  await line.waitFor();
  return (await line.textContent()) ?? "";
}

browserTest(
  "Without a session a reader tries an operation with a key, which is in the code too and stored nowhere",
  async (visitor) => {
    visitor.expectErrors(/401/);
    const page = await visitor.visit("/docs/predict", { isSignedIn: false });
    await page.getByRole("heading", { level: 1, name: "Predict the next state" }).waitFor();
    const code = page.getByRole("tabpanel");
    expect(await code.textContent()).toContain(`curl ${visitor.presage.url}/v1/predict`);
    expect(await send(page)).toStartWith("401 ");
    await page.getByLabel("API key").fill(testKey);
    expect(await code.textContent()).toContain(`"X-API-KEY: ${testKey}"`);
    expect(await send(page)).toStartWith("200 ");
    await page.locator("form pre").getByText('"role": "assistant"').waitFor();
    await page.getByText("Headers", { exact: true }).last().click();
    await page.locator("form").getByText("content-type: application/json").waitFor();

    // Another page of the reference still has the key; a page that is loaded anew does not.
    await page.getByRole("link", { name: "Count stored predictions" }).click();
    await page.getByRole("heading", { level: 1, name: "Count stored predictions" }).waitFor();
    expect(await page.title()).toBe("Count stored predictions · Presage");
    expect(await send(page)).toStartWith("200 ");
    await page.goBack();
    await page.getByRole("heading", { level: 1, name: "Predict the next state" }).waitFor();
    expect(await page.getByRole("tabpanel").textContent()).toContain(testKey);
    await page.reload();
    expect(await page.getByRole("tabpanel").textContent()).toContain("$PRESAGE_API_KEY");
    expect(await page.evaluate(() => JSON.stringify([localStorage, sessionStorage]))).not.toContain(testKey);
  },
);

slowBrowserTest("A browser that keeps nothing for the site shows the reference", async ({ visit }) => {
  const page = await visit("/docs", { isSignedIn: false });
  await page.addInitScript(() => {
    const get = () => {
      throw new DOMException("Denied", "SecurityError");
    };
    for (const name of ["localStorage", "sessionStorage"]) Object.defineProperty(window, name, { get });
  });
  await page.goto(new URL("/docs/predict", page.url()).href);
  await page.getByRole("tab", { name: "Python" }).click();
  await page.getByRole("tabpanel").getByText("import").first().waitFor();
  await page.getByRole("button", { name: "Search" }).click();
  await page.getByRole("combobox").fill("dark");
  await page.getByRole("option", { name: "Dark theme" }).click();
  await page.locator("html[data-theme=dark]").waitFor();
});

slowBrowserTest("A signed-in reader needs no key, not even to create something", async (visitor) => {
  visitor.expectErrors(/404/);
  const { visit, client } = visitor;
  const page = await visit("/docs/createDataset");
  await openTryOut(page);
  await page.getByPlaceholder("you are signed in").waitFor();
  await page.getByLabel("Body").fill('{"name": "from the reference"}');
  expect(await send(page)).toStartWith("201 ");
  const [made] = await client.datasets.list();
  expect(made?.name).toBe("from the reference");

  // Enters a parameter of the path, and one of the query.
  await page.goto(new URL("/docs/listDatasetSamples", page.url()).href);
  await openTryOut(page);
  await page.getByLabel("id", { exact: true }).fill(made?.id ?? "");
  expect(await send(page)).toStartWith("404 ");
});

slowBrowserTest(
  "A link leads to an operation, a field in another one, an error or a section of a guide",
  async ({ visit }) => {
    const page = await visit("/docs/createRun#body.target-2.world", { isSignedIn: false });
    // The field is in a fold, which opens.
    await page.locator(":target").getByText("world", { exact: true }).first().waitFor();
    await page.goto(new URL("/docs/createRun#status-422", page.url()).href);
    expect(await page.locator(":target").textContent()).toStartWith("422");
    await page.goto(new URL("/docs/guides/runs", page.url()).href);
    await page.getByRole("navigation", { name: "On this page" }).getByRole("link").last().click();
    expect(await page.evaluate(() => document.querySelector(":target")?.tagName)).toBe("H2");
    // Guides link to each other here, not to files.
    await page
      .getByRole("main")
      .getByRole("link", { name: /statistics/ })
      .first()
      .click();
    await page.getByRole("heading", { level: 1, name: "Statistics" }).waitFor();
  },
);

slowBrowserTest("The lists of errors and of guides have addresses of their own", async ({ visit }) => {
  const page = await visit("/docs/errors", { isSignedIn: false });
  await page.getByRole("heading", { level: 1, name: "Errors" }).waitFor();
  await page.getByRole("cell", { name: "unusable_completion" }).waitFor();
  await expectAccessible(page, "html", { documentScrolls: true });
  await page.goto(new URL("/docs/guides", page.url()).href);
  await expectAccessible(page, "html", { documentScrolls: true });
  await page.getByRole("main").getByRole("link", { name: "Statistics", exact: true }).click();
  await page.getByRole("heading", { level: 1, name: "Statistics" }).waitFor();
});

slowBrowserTest("All of the first load of the longest page is small, fonts included", async ({ visit }) => {
  const page = await visit("/docs/getRunReport", { isSignedIn: false });
  await page.getByRole("heading", { level: 1 }).waitFor();
  const sizes = await page.evaluate(async () => {
    await document.fonts.ready;
    const entries = [
      ...performance.getEntriesByType("navigation"),
      ...performance.getEntriesByType("resource"),
    ];
    return entries
      .filter((entry) => entry instanceof PerformanceResourceTiming)
      .map(({ name, encodedBodySize }) => ({ name, encodedBodySize }));
  });
  expect(sizes.filter(({ name }) => name.endsWith(".woff2"))).toHaveLength(2);
  const bytes = sizes.reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0);
  expect(bytes).toBeGreaterThan(50_000);
  expect(bytes).toBeLessThan(maxBytes);
});

slowBrowserTest("The keyboard chooses the language, searches and goes to what is found", async (visitor) => {
  const page = await visitor.visit("/docs", { isSignedIn: false });
  await page.keyboard.press("Tab");
  expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("Skip to content");
  // Text that is typed while the palette is loading is entered into it.
  await page.keyboard.press("Control+k");
  await page.keyboard.type("summarise res");
  const palette = page.getByRole("dialog", { name: "Go to" });
  const input = palette.getByRole("combobox");
  await input.waitFor();
  await page.keyboard.type("ults");
  expect(await input.inputValue()).toBe("summarise results");
  await palette.getByRole("option", { name: "Summarise results by group" }).waitFor();
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: "Summarise results by group" }).waitFor();

  await page.getByRole("tab", { name: "curl" }).focus();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  expect(await page.getByRole("tabpanel").textContent()).toContain("presage.results.summarise(");
  await page.reload();
  expect(await page.getByRole("tab", { selected: true }).textContent()).toBe("TypeScript");
});

slowBrowserTest("On a phone the navigation opens, and closes once it has been used", async ({ visit }) => {
  const page = await visit("/docs", { isSignedIn: false, viewport: { width: 390, height: 844 } });
  const link = page.getByRole("link", { name: "Create a world" });
  await page.getByRole("button", { name: "Menu" }).press("Enter");
  await page.getByText("Worlds", { exact: true }).first().click();
  await link.click();
  await page.getByRole("heading", { level: 1, name: "Create a world" }).waitFor();
  await link.waitFor({ state: "hidden" });
});

slowBrowserTest(
  "axe finds nothing in the reference and the guides, wide and narrow, light and dark",
  async (visitor) => {
    visitor.expectErrors(/401/);
    const page = await visitor.visit("/docs", { isSignedIn: false, reducedMotion: "reduce" });
    for (const path of ["/docs", "/docs/createRun", "/docs/guides/trace-formats"]) {
      await page.goto(new URL(path, page.url()).href);
      await page.evaluate(() => {
        for (const fold of document.querySelectorAll("details")) fold.open = true;
      });
      if (path === "/docs/createRun") await send(page);
      await expectAccessible(page, "html", { documentScrolls: true });
    }
  },
);
