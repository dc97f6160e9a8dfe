import { expect } from "bun:test";
import { addUse, emptyTotals } from "../../../server/src/usage/collect-usage.ts";
import { writeUsage } from "../../../server/src/usage/usage-store.ts";
import { eventually } from "../../../server/test/support/eventually.ts";
import { openStore } from "../../../server/test/support/store/open-store.ts";
import { storeResults } from "../../../server/test/support/store/store-results.ts";
import { dashboardTests } from "../support/dashboard-tests.ts";
import { finishRun, uploadHousehold } from "../support/household.ts";
import { watchShifts } from "../support/watch-shifts.ts";

const { browserTest, dashboardTest } = dashboardTests();

const comparison = "compared with the previous 7 days";

dashboardTest("The overview says that it compares once there is an earlier period", async (visitor) => {
  const { visit, client, databaseUrl } = visitor;
  await client.results.importBatch([{ evaluator_id: "theirs", pass: true }]);
  const page = await visit("/");
  await page.getByRole("row").filter({ hasText: "external:theirs" }).waitFor();
  expect(await page.getByText(comparison).count()).toBe(0);

  const tenDaysAgo = (Date.now() - 10 * 86_400_000) * 1000;
  await using store = await openStore(databaseUrl);
  await storeResults(store.database, store.owner.account_id, [
    { evaluatorId: "earlier", createdAt: tenDaysAgo },
  ]);
  await page.reload();
  await page.getByText(comparison).waitFor();
});

dashboardTest("A pass rate is of direct evaluations or of one run, never of several", async (visitor) => {
  const { visit, client } = visitor;
  const verdict = (pass: boolean, evaluation_run_id?: string) => ({
    evaluator_id: "pooled",
    pass,
    ...(evaluation_run_id && { evaluation_run_id }),
  });
  await client.results.importBatch([
    verdict(true),
    ...[true, false, false].map((pass) => verdict(pass, "bad")),
    ...[true, true, true, true].map((pass) => verdict(pass, "good")),
  ]);
  const page = await visit("/");
  const row = () => page.getByRole("row").filter({ hasText: "external:pooled" });
  await row().getByText("1 verdict", { exact: true }).waitFor();
  await row().getByText("100 %", { exact: true }).first().waitFor();
  await page.getByRole("term").filter({ hasText: "Direct evaluations" }).waitFor();
  await page.goto(new URL("/evaluators", page.url()).href);
  await row().getByText("100 %", { exact: true }).first().waitFor();
  // Uses are a count, and have those of runs.
  await row().getByRole("cell", { name: "8", exact: true }).waitFor();
  await row().getByRole("link").first().click();
  await page
    .getByText(/, 1 verdict$/)
    .first()
    .waitFor();
  await page.getByRole("button", { name: "Remove the filter Run none" }).click();
  await page.getByRole("button", { name: "Pass rates by evaluator, profile and run: 3" }).click();
  const rates = page.getByRole("listitem");
  await rates.filter({ hasText: "bad" }).getByText("33.3 %").waitFor();
  await rates.filter({ hasText: "direct evaluations" }).getByText("1 verdict").waitFor();
});

browserTest("At no width do the columns of runs lie over each other", async ({ visit, client }) => {
  const { id } = await uploadHousehold(client, "widths");
  await finishRun(client, {
    name: "narrow",
    dataset_id: id,
    target: { deployment: "sandbox" },
    evaluators: [{ evaluator: "exact-match" }],
  });
  const page = await visit("/");
  const row = page
    .getByRole("region", { name: "Runs", exact: true })
    .getByRole("row")
    .filter({ hasText: "narrow" });
  await row.getByText("50.0 %").first().waitFor();
  for (const width of [390, 768, 1024, 1280]) {
    await page.setViewportSize({ width, height: 900 });
    await row.getByRole("link", { name: "narrow" }).locator("visible=true").waitFor();
    const spilt = await row.evaluate(
      (element) =>
        [...element.querySelectorAll("td, th")].filter((cell) => cell.scrollWidth > cell.clientWidth).length,
    );
    expect([width, spilt]).toEqual([width, 0]);
  }
});

browserTest("What is of a single day is a bar, not a chart of one dot", async ({ visit, client }) => {
  await client.predict({ interaction: { state: "The door is closed.", action: "open door" } });
  await client.results.importBatch([
    { evaluator_id: "today", pass: true },
    { evaluator_id: "today", pass: false },
  ]);
  const now = Date.now();
  const period = {
    since: new Date(now - 86_400_000).toISOString(),
    until: new Date(now + 60_000).toISOString(),
  };
  await eventually(
    () => client.usage.list(period),
    ({ data }) => data.length > 0,
    20_000,
  );
  const page = await visit("/?rate=external%3Atoday%7E%7E");
  await page.getByText("All requests of this period were made in one day.").waitFor();
  expect(await page.getByRole("figure", { name: "Latency" }).count()).toBe(0);
  const rate = page.getByRole("figure", { name: "Pass rate by day of external:today" });
  await rate.getByText("50.0 %").waitFor();
  await rate.getByText("2 verdicts, all on one day.").waitFor();
  await page.getByRole("slider", { name: "Requests over time" }).waitFor();
  expect(await page.getByRole("slider").locator("circle").count()).toBe(0);
});

browserTest("A figure over time is read by keys and by a finger", async ({ visit }) => {
  const page = await visit("/", { hasTouch: true, viewport: { width: 390, height: 800 } });
  const plot = page.getByRole("slider", { name: "Requests over time" });
  const values = /, UTC\. Succeeded: \d+\. Failed: \d+$/;
  const heard = async (isIt: (text: string) => boolean) => {
    const text = await eventually(async () => (await plot.getAttribute("aria-valuetext")) ?? "", isIt);
    expect(text).toSatisfy(isIt);
    return text;
  };
  await plot.focus();
  await page.keyboard.press("End");
  const newest = await heard((text) => values.test(text));
  await page.keyboard.press("ArrowLeft");
  await heard((text) => values.test(text) && text !== newest);
  await page.keyboard.press("Escape");
  await heard((text) => text === "Arrow keys read the values");
  // What was tapped stays.
  await plot.tap();
  const readout = plot.getByText(/, UTC$/);
  await readout.waitFor();
  const { x, width } = (await readout.boundingBox()) ?? { x: 0, width: 0 };
  expect(x + width).toBeLessThan(390);
  expect(await plot.getAttribute("aria-valuetext")).toMatch(values);
});

dashboardTest("The newest runs come first, with their figures beside those of no change", async (visitor) => {
  const { visit, client } = visitor;
  const { id } = await uploadHousehold(client, "overview");
  const run = await finishRun(client, {
    name: "our model",
    dataset_id: id,
    target: { deployment: "sandbox" },
    evaluators: [{ evaluator: "exact-match" }, { evaluator: "state-change" }],
  });
  const report = await client.runs.report(run.id);
  const page = await visit("/");
  const runs = page.getByRole("region", { name: "Runs", exact: true });
  const row = runs.getByRole("row").filter({ hasText: "our model" });
  await row.getByText("no change 50.0 %").first().waitFor();
  const shown = report.evaluators[0]?.pass_rate ?? 0;
  await row
    .getByText(`${(shown * 100).toFixed(shown === 1 || shown === 0 ? 0 : 1)} %`)
    .first()
    .waitFor();
  await row.getByText("state-change").waitFor();
  expect(await row.getByRole("link", { name: "our model" }).first().getAttribute("href")).toBe(
    `/runs/${run.id}`,
  );
  await row.getByText("no change 50.0 %").first().hover();
  await page.getByRole("tooltip").getByText("Share of 6 samples in 3 trajectories").first().waitFor();
  const first = page.getByRole("main").getByRole("heading", { level: 2 }).first();
  expect(await first.textContent()).toBe("Runs");
});

dashboardTest("Errors open the log of those predictions", async ({ visit, databaseUrl }) => {
  await using store = await openStore(databaseUrl);
  const use = { accountId: store.owner.account_id, keyId: undefined, operation: "predict" } as const;
  const failed = { ...use, failure: "timeout", promptTokens: 0, completionTokens: 0 } as const;
  const totals = emptyTotals({ ...failed, totalMs: 1, upstreamMs: 1 }, Math.floor(Date.now() / 3_600_000));
  addUse(totals, { ...failed, totalMs: 1, upstreamMs: 1 });
  await writeUsage(store.database, new Map([["timeout", totals]]));
  const page = await visit("/?period=30d");
  await page.getByRole("link", { name: "Timeout" }).click();
  await page.getByRole("heading", { level: 1, name: "Predictions" }).waitFor();
  const { searchParams } = new URL(page.url());
  expect(Object.fromEntries(searchParams)).toMatchObject({
    status: "failed",
    category: "timeout",
    period: "30d",
  });
});

browserTest("Nothing moves when figures load, wide and narrow, however slowly they come", async (visitor) => {
  for (const viewport of [
    { width: 1440, height: 2400 },
    { width: 390, height: 4000 },
  ]) {
    const page = await visitor.visit("/playground", { viewport, reducedMotion: "no-preference" });
    await watchShifts(page);
    let waits = 0;
    await page.route("**/v1/**", async (route) => {
      waits += 1;
      await new Promise((resolve) => setTimeout(resolve, 150 * (waits % 4)));
      await route.continue();
    });
    await page.goto(new URL("/", page.url()).href);
    await page.getByRole("row").filter({ hasText: "our model" }).getByText("50.0 %").first().waitFor();
    await page.waitForLoadState("networkidle");
    expect(await page.evaluate(() => Reflect.get(window, "shifts"))).toEqual([]);
  }
});
