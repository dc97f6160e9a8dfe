import type { Page } from "playwright-core";

/** How many pixels a page can be scrolled sideways. */
export async function sidewaysOverflow(page: Page): Promise<number> {
  return await page.evaluate(() => {
    const scrollers = [document.documentElement, document.querySelector("main") ?? document.body];
    return Math.max(...scrollers.map(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth));
  });
}
