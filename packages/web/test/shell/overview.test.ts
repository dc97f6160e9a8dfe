import { expect, test } from "bun:test";
import type { Headline } from "@presage/sdk";
import { eventually } from "../../../server/test/support/eventually.ts";
import { groupsOf } from "../../src/pages/overview/headlines-card.tsx";
import { dashboardTests } from "../support/dashboard-tests.ts";
import { finishRun, uploadHousehold } from "../support/household.ts";
import { watchShifts } from "../support/watch-shifts.ts";

const { dashboardTest, slowBrowserTest, slowDashboardTest } = dashboardTests();

test("Only what was measured alike is ordered by its rate", () => {
  const row = (id: string, evaluator: string, pass_rate: number) =>
    ({
      run: { id, dataset_id: "d", mode: "teacher-forced", headline: { evaluator, pass_rate } },
    }) as Headline;
  const rows = [
    row("a", "exact", 0.2),
    row("b", "rouge", 0.9),
    row("c", "exact", 0.4),
    row("d", "rouge", 0.1),
  ];
  expect(groupsOf(rows).map((group) => group.map(({ run }) => run.id))).toEqual([["c", "a", "b", "d"]]);
});

slowDashboardTest("A pass rate is of direct evaluations or of one run, never of several", async (visitor) => {
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
  const page = await visit("/evaluators");
  const row = () => page.getByRole("row").filter({ hasText: "external:pooled" });
  // Uses are counts, and include those of runs.
  await row().getByRole("cell", { name: "8", exact: true }).waitFor();
  await row().getByRole("link").first().click();
  await page.getByRole("combobox", { name: "Run" }).selectOption("bad · 3");
  await page.getByText("33.3 %").first().waitFor();
  await page.getByText("3 verdicts").first().waitFor();
});

slowBrowserTest(
  "At no width do the columns of the latest runs lie over each other",
  async ({ visit, client }) => {
    const { id } = await uploadHousehold(client, "widths");
    await finishRun(client, {
      name: "narrow",
      dataset_id: id,
      target: { deployment: "sandbox" },
      evaluators: [{ evaluator: "exact-match" }],
    });
    const page = await visit("/");
    const row = page
      .getByRole("region", { name: "Latest runs" })
      .locator("tbody")
      .filter({ hasText: "widths" })
      .locator("tr + tr")
      .first();
    await row.getByText("50.0 %").first().waitFor();
    for (const width of [390, 768, 1024, 1280, 1440]) {
      await page.setViewportSize({ width, height: 900 });
      await row.getByRole("link", { name: "sandbox" }).locator("visible=true").waitFor();
      const spilt = await row.evaluate(
        (element) =>
          [...element.querySelectorAll("td, th")].filter((cell) => cell.scrollWidth > cell.clientWidth)
            .length,
      );
      expect([width, spilt]).toEqual([width, 0]);
    }
  },
);

slowBrowserTest("A figure over time is read by keys and by a finger", async ({ visit, client }) => {
  await client.predict({ interaction: { state: "The door is closed.", action: "open door" } });
  const page = await visit("/usage", { hasTouch: true, viewport: { width: 390, height: 800 } });
  const plot = page.getByRole("slider", { name: / by \w+ and \w+$/ });
  const values = /, UTC\. .+: [\d,]+/;
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
  // The readout stays after a tap.
  await plot.tap();
  const readout = plot.getByText(/, UTC$/);
  await readout.waitFor();
  const { x, width } = (await readout.boundingBox()) ?? { x: 0, width: 0 };
  expect(x + width).toBeLessThan(390);
  expect(await plot.getAttribute("aria-valuetext")).toMatch(values);
});

dashboardTest(
  "A row says whether one can train in a target: figure, baseline, goal, change",
  async (visitor) => {
    const { visit, client } = visitor;
    const { id } = await uploadHousehold(client, "rooms");
    const of = {
      dataset_id: id,
      target: { deployment: "sandbox" },
      evaluators: [{ evaluator: "exact-match" }],
    };
    const before = await finishRun(client, { ...of, name: "our model" });
    const run = await finishRun(client, { ...of, name: "our model", params: { temperature: 0 } });
    await client.goals.set("our model", { evaluator: "exact-match", pass_rate: 0.55 });
    await eventually(
      () => client.runs.headlines(),
      (rows) => rows.some((row) => row.run.id === run.id),
    );
    const page = await visit("/");
    const row = page
      .getByRole("region", { name: "Latest runs" })
      .locator("tbody")
      .filter({ hasText: "rooms" })
      .locator("tr + tr")
      .first();
    await row.getByText("exact-match", { exact: true }).waitFor();
    await row.getByText("baseline no change 50.0 %").waitFor();
    const datasets = await visit("/datasets");
    await datasets.getByRole("row", { name: "rooms" }).getByText("exact-match", { exact: true }).waitFor();
    await row.getByText("Goal 55 %: undecided").first().waitFor();
    await row.getByText("0 of 6").first().waitFor({ state: "attached" });
    expect(await row.getByRole("link", { name: "sandbox" }).getAttribute("href")).toBe(`/runs/${run.id}`);
    const change = row.getByRole("link", { name: "±0.0 points" }).first();
    expect(await change.getAttribute("href")).toBe(`/compare?runs=${before.id}%2C${run.id}`);
    await page
      .getByText("Nothing needs you: no run is paused, every deployment is up, and no verdict is disputed.")
      .waitFor();

    // The run's page states the same in sentences, and its goal can be changed there.
    await row.getByRole("link", { name: "sandbox" }).click();
    await page
      .getByText(/^Undecided: exact-match passes 50 % .+, and the goal of 55 % lies within the interval\.$/)
      .waitFor();
    await page
      .getByText(/by exact-match: 0\.0 points .+; temperature default → 0; model the same\./)
      .waitFor();
    await page.getByRole("button", { name: "Show the prompt of the first sample" }).click();
    await page.getByText("User turn").waitFor();
    await page.getByRole("button", { name: "Change the goal" }).click();
    await page.getByRole("textbox", { name: "Pass rate in percent" }).fill("0");
    await page.getByRole("button", { name: "Set the goal" }).click();
    await page.getByText(/^Goal met: exact-match passes 50 %/).waitFor();
    await client.runs.delete(run.id);
    await client.runs.delete(before.id);
  },
);

dashboardTest("A paused run needs someone", async ({ visit, client }) => {
  const { id } = await uploadHousehold(client, "halted");
  const evaluators = [{ evaluator: "exact-match" }];
  const request = { dataset_id: id, evaluators, target: { predictions: "imported" as const } };
  for (const name of ["0", "1", "2", "3", "4", "5", "halted run"]) {
    const run = await client.runs.create({ ...request, name });
    await client.runs.pause(run.id);
  }
  const page = await visit("/");
  const others = page.getByRole("link", { name: "2 other paused runs" });
  await others.waitFor();
  expect(await others.getAttribute("href")).toBe("/runs?status=paused");
  await page.getByRole("link", { name: "halted run" }).click();
  await page.getByRole("heading", { level: 1, name: "halted run" }).waitFor();
});

slowBrowserTest(
  "Nothing moves when figures load, wide and narrow, however slowly they come",
  async (visitor) => {
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
      await page.getByText("50.0 %").first().waitFor();
      await page.waitForLoadState("networkidle");
      expect(await page.evaluate(() => Reflect.get(window, "shifts"))).toEqual([]);
    }
  },
);

dashboardTest(
  "What could not be read is not said to need nobody",
  async ({ visit, client, expectErrors }) => {
    expectErrors(/500/);
    await uploadHousehold(client, "unread");
    const page = await visit("/");
    await page.route(/reality-checks/, (route) => route.fulfill({ status: 500, json: {} }));
    await page.reload();
    await page.getByText("Something went wrong on the server").first().waitFor();
    expect(await page.getByText("Nothing needs you").count()).toBe(0);
  },
);

dashboardTest("What fails slowly and is read again hides nothing else", async ({ visit, expectErrors }) => {
  expectErrors(/400/);
  const page = await visit("/runs");
  await page.route("**/v1/deployments*", async (route) => {
    await new Promise((resolve) => setTimeout(resolve, 300));
    await route.fulfill({ status: 400, json: { detail: "No deployment." } });
  });
  await page.goto(new URL("/", page.url()).href);
  await page.getByText("No deployment.").first().waitFor();
});
