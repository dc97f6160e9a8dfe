import type { BrowserContext, BrowserContextOptions } from "playwright-core";
import { sharedBrowser } from "./browser.ts";
import type { RunningDashboard } from "./running-dashboard.ts";
import { slowDown } from "./slow-down.ts";
import { watchContext } from "./watch-context.ts";

export interface VisitOptions extends BrowserContextOptions {
  isSignedIn?: boolean;
}

const timeoutMs = 120_000;

/** A context without a session; forbidden actions of its pages are added to `problems`. */
export async function openContext(
  { otherOrigins, presage }: Pick<RunningDashboard, "otherOrigins" | "presage">,
  problems: string[],
  options: BrowserContextOptions,
): Promise<BrowserContext> {
  // Animations render 60 frames a second: a tenth of the cost of loading a page.
  const browser = await sharedBrowser();
  const context = await browser.newContext({ reducedMotion: "reduce", ...options });
  context.setDefaultTimeout(timeoutMs);
  await slowDown(context);
  watchContext(context, presage.url, otherOrigins, problems);
  return context;
}
