import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import type { Shot } from "./shots.ts";

const themes = ["light", "dark"] as const;
const sizes = { wide: { width: 1440, height: 900 }, narrow: { width: 390, height: 844 } } as const;
const settleMs = 400;

/** Saves every page, light and dark, wide and narrow, as `<page>-<theme>-<size>.png`. */
export async function takeScreenshots(
  browser: Browser,
  signedIn: Awaited<ReturnType<typeof storageState>>,
  url: string,
  shots: readonly Shot[],
  folder: string,
): Promise<string[]> {
  await mkdir(folder, { recursive: true });
  const files: string[] = [];
  for (const colorScheme of themes) {
    for (const [size, viewport] of Object.entries(sizes)) {
      const context = await browser.newContext({ storageState: signedIn, colorScheme, viewport });
      const page = await context.newPage();
      for (const { name, path, prepare } of shots) {
        await page.goto(url + path, { waitUntil: "networkidle" });
        await prepare?.(page);
        await page.waitForTimeout(settleMs);
        const file = join(folder, `${name}-${colorScheme}-${size}.png`);
        await page.screenshot({ path: file });
        files.push(file);
      }
      await context.close();
    }
  }
  return files;
}

/** Signs in with the address that the server printed, and returns the resulting cookies and storage. */
export async function storageState(browser: Browser, signInAddress: string) {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(signInAddress);
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  const state = await context.storageState();
  await context.close();
  return state;
}
