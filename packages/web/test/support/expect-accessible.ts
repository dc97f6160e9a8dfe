import { expect } from "bun:test";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { AxeResults, RunOptions } from "axe-core";
import type { Page } from "playwright-core";
import { eventually } from "../../../server/test/support/eventually.ts";
import { isWholeRun } from "../../../server/test/support/whole-run.ts";
import { emptyScroll, sidewaysOverflow } from "./scrolling.ts";

export const wide = { width: 1440, height: 900 };
const narrow = { width: 390, height: 844 };
const axe = readFileSync(createRequire(import.meta.path).resolve("axe-core/axe.min.js"), "utf8");
interface Look {
  viewport: typeof wide;
  colorScheme: "light" | "dark";
  /** The rules that axe checks. Absent: axe is not run. */
  rules: RunOptions | undefined;
}
/** The dark page differs only in its colours, the narrow one in everything else. */
const dark: Look = { viewport: wide, colorScheme: "dark", rules: { runOnly: ["color-contrast"] } };
const withoutColours: RunOptions = { rules: { "color-contrast": { enabled: false } } };
const looks: Look[] = [
  { viewport: wide, colorScheme: "light", rules: {} },
  // This look takes half of axe's time.
  ...(isWholeRun ? [dark] : []),
  { viewport: narrow, colorScheme: "light", rules: isWholeRun ? withoutColours : undefined },
];

/**
 * Checks the page wide and narrow (in `npm run test:all`, also dark): nothing overflows, nothing scrolls past its content, and
 * axe finds no problems `within` it. `npm test` runs axe only for the wide page.
 */
export async function expectAccessible(
  page: Page,
  within = "html",
  { documentScrolls = false } = {},
): Promise<void> {
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(axe);
  for (const { viewport, colorScheme, rules } of looks) {
    await page.setViewportSize(viewport);
    await page.emulateMedia({ colorScheme });
    // The sign-in page follows the device's theme without a script.
    await page.locator(`html[data-theme=${colorScheme}], html:not([data-theme])`).waitFor();
    const overflow = () => sidewaysOverflow(page);
    expect(await eventually(overflow, (pixels) => pixels === 0, 10_000)).toBe(0);
    if (!documentScrolls) expect(await emptyScroll(page)).toBe(0);
    if (rules === undefined) continue;
    const problems = await seriousViolations(page, within, { resultTypes: ["violations"], ...rules });
    expect({ viewport, colorScheme, problems }).toEqual({ viewport, colorScheme, problems: [] });
  }
}

async function seriousViolations(page: Page, within: string, runOptions: RunOptions): Promise<string[]> {
  const given = [within, runOptions].map((one) => JSON.stringify(one)).join(", ");
  const { violations }: AxeResults = await page.evaluate(`axe.run(${given})`);
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary }) => `${id} ${target.join(" ")}: ${failureSummary}`),
    );
}
