import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";

/** Where Chromium or Chrome usually is; a variable names another place. */
const usualPlaces = [
  process.env.PRESAGE_TEST_CHROMIUM,
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
];

/** The browser's program, if there is one. */
export const chromiumPath = usualPlaces.find((path) => path !== undefined && existsSync(path));

/** A real browser that asks nobody but the pages for anything. */
export async function openBrowser(): Promise<Browser> {
  if (chromiumPath === undefined) {
    throw new Error("No Chromium was found. Install it, or name it in PRESAGE_TEST_CHROMIUM.");
  }
  return await chromium.launch({
    executablePath: chromiumPath,
    args: [
      // As root, in a container, Chromium has no sandbox of its own.
      ...(process.getuid?.() === 0 ? ["--no-sandbox"] : []),
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
}
