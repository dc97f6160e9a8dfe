import { expect } from "bun:test";
import type { Locator, Page } from "playwright-core";
import { eventually } from "../../../server/test/support/eventually.ts";

/** Waits until the table has so many results. */
export async function showsResults(page: Page, count: number): Promise<void> {
  expect(
    await eventually(
      () => resultRows(page).count(),
      (found) => found === count,
    ),
  ).toBe(count);
}

/** What stands in the rows of the table, in their order. */
export async function resultTexts(page: Page): Promise<string[]> {
  return await resultRows(page).allInnerTexts();
}

function resultRows(page: Page): Locator {
  return page.getByRole("row").filter({ has: page.getByRole("link", { name: /^Result \d+:/ }) });
}
