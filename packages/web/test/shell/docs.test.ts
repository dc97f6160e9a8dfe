import { expect } from "bun:test";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { AxeResults, RunOptions } from "axe-core";
import type { Locator, Page } from "playwright-core";
import { testKey } from "../../../server/test/support/presage/presage.ts";
import { dashboardTests } from "../support/dashboard-tests.ts";
import { sidewaysOverflow } from "../support/scrolling.ts";

interface OpenApiDocument {
  paths: Record<string, Record<string, { operationId: string }>>;
  components: { schemas: Record<string, object> };
}

const { browserTest } = dashboardTests();
const axe = readFileSync(createRequire(import.meta.path).resolve("axe-core/axe.min.js"), "utf8");
const narrow = { width: 390, height: 844 };
const viewports = [{ width: 1440, height: 900 }, narrow];

/** Only what is tried, and what that refers to: the page resolves the whole document again for each operation that is opened. */
async function shortenReference(page: Page): Promise<void> {
  const tried = new Set(["predict", "evaluate", "createApiKey", "exportEvaluationResults"]);
  await page.route("**/openapi.json", async (route) => {
    const response = await route.fetch();
    const document: OpenApiDocument = await response.json();
    const { schemas } = document.components;
    for (const item of Object.values(document.paths))
      for (const [method, { operationId }] of Object.entries(item))
        if (!tried.has(operationId)) delete item[method];
    const isNamed = (name: string) => JSON.stringify(document).includes(`"#/components/schemas/${name}"`);
    for (let left = 0; left !== Object.keys(schemas).length; ) {
      left = Object.keys(schemas).length;
      for (const name of Object.keys(schemas)) if (!isNamed(name)) delete schemas[name];
    }
    await route.fulfill({ response, json: document });
  });
}

/** Opens an operation for trying it out. */
async function openOperation(page: Page, id: string): Promise<Locator> {
  const operation = page.locator(`.opblock[id$="-${id}"]`);
  await operation.locator(".opblock-summary-control").click();
  await operation.getByRole("button", { name: "Try it out" }).click();
  return operation;
}

/** Sends the example of an operation as it is, and returns the status of its response. */
async function tryExample(page: Page, id: string): Promise<string> {
  const operation = await openOperation(page, id);
  await operation.getByRole("button", { name: "Execute" }).click();
  const status = operation.locator(".live-responses-table tbody .response-col_status").first();
  return (await status.textContent())?.trim() ?? "";
}

/** The dark page differs only by its colours. */
const rules: Record<"light" | "dark", RunOptions> = {
  light: { resultTypes: ["violations"] },
  dark: { resultTypes: ["violations"], runOnly: ["color-contrast"] },
};

async function violations(page: Page, within: string, runOptions: RunOptions): Promise<string[]> {
  const given = [within, runOptions].map((one) => JSON.stringify(one)).join(", ");
  const found: AxeResults = await page.evaluate(`axe.run(${given})`);
  return found.violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id} ${target.join(" ")}: ${failureSummary}`),
  );
}

browserTest(
  "without a session, the API reference sends requests with the key that was entered",
  async (visitor) => {
    visitor.expectErrors(/401/);
    const page = await visitor.visit("/sign-in", { isSignedIn: false });
    await shortenReference(page);
    await page.goto(new URL("/docs", page.url()).href);
    expect(await page.getByRole("banner").textContent()).toContain("enter an API key");
    expect(await tryExample(page, "predict")).toBe("401");
    await page.locator(".scheme-container").getByRole("button", { name: "Authorize" }).click();
    const dialog = page.getByRole("dialog", { name: "Authorize" });
    await dialog.locator("input").first().fill(testKey);
    await dialog.getByRole("button", { name: "Authorize" }).first().click();
    await dialog.getByRole("button", { name: "Close" }).first().click();
    expect(await tryExample(page, "createApiKey")).toBe("201");
  },
);

browserTest(
  "the API reference has the dashboard's fonts and colours, and leads back to it",
  async (visitor) => {
    const page = await visitor.visit("/", { colorScheme: "light" });
    await page.getByRole("radio", { name: "Dark" }).first().click();
    await page.goto(new URL("/docs", visitor.presage.url).href);
    await page.locator("html[data-theme=dark].dark-mode").waitFor();
    await page.locator(".opblock-summary-path").first().waitFor();
    const fontOf = (selector: string) =>
      page
        .locator(selector)
        .first()
        .evaluate((element) => getComputedStyle(element).fontFamily.split(",")[0]);
    for (const selector of ["h1", ".opblock-summary-description", ".btn.authorize", ".opblock-tag"])
      expect([selector, await fontOf(selector)]).toEqual([selector, '"Inter Variable"']);
    expect(await fontOf(".opblock-summary-path")).toBe('"JetBrains Mono Variable"');
    const loaded = await page.evaluate(async () => {
      await document.fonts.ready;
      return [...document.fonts].filter(({ status }) => status === "loaded").map(({ family }) => family);
    });
    expect(loaded.map((family) => family.replaceAll('"', "")).sort()).toEqual([
      "Inter Variable",
      "JetBrains Mono Variable",
    ]);
    expect(await page.title()).toBe("API reference · Presage");
    expect(await page.getByRole("heading", { level: 1 }).allTextContents()).toEqual(["API reference"]);
    await page.getByRole("link", { name: "Dashboard" }).click();
    await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
  },
);

browserTest(
  "a signed-in browser creates a key from the API reference without entering one, and axe finds nothing there, light and dark, wide and narrow",
  async (visitor) => {
    const page = await visitor.visit("/account", { reducedMotion: "reduce" });
    await shortenReference(page);
    await page.goto(new URL("/docs", page.url()).href);
    expect(await page.getByRole("banner").textContent()).toContain("You are signed in");
    expect(await tryExample(page, "createApiKey")).toBe("201");
    expect(await tryExample(page, "evaluate")).toBe("200");
    // The shown command works in a terminal, where there is no session.
    const command = await page.locator('.opblock[id$="-evaluate"] .curl').first().textContent();
    expect(command).toContain('-H "X-API-KEY: $PRESAGE_API_KEY"');
    expect(command).not.toContain("X-CSRF-Token");

    await openOperation(page, "exportEvaluationResults");
    await page.getByRole("tab", { name: "Schema" }).first().click();
    await page.evaluate(axe);
    const expectAccessible = async (
      shown: object,
      within: string,
      colorSchemes: readonly ("light" | "dark")[] = ["light", "dark"],
    ) => {
      for (const colorScheme of colorSchemes) {
        await page.emulateMedia({ colorScheme });
        await page.locator(`html[data-theme=${colorScheme}]`).waitFor();
        // Swagger UI's buttons fade from one colour to the other.
        await page.evaluate(() =>
          Promise.allSettled(document.getAnimations().map(({ finished }) => finished)),
        );
        const found = await violations(page, within, rules[colorScheme]);
        expect({ shown, colorScheme, found }).toEqual({ shown, colorScheme, found: [] });
      }
    };
    for (const viewport of viewports) {
      await page.setViewportSize(viewport);
      // A narrow page has the colours of the wide one.
      await expectAccessible(viewport, "html", viewport === narrow ? ["light"] : undefined);
      expect(await sidewaysOverflow(page)).toBe(0);
    }
    await page.locator(".scheme-container").getByRole("button", { name: "Authorize" }).click();
    await page.getByRole("dialog", { name: "Authorize" }).getByRole("heading").first().waitFor();
    // The page behind it has been looked at.
    await expectAccessible({ dialog: "Authorize" }, "[role=dialog]");
  },
);
