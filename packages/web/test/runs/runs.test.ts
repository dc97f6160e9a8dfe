import { afterAll, expect } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Presage, Run } from "@presage/sdk";
import { copiedText } from "../support/copied-text.ts";
import { dashboardTests } from "../support/dashboard-tests.ts";
import { expectAccessible, wide } from "../support/expect-accessible.ts";
import { finishRun, uploadHousehold } from "../support/household.ts";
import { sharePage } from "../support/share-page.ts";

const folder = mkdtempSync(join(tmpdir(), "presage-prices-"));
const prices = join(folder, "prices.yaml");
writeFileSync(
  prices,
  "currency: EUR\nmodels:\n  presage-sandbox:\n    prompt: 1000000\n    completion: 1000000\n",
);
afterAll(() => rmSync(folder, { recursive: true }));

const { browserTest, slowBrowserTest, dashboardTest, slowDashboardTest } = dashboardTests(() => ({
  environment: { PRESAGE_PRICES: prices },
}));

const things = Array.from({ length: 12 }, (_, index) => `thing-${index}`);
const headline = "Pass rate by evaluator";

/** Finishes a run of a model that opens everything but one thing; one prediction fails. */
async function finishModel(client: Presage, dataset_id: string, name: string) {
  const run = await client.runs.create({
    name,
    dataset_id,
    target: { predictions: "imported" },
    evaluators: [{ evaluator: "exact-match" }, { evaluator: "rouge-l" }],
  });
  const lines = things.flatMap((thing) => [
    { step: 0, prediction: thing === "thing-7" ? "Nothing happens." : `You open the ${thing}.` },
    { step: 1, prediction: thing === "thing-8" ? null : `You see an open ${thing}.` },
  ]);
  const text = lines.map((line, index) =>
    JSON.stringify({ trajectory_id: things[Math.floor(index / 2)], ...line }),
  );
  await client.runs.uploadPredictions(run.id, `${text.join("\n")}\n`);
  return await client.runs.waitUntilEnded(run.id, { pollEveryMs: 50 });
}

dashboardTest(
  "Is my model good enough: from the list to the difference from doing nothing",
  async (visitor) => {
    const { visit, client } = visitor;
    const { id } = await uploadHousehold(client, "good enough", things);
    await finishModel(client, id, "our model");
    const page = await visit("/runs");
    const row = page.getByRole("row").filter({ hasText: "our model" });
    await row.getByText("95.7 %").waitFor();
    await row.getByRole("link", { name: "our model" }).click();

    await page.getByRole("heading", { level: 1, name: "our model" }).waitFor();
    const figures = page.getByRole("figure", { name: headline }).getByRole("row");
    const exact = figures.filter({ hasText: "exact-match" });
    // The model passes 22 of 23 verdicts; no change is right where nothing happens.
    await exact.getByText("95.7 %").waitFor();
    expect(await exact.textContent()).toContain("47.8\u00a0%");
    await page
      .getByText(/^Difference from no change not tested \(\+47\.8 points of the pass rate\)/)
      .waitFor();

    await page.getByRole("button", { name: "Measure the difference" }).click();
    await page.getByText(/^Better than the best baseline.+, no change: \+47\.8 points/).waitFor();
    const difference = page.getByRole("figure", { name: "Difference from no change" });
    await difference
      .getByRole("row")
      .filter({ hasText: "exact-match" })
      .getByText("+47.8", { exact: true })
      .waitFor();
    await page.getByText(/^\+\d[\d.]* to \+\d[\d.]*, of the mean score$/).waitFor();
  },
);

dashboardTest(
  "Where does it fail: step, verb and trajectory, each view at an address of its own",
  async (visitor) => {
    const { visit, client } = visitor;
    const { id } = await uploadHousehold(client, "where", things);
    const run = await finishModel(client, id, "where it fails");
    const page = await visit(`/runs/${run.id}`);
    const verbs = page.getByRole("figure", { name: "By action verb" });
    await verbs.getByRole("row").filter({ hasText: "open" }).getByText("91.7 %").waitFor();

    // Reads the chart by keyboard: the second step has one failure and no fail.
    const curve = page.getByRole("slider", { name: "Pass rate by step, by step" });
    await curve.focus();
    await page.keyboard.press("End");
    expect(await curve.getAttribute("aria-valuetext")).toContain("This run: 100\u00a0%");
    await page
      .getByRole("figure", { name: "Pass rate by step" })
      .getByRole("button", { name: "Show as table" })
      .click();
    await page
      .getByRole("region", { name: "Pass rate by step, as a table" })
      .getByText("91.7 %")
      .first()
      .waitFor();

    await page.getByRole("combobox", { name: "Evaluator" }).selectOption({ label: "rouge-l" });
    await page.getByRole("radio", { name: "Mean score" }).click();
    await page.waitForURL(/evaluator=rouge-l.*measure=mean/);
    await page.getByRole("figure", { name: "Mean score by step" }).waitFor();
    const other = await visit(new URL(page.url()).pathname + new URL(page.url()).search);
    await other.getByRole("figure", { name: "Mean score by step" }).waitFor();
    expect(await other.getByRole("combobox", { name: "Evaluator" }).inputValue()).toContain("rouge-l");

    const worst = other.getByRole("figure", { name: "Worst trajectories" });
    const link = worst.getByRole("link", { name: "thing-7" });
    expect(await link.getAttribute("href")).toBe(`/runs/${run.id}/trajectories/thing-7`);
    await other.getByRole("region", { name: "Errors by kind" }).getByText("Error", { exact: true }).waitFor();
  },
);

slowDashboardTest(
  "What did it cost: money, tokens and latency stand in the report",
  async ({ visit, client }) => {
    const { id } = await uploadHousehold(client, "cost");
    const run = await finishRun(client, {
      name: "priced",
      dataset_id: id,
      target: { deployment: "sandbox" },
    });
    const { cost } = await client.runs.report(run.id);
    expect(cost?.total).toBeGreaterThan(0);
    const page = await visit(`/runs/${run.id}`);
    const fact = page.locator("dl > div").filter({ has: page.getByText("Cost", { exact: true }) });
    const shown = new Intl.NumberFormat("en", { style: "currency", currency: "EUR" }).format(
      cost?.total ?? 0,
    );
    await fact.getByText(shown).waitFor();
    await page.getByText("Latency p95").waitFor();

    // For a new run like it, the form shows the expected cost.
    const form = await visit(`/runs/new?dataset=${id}`);
    await form.getByText(shown, { exact: true }).waitFor();
    await form.getByText("6 requests to the model").waitFor();
    await form.getByRole("button", { name: `Start · 6 requests, about ${shown}` }).waitFor();
  },
);

slowBrowserTest(
  "How do I show it: the link shows a colleague the same, and the report can be taken along",
  async (visitor) => {
    const { visit, client } = visitor;
    const { id } = await uploadHousehold(client, "show", things);
    const run = await finishModel(client, id, "to be shown");
    const page = await visit(`/runs/${run.id}?measure=mean`);
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("link", { name: "Report" }).click(),
    ]);
    expect(await Bun.file(await download.path()).text()).toContain("to be shown");
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.getByRole("button", { name: "Copy link to this view" }).click();
    const address = await copiedText(page, (text) => text.includes("/runs/"));
    expect(address).toEndWith(`/runs/${run.id}?measure=mean`);
    const colleague = await visit(new URL(address).pathname + new URL(address).search);
    const figures = colleague.getByRole("figure", { name: "Mean score by evaluator" });
    await figures.getByRole("row").filter({ hasText: "exact-match" }).getByText("0.957").waitFor();
    await figures.getByRole("button", { name: /^Options of / }).click();
    await colleague.getByRole("menuitem", { name: "Copy for a spreadsheet" }).click();
    await colleague.context().grantPermissions(["clipboard-read"]);
  },
);

slowDashboardTest("A world is measured by a run from the form", async ({ visit, client }) => {
  const { id } = await uploadHousehold(client, "of a world", things);
  await client.worlds.create({
    name: "things",
    examples: { dataset: "of a world" },
    model: { kind: "retrieval" },
  });
  const form = await visit(`/runs/new?dataset=${id}`);
  await form.getByRole("radio", { name: "World" }).click();
  await form.getByRole("combobox", { name: "World" }).selectOption("things@1");
  await form.getByText(/predictions, which ask no model/).waitFor();
  await form.getByRole("button", { name: /^Start · / }).click();
  await form.getByRole("heading", { level: 1, name: /things@1/ }).waitFor();
});

browserTest(
  "A run is started from the form, which says what is missing at its field",
  async ({ visit, client }) => {
    const { id } = await uploadHousehold(client, "form");
    const page = await visit(`/runs/new?dataset=${id}`);
    const exact = page.getByRole("group", { name: "exact-match" }).getByRole("checkbox", { name: "default" });
    await page.getByRole("textbox", { name: "Repeats" }).fill("40");
    await page.getByRole("radio", { name: "No change" }).click();
    expect(await exact.isChecked()).toBe(true);
    await page.getByRole("button", { name: "Start the run" }).click();
    await page.getByText("A whole number from 1 to 20.").waitFor();
    expect(
      await page
        .getByRole("textbox", { name: "Repeats" })
        .evaluate((field) => field === document.activeElement),
    ).toBe(true);

    await page.getByRole("textbox", { name: "Repeats" }).fill("1");
    await page.getByRole("textbox", { name: "Name" }).fill("from the form");
    await page.getByText("6 predictions, which ask no model").waitFor();
    await page.getByRole("button", { name: "Start · 6 predictions, no requests" }).click();
    await page.getByRole("heading", { level: 1, name: "from the form" }).waitFor();
    // The page shows that the run has finished without being reloaded.
    await page.getByText("Finished").waitFor();
    await page.getByRole("figure", { name: headline }).getByText("50.0 %").first().waitFor();
  },
);

dashboardTest(
  "A new run is of what was chosen: the latest revision, no evaluator, and nothing large by itself",
  async ({ visit, client }) => {
    const { id } = await uploadHousehold(client, "two revisions");
    const line = (step: number) =>
      `${JSON.stringify({ trajectory_id: "shed", step, interaction: { state: "s", action: "a" }, next_state: "n" })}\n`;
    await client.datasets.upload(id, line(0) + line(1));
    const page = await visit(`/runs/new?dataset=${id}&revision=1`);
    await page.getByRole("button", { name: "Start · 6 requests, cost unknown" }).waitFor();
    const revision = page.getByRole("combobox", { name: "Revision" });
    await revision.selectOption({ label: "Latest (2)" });
    await page.getByRole("button", { name: "Start · 2 requests, cost unknown" }).waitFor();
    expect(await revision.inputValue()).toBe("");
    const exact = page.getByRole("group", { name: "exact-match" }).getByRole("checkbox", { name: "default" });
    await exact.uncheck();
    await page
      .getByRole("group", { name: "state-change" })
      .getByRole("checkbox", { name: "default" })
      .uncheck();
    await page.getByRole("button", { name: "Start the run" }).click();
    await page.getByText("Choose at least one.").waitFor();
    expect(await exact.isChecked()).toBe(false);

    const large = await client.datasets.create({ name: "large" });
    await client.datasets.upload(large.id, Array.from({ length: 1_001 }, (_, step) => line(step)).join(""));
    const form = await visit("/runs/new");
    const dataset = form.getByRole("combobox", { name: "Dataset" });
    await dataset.selectOption({ label: "large (1,001 samples)" });
    // A long dataset starts with a pilot.
    await form.getByRole("button", { name: "Start · 50 requests, cost unknown" }).waitFor();
    await form.getByText("50 of 1,001 samples").waitFor();
    await form.getByRole("radio", { name: "All 1,001" }).click();
    await form.getByRole("button", { name: "Start · 1,001 requests, cost unknown" }).waitFor();
    const untouched = await visit("/runs/new");
    await untouched.getByRole("option", { name: "large (1,001 samples)" }).waitFor({ state: "attached" });
    expect(await untouched.getByRole("combobox", { name: "Dataset" }).inputValue()).toBe("");
    await client.datasets.delete(large.id, { withRuns: true });
  },
);

slowBrowserTest(
  "On paper a run has all its rows on several sheets, without the navigation",
  async (visitor) => {
    const { id } = await uploadHousehold(visitor.client, "paper", things);
    // Fails in each trajectory.
    const run = await finishRun(visitor.client, { dataset_id: id, target: { baseline: "no-change" } });
    const page = await visitor.visit(`/runs/${run.id}`, { viewport: { width: 1900, height: 900 } });
    const worst = page.getByRole("figure", { name: "Worst trajectories" });
    await worst.getByRole("button", { name: "Show all 12" }).waitFor();
    const sheets = (await page.pdf({ format: "A4" })).toString("latin1").match(/\/Type \/Page\b/g);
    expect(sheets?.length).toBeGreaterThan(1);

    // Prints as the browser does: A4 without its margins is 703 pixels wide.
    await page.setViewportSize({ width: 703, height: 1_000 });
    await page.emulateMedia({ media: "print" });
    await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
    expect(await worst.getByRole("row").count()).toBe(13);
    expect(await page.getByRole("complementary", { name: "Presage" }).isVisible()).toBe(false);
    expect(await page.getByRole("button", { name: "Copy link to this view" }).isVisible()).toBe(false);
    const clipped = await page.evaluate(() => {
      const isCut = ({ scrollWidth, clientWidth, scrollHeight, clientHeight }: Element) =>
        scrollWidth > clientWidth || scrollHeight > clientHeight;
      const scrolling = Array.from(document.querySelectorAll("#main, #main section")).filter(
        (one) => isCut(one) && getComputedStyle(one).overflow !== "visible",
      );
      return [scrolling.length, document.documentElement.scrollWidth];
    });
    expect(clipped).toEqual([0, 703]);
  },
);

dashboardTest("A run that a client makes is compared with nothing", async ({ visit, client }) => {
  const { id: project_id } = await client.projects.create("theirs");
  const { id } = await client.experiments.create({ project_id, name: "made elsewhere" });
  const verdict = { evaluator_id: "theirs", pass: true, dataset_id: "d", dataset_sample_id: "s" };
  await client.results.importBatch([{ ...verdict, experiment_id: id }]);
  const page = await visit(`/runs/${id}`);
  await page.getByText("No baseline to compare with").waitFor();
});

dashboardTest(
  "A run that waits for predictions takes them on its page",
  async ({ visit, client, expectErrors }) => {
    expectErrors(/status of 422/);
    const { id } = await uploadHousehold(client, "made elsewhere");
    const { id: runId } = await client.runs.create({
      dataset_id: id,
      target: { predictions: "imported" },
      evaluators: [{ evaluator: "exact-match" }],
    });
    const page = await visit(`/runs/${runId}`);
    await page.getByRole("button", { name: "Upload predictions" }).waitFor();
    const file = (text: string) => ({ name: "predictions.jsonl", mimeType: "", buffer: Buffer.from(text) });
    await page.getByLabel("Predictions").setInputFiles(file('{"dataset_sample_id":"nothing/0"}\n'));
    await page
      .getByRole("alert")
      .getByText(/^line\.1\.prediction Field required$/)
      .waitFor();
    const line = { trajectory_id: "oven", step: 0, prediction: "You open the oven." };
    await page.getByLabel("Predictions").setInputFiles(file(`${JSON.stringify(line)}\n`));
    await page.getByText("Is it good enough?").waitFor();
  },
);

dashboardTest(
  "Runs are filtered in the address, chosen and compared; a run is cancelled and deleted",
  async (visitor) => {
    const { visit, client } = visitor;
    const { id } = await uploadHousehold(client, "list");
    const target = { baseline: "no-change" } as const;
    await finishRun(client, { name: "first of two", dataset_id: id, target });
    await finishRun(client, { name: "second of two", dataset_id: id, target, mode: "free-running" });
    const waiting = await client.runs.create({
      name: "waiting for predictions",
      dataset_id: id,
      target: { predictions: "imported" },
      evaluators: [{ evaluator: "exact-match" }],
    });
    const page = await visit(`/runs?dataset=${id}`);
    await page.getByText(/^3 of \d+ runs$/).waitFor();
    await page.getByRole("combobox", { name: "Status" }).selectOption("finished");
    await page.waitForURL(/status=finished/);
    await page.getByRole("checkbox", { name: "Select first of two" }).check();
    await page.getByRole("checkbox", { name: "Select second of two" }).check();
    const compare = page.getByRole("link", { name: "Compare 2 runs" });
    await compare.waitFor();
    const again = await visit(new URL(page.url()).pathname + new URL(page.url()).search);
    // Nothing is ticked before the runs that the address names are loaded.
    await again.getByRole("link", { name: "Compare 2 runs" }).waitFor();
    const ticked = again.getByRole("checkbox", { name: "Select first of two" });
    expect(await ticked.isChecked()).toBe(true);
    // A single key leads from the checkbox to the comparison.
    await ticked.press("c");
    await again.waitForURL(/\/compare\?runs=/);
    await compare.click();
    await page.waitForURL(/\/compare\?runs=/);

    await page.goto(new URL(`/runs/${waiting.id}`, page.url()).href);
    await page.getByText("Waiting for predictions: 0 of 6 uploaded").waitFor();
    await page.getByText(`/v1/runs/${waiting.id}/predictions`).waitFor();
    expect(await page.getByRole("button", { name: "Share" }).count()).toBe(0);
    await page.getByRole("button", { name: "More actions" }).click();
    await page.getByRole("menuitem", { name: "Cancel the run" }).click();
    await page.getByRole("button", { name: "Cancel the run" }).click();
    await page.getByText("Cancelled").waitFor();
    // The closing question returns the focus, which would close the menu again.
    await page.getByRole("alertdialog").waitFor({ state: "hidden" });
    await page.waitForLoadState("networkidle");
    await page.reload();
    await page.getByRole("button", { name: "More actions" }).click();
    await page.getByRole("menuitem", { name: "Delete the run" }).click();
    await page.getByRole("button", { name: "Delete the run" }).click();
    await page.getByRole("heading", { level: 1, name: "Runs" }).waitFor();
    expect((await client.runs.list()).map(({ id }) => id)).not.toContain(waiting.id);
  },
);

/** Creates two runs of baselines for the accessibility checks. */
async function fillForAxe(client: Presage): Promise<Run> {
  const { id } = await uploadHousehold(client, "axe", things);
  const baseline = { dataset_id: id, target: { baseline: "no-change" } } as const;
  const evaluators = [{ evaluator: "exact-match" }, { evaluator: "rouge-l" }];
  await finishRun(client, { ...baseline, evaluators });
  return await finishRun(client, { ...baseline, name: "axe", mode: "free-running", evaluators });
}

const lookAt = sharePage({ viewport: wide, reducedMotion: "reduce" });
let filledForAxe: Promise<Run> | undefined;
for (const subject of ["/runs", "/runs/new", "run"]) {
  slowBrowserTest(`${subject} is accessible, wide and narrow, light and dark`, async (visitor) => {
    filledForAxe ??= fillForAxe(visitor.client);
    const run = await filledForAxe;
    await lookAt(visitor, subject === "run" ? `/runs/${run.id}` : subject, async (page) => {
      const shows = { "/runs": "50.0 %", "/runs/new": "Estimate", run: "exact-match" }[subject] ?? "";
      await page.getByText(shows).filter({ visible: true }).first().waitFor();
      if (subject === "run") await page.getByRole("figure", { name: /have not diverged/ }).waitFor();
      await expectAccessible(page);
    });
  });
}
