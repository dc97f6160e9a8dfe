import { expect } from "bun:test";
import { eventually } from "../../../server/test/support/eventually.ts";
import type { Locator, Page } from "./page.ts";

/** Waits until the table has `count` results. */
export async function showsResults(page: Page, count: number): Promise<void> {
  expect(
    await eventually(
      () => resultRows(page).count(),
      (found) => found === count,
    ),
  ).toBe(count);
}

/** The texts of the table's rows, without the times. */
export async function resultTexts(page: Page): Promise<string[]> {
  const texts = await resultRows(page).allInnerTexts();
  return texts.map((text) => text.replace(/\d\d:\d\d:\d\d$/, ""));
}

function resultRows(page: Page): Locator {
  return page.getByRole("row").filter({ has: page.getByRole("link", { name: /^Result \d+:/ }) });
}
