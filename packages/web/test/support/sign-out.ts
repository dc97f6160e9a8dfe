import type { Page as BrowserPage } from "playwright-core";
import type { Page } from "./page.ts";

export async function signOut(page: BrowserPage | Page): Promise<void> {
  await page.getByRole("button", { name: "Local mode" }).click();
  await page.getByRole("menuitem", { name: "Sign out" }).click();
}
