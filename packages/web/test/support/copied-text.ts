import type { Page } from "playwright-core";
import { eventually } from "../../../server/test/support/eventually.ts";

/** Returns the text that the page has copied. */
export async function copiedText(page: Page, isWanted: (text: string) => boolean): Promise<string> {
  return await eventually(() => page.evaluate(() => navigator.clipboard.readText()), isWanted);
}

/** Runs an action that copies, and waits for the page to report it, however briefly. */
export async function expectCopied(page: Page, copy: () => Promise<void>): Promise<void> {
  const said = page.evaluate(
    () =>
      new Promise<void>((resolve) => {
        const observer = new MutationObserver(() => {
          if (!document.body.outerHTML.includes("Copied")) return;
          observer.disconnect();
          resolve();
        });
        observer.observe(document.body, {
          subtree: true,
          childList: true,
          characterData: true,
          attributes: true,
        });
      }),
  );
  await Promise.all([said, copy()]);
}
