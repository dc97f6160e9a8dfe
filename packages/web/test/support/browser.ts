import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";

/** Where Chromium or Chrome is usually installed, unless an environment variable says otherwise. */
const knownPaths = [
  process.env.PRESAGE_TEST_CHROMIUM,
  // The same engine without Chromium's own windows: a sixth less processor time.
  "/usr/bin/chromium-headless-shell",
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
];

export const chromiumPath = knownPaths.find((path) => path !== undefined && existsSync(path));

/**
 * Chromium takes only the last list, so this one repeats what Playwright switches off and matters here. The pop-ups of the
 * address bar are pages of their own, which Chromium otherwise loads for every window, at half a second of processor time.
 */
const withoutFeatures = [
  ...["WebUIOmniboxPopup", "WebUIOmniboxAimPopup"],
  ...["AimEnabled", "MediaRouter", "NetworkTimeServiceQuerying", "OptimizationHints", "PreconnectToSearch"],
  ...["AvoidUnnecessaryBeforeUnloadCheckSync", "DestroyProfileOnBrowserClose", "PaintHolding"],
  ...["HttpsFirstBalancedModeAutoEnable", "HttpsUpgrades", "LensOverlay", "ThirdPartyStoragePartitioning"],
  // A process in reserve for the next site, which no test visits: it is started once for each context.
  "SpareRendererForSitePerProcess",
];

/** A real browser that makes no requests of its own. */
export async function openBrowser(): Promise<Browser> {
  if (chromiumPath === undefined) {
    throw new Error("No Chromium was found. Install it, or name it in PRESAGE_TEST_CHROMIUM.");
  }
  return await chromium.launch({
    executablePath: chromiumPath,
    args: [
      // As root in a container, Chromium cannot use its sandbox.
      ...(process.getuid?.() === 0 ? ["--no-sandbox"] : []),
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      `--disable-features=${withoutFeatures.join(",")}`,
    ],
  });
}

let shared: Promise<Browser> | undefined;

/** The browser of all test files of this process, with which it ends; what a test opens in it has a context of its own. */
export async function sharedBrowser(): Promise<Browser> {
  shared ??= openBrowser().then((browser) => {
    browser.once("disconnected", () => {
      shared = undefined;
    });
    return browser;
  });
  return await shared;
}
