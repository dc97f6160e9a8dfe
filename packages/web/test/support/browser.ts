import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";

/** Where Chromium or Chrome is usually installed, unless an environment variable says otherwise. */
const knownPaths = [
  process.env.PRESAGE_TEST_CHROMIUM,
  // The same engine without Chromium's own windows takes a sixth less processor time.
  "/usr/bin/chromium-headless-shell",
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
];

export const chromiumPath = knownPaths.find((path) => path !== undefined && existsSync(path));

/**
 * Chromium uses only the last such list, so this one repeats the relevant part of Playwright's. The pop-ups of the
 * address bar are separate pages, which Chromium otherwise loads for every window, at half a second of processor time.
 */
const withoutFeatures = [
  ...["WebUIOmniboxPopup", "WebUIOmniboxAimPopup"],
  ...["AimEnabled", "MediaRouter", "NetworkTimeServiceQuerying", "OptimizationHints", "PreconnectToSearch"],
  ...["AvoidUnnecessaryBeforeUnloadCheckSync", "DestroyProfileOnBrowserClose", "PaintHolding"],
  ...["HttpsFirstBalancedModeAutoEnable", "HttpsUpgrades", "LensOverlay", "ThirdPartyStoragePartitioning"],
  // A spare process for the next site, which no test visits: it would be started once per context.
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
      // Chromium's sandbox does not work as root in a container.
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

/** The browser of all test files of this process, which ends with the process; each test gets its own contexts. */
export async function sharedBrowser(): Promise<Browser> {
  shared ??= openBrowser().then((browser) => {
    browser.once("disconnected", () => {
      shared = undefined;
    });
    return browser;
  });
  return await shared;
}
