import type { Page } from "playwright-core";

/** How many pixels a page can be scrolled sideways. */
export async function sidewaysOverflow(page: Page): Promise<number> {
  return await page.evaluate(() => {
    const scrollers = [document.documentElement, document.querySelector("main") ?? document.body];
    return Math.max(...scrollers.map(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth));
  });
}

/**
 * How many pixels a page can be scrolled past its content. The document never scrolls, only parts of the page do, and each of
 * these ends shortly below its last visible element.
 */
export async function emptyScroll(page: Page): Promise<number> {
  return await page.evaluate(() => {
    const margin = 64;
    const { documentElement: root } = document;
    const scrolls = (element: Element) => /auto|scroll/.test(getComputedStyle(element).overflowY);
    const emptiness = (scroller: Element) => {
      if (scroller.scrollHeight <= scroller.clientHeight) return 0;
      const seen = [...scroller.querySelectorAll("*")].filter((element) => {
        const { width, height } = element.getBoundingClientRect();
        return width > 1 && height > 1 && element.closest(".sr-only") === null;
      });
      // A part with only text contains no elements.
      const text = document.createRange();
      text.selectNodeContents(scroller);
      const ends = seen.length === 0 ? [text] : seen;
      const bottom = Math.max(...ends.map((end) => end.getBoundingClientRect().bottom));
      const end = scroller.getBoundingClientRect().top - scroller.scrollTop + scroller.scrollHeight;
      return end - bottom - margin;
    };
    const parts = [...document.querySelectorAll("*")].filter(scrolls);
    return Math.max(0, root.scrollHeight - root.clientHeight, ...parts.map(emptiness));
  });
}
