import { everyResult } from "./views.ts";
import { type Page, readMarkMs, type Visitor, visit, withPage } from "./visitor.ts";

export interface DrawerTimes {
  /** The first result opened in a page. */
  readonly firstMs: number;
  readonly nextMs: number;
}

/** Milliseconds from the click on a row until the complete result is painted. */
const openResult = async (page: Page, row: number): Promise<number> => {
  await page.locator("[data-row-link]").nth(row).click();
  const shownMs = await readMarkMs(page, "result");
  const clickedMs = await page.evaluate<number>("presageBench.clickedMs");
  await page.waitForLoadState("networkidle");
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "hidden" });
  return shownMs - clickedMs;
};

export const measureDrawer = async (visitor: Visitor): Promise<DrawerTimes> =>
  await withPage(visitor, async (page) => {
    await visit(page, visitor.origin, everyResult);
    return { firstMs: await openResult(page, 0), nextMs: await openResult(page, 1) };
  });
