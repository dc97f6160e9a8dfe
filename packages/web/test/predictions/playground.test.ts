import { afterAll, beforeAll, expect } from "bun:test";
import {
  completion,
  startUpstream,
  type TestUpstream,
} from "../../../server/test/support/upstream/upstream.ts";
import { dashboardTests } from "../support/dashboard-tests.ts";
import type { Page } from "../support/page.ts";
import { signOut } from "../support/sign-out.ts";

let upstream: TestUpstream;
beforeAll(() => {
  upstream = startUpstream();
});
afterAll(() => upstream.stop());

const { browserTest, dashboardTest, slowDashboardTest } = dashboardTests(() => ({
  hasFile: true,
  environment: { PRESAGE_UPSTREAM_URL: upstream.url },
}));

const knowledge = "Doors of oak are heavy.\n\nA “key” is not a 'latch'; \\n is no line break.";
const state = "You are in the hall.\n\tThe door is closed.";
const action = "open door";

browserTest("The displayed prompt is the one that is sent", async ({ visit }) => {
  const page = await visit("/playground");
  await fillIn(page);
  const prompt = page.getByRole("tabpanel", { name: "Prompt" });
  await prompt.getByText("System turn").waitFor();
  const shown = await prompt.locator("pre").allTextContents();
  expect(shown).toEqual([`## DOMAIN KNOWLEDGE\n${knowledge}`, `State: ${state}\n\nAction: ${action}`]);

  await page.getByRole("button", { name: "Predict" }).click();
  const response = page.getByRole("region", { name: "Response 1" });
  await response.getByText("The door is open.").waitFor();
  expect(upstream.received.at(-1)?.body.messages.map(({ content }) => content)).toEqual(shown);
});

dashboardTest("A failure is explained, and the input survives it and a reload", async (visitor) => {
  const { visit, expectErrors } = visitor;
  const page = await visit("/playground");
  await fillIn(page);
  upstream.answer = () =>
    Response.json(
      { error: { message: "This model's maximum context length is 8192 tokens.", code: 400 } },
      { status: 400 },
    );
  expectErrors(/status of 413/);
  await page.getByRole("textbox", { name: "Action", exact: true }).press("Control+Enter");
  const failure = page.getByRole("alert");
  await failure.getByText("Too much text for the model").waitFor();
  await failure.getByText("Shorten the context or the state").waitFor();
  await expectTyped(page);
  await page.reload();
  await expectTyped(page);

  upstream.answer = () => Response.json(completion("The door creaks."));
  await page.getByRole("button", { name: "Predict" }).click();
  await page.getByRole("region", { name: "Response 1" }).getByText("The door creaks.").waitFor();
});

dashboardTest("Missing input is reported, and nothing is sent", async ({ visit }) => {
  const before = upstream.received.length;
  const page = await visit("/playground");
  await page.getByRole("button", { name: "Clear", exact: true }).click();
  await page.getByRole("textbox", { name: "State", exact: true }).fill(state);
  await page.getByRole("button", { name: "Predict" }).click();
  const missing = page.getByRole("textbox", { name: "Action", exact: true });
  await page.getByRole("form", { name: "Input" }).getByRole("alert").waitFor();
  expect(await missing.getAttribute("aria-invalid")).toBe("true");
  expect(await missing.evaluate((field) => field === document.activeElement)).toBe(true);
  expect(upstream.received).toHaveLength(before);
});

dashboardTest("A response is evaluated and its result opened", async ({ visit }) => {
  upstream.answer = () => Response.json(completion("The door is open."));
  const page = await visit("/playground");
  await fillIn(page);
  await page.getByRole("button", { name: "Predict" }).click();
  const evaluating = page.getByRole("region", { name: "Evaluate this response" });
  const family = evaluating.getByRole("group", { name: "exact-match" });
  await family.getByRole("checkbox", { name: "default" }).check();
  await evaluating.getByRole("textbox", { name: "Gold answer" }).fill("The door is open.");
  await evaluating.getByRole("button", { name: "Evaluate" }).click();
  const results = evaluating.getByRole("list", { name: "Results" });
  await results.getByText("Pass").waitFor();
  await results.getByRole("link", { name: "Open" }).click();

  const drawer = page.getByRole("dialog", { name: /^Result \d+$/ });
  await drawer.getByText("The output equals the gold answer.").waitFor();
  expect(new URL(page.url()).searchParams.get("app")).toBe("playground");
  await page.goBack();
  await expectTyped(page);
});

slowDashboardTest("With a model, no example says that it needs one", async ({ visit }) => {
  const page = await visit("/playground");
  await page.getByText("test-model").first().waitFor();
  await page.getByRole("button", { name: "Examples" }).click();
  await page.getByRole("menuitem", { name: "A tool call" }).waitFor();
  expect(await page.getByText("Needs a model").count()).toBe(0);
});

slowDashboardTest("The input is gone once its user signs out", async ({ visit, newSignInAddress }) => {
  const page = await visit(await newSignInAddress(), { isSignedIn: false });
  await page.getByRole("link", { name: "Playground" }).click();
  await fillIn(page);
  const kept = () => page.evaluate(() => JSON.stringify({ ...sessionStorage, ...localStorage }));
  expect(await kept()).toContain("Doors of oak");
  await signOut(page);
  await page.getByRole("heading", { name: "You are signed out" }).waitFor();
  expect(await kept()).not.toContain("Doors of oak");
});

async function fillIn(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Clear", exact: true }).click();
  await page.getByRole("button", { name: "Domain knowledge" }).click();
  await page.getByRole("textbox", { name: "Domain knowledge" }).fill(knowledge);
  await page.getByRole("textbox", { name: "State", exact: true }).fill(state);
  await page.getByRole("textbox", { name: "Action", exact: true }).fill(action);
}

async function expectTyped(page: Page): Promise<void> {
  const section = page.getByRole("button", { name: "Domain knowledge" });
  if ((await section.getAttribute("aria-expanded")) === "false") await section.click();
  expect(await page.getByRole("textbox", { name: "Domain knowledge" }).inputValue()).toBe(knowledge);
  expect(await page.getByRole("textbox", { name: "State", exact: true }).inputValue()).toBe(state);
  expect(await page.getByRole("textbox", { name: "Action", exact: true }).inputValue()).toBe(action);
}
