import type { Browser } from "./visitor.ts";

export interface NotMeasured {
  /** Why nothing was measured. */
  readonly notMeasured: string;
}

/** The browser driver is a development dependency, so it may not be installed. */
export const openSystemBrowser = async (): Promise<Browser | NotMeasured> => {
  const support = await import("../../packages/web/test/support/browser.ts").catch(() => undefined);
  if (support === undefined) return { notMeasured: "playwright-core is not installed" };
  if (support.chromiumPath === undefined) {
    return { notMeasured: "no Chromium was found; PRESAGE_TEST_CHROMIUM names one in an unusual place" };
  }
  return await support.openBrowser();
};
