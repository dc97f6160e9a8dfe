import { expect } from "bun:test";
import { dashboardTests } from "../support/dashboard-tests.ts";

const { browserTest } = dashboardTests(() => ({ hasProvider: true }));

browserTest(
  "Signing in at the provider leads to the requested page, and signing out ends the session there too",
  async (visitor) => {
    const { visit, presage } = visitor;
    const page = await visit("/usage?period=90d", { isSignedIn: false });
    await page.getByRole("link", { name: "Sign in" }).click();
    await page.waitForURL(`${presage.url}/usage?period=90d`);
    await page.getByRole("heading", { name: "People & spend", level: 1 }).waitFor();

    await page.getByRole("button", { name: "ada@example.org" }).click();
    await page.getByRole("menuitem", { name: "Sign out" }).click();
    await page.getByRole("button", { name: "Yes, sign me out" }).click();
    await page.waitForURL(`${presage.url}/sign-in?signed_out`);
    await page.getByRole("heading", { name: "You are signed out" }).waitFor();
    await page.goto(`${presage.url}/usage`);
    await page.getByRole("link", { name: "Sign in" }).waitFor();
    expect(new URL(page.url()).pathname).toBe("/sign-in");
  },
);
