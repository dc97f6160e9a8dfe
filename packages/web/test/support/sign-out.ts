import type { Page } from "playwright-core";

export async function signOut(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Local mode" }).click();
  await page.getByRole("menuitem", { name: "Sign out" }).click();
}
