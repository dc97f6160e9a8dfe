import { expect } from "bun:test";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { AxeResults, RunOptions } from "axe-core";
import type { Page } from "playwright-core";
import { eventually } from "../../../server/test/support/eventually.ts";
import { emptyScroll, sidewaysOverflow } from "./scrolling.ts";

export const wide = { width: 1440, height: 900 };
const narrow = { width: 390, height: 844 };
const axe = readFileSync(createRequire(import.meta.path).resolve("axe-core/axe.min.js"), "utf8");
/** The dark page differs only by its colours. */
const rules: Record<"light" | "dark", RunOptions> = {
  light: { resultTypes: ["violations"] },
  dark: { resultTypes: ["violations"], runOnly: ["color-contrast"] },
};

/** Wide in light and dark, and narrow: axe finds nothing, nothing overflows, and nothing scrolls into emptiness. */
export async function expectAccessible(page: Page): Promise<void> {
  await page.evaluate(axe);
  for (const viewport of [wide, narrow]) {
    await page.setViewportSize(viewport);
    const overflow = () => sidewaysOverflow(page);
    expect(await eventually(overflow, (pixels) => pixels === 0, 10_000)).toBe(0);
    expect(await emptyScroll(page)).toBe(0);
    // A narrow page has the colours of the wide one.
    for (const colorScheme of viewport === wide ? (["light", "dark"] as const) : (["light"] as const)) {
      await page.emulateMedia({ colorScheme });
      // The sign-in page follows the device without a script.
      await page.locator(`html[data-theme=${colorScheme}], html:not([data-theme])`).waitFor();
      const problems = await seriousViolations(page, rules[colorScheme]);
      expect({ viewport, colorScheme, problems }).toEqual({ viewport, colorScheme, problems: [] });
    }
  }
}

async function seriousViolations(page: Page, runOptions: RunOptions): Promise<string[]> {
  const { violations }: AxeResults = await page.evaluate(`axe.run(${JSON.stringify(runOptions)})`);
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary }) => `${id} ${target.join(" ")}: ${failureSummary}`),
    );
}
