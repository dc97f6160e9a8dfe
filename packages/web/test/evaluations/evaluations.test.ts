import { expect } from "bun:test";
import type { Presage } from "@presage/sdk";
import type { Page as BrowserPage } from "playwright-core";
import { eventually } from "../../../server/test/support/eventually.ts";
import { copiedText, expectCopied } from "../support/copied-text.ts";
import { dashboardTests } from "../support/dashboard-tests.ts";
import { finishRun, uploadHousehold } from "../support/household.ts";
import type { Page } from "../support/page.ts";
import { resultTexts, showsResults } from "../support/result-rows.ts";
import { emptyScroll } from "../support/scrolling.ts";

const { browserTest, slowBrowserTest, dashboardTest, slowDashboardTest } = dashboardTests();

/** Evaluates outputs that pass if they are “yes”. Each test uses its own app. */
async function evaluate(client: Presage, app: string, outputs: readonly string[]): Promise<string[]> {
  const ids: string[] = [];
  for (const output of outputs) {
    const [item] = await client.evaluate({
      evaluators: [{ evaluator: "exact-match" }],
      evaluated_model_output: output,
      evaluated_model_gold_answer: "yes",
      app,
    });
    ids.push(item?.evaluation_result?.id ?? "");
  }
  return ids;
}

dashboardTest("A filtered view is shared by its address", async ({ visit, client }) => {
  await evaluate(client, "shop", ["yes", "no", "never"]);
  await evaluate(client, "kitchen", ["no, not there"]);
  const page = await visit("/evaluations?view=verdicts");
  await showsResults(page, 4);
  await page.getByRole("button", { name: "Filters" }).click();
  await page.getByRole("combobox", { name: "App" }).selectOption("shop");
  await page.keyboard.press("Escape");
  await page.getByRole("dialog", { name: "Filters" }).waitFor({ state: "hidden" });
  await page.getByRole("combobox", { name: "Verdict" }).selectOption("Fail");
  await showsResults(page, 2);
  expect(await resultTexts(page)).toEqual([expect.stringContaining("never"), expect.stringContaining("no")]);
  const { pathname, search } = new URL(page.url());
  expect(search).toBe("?app=shop&view=verdicts&verdict=fail");

  const elsewhere = await visit(pathname + search);
  await showsResults(elsewhere, 2);
  expect(await resultTexts(elsewhere)).toEqual(await resultTexts(page));
  await elsewhere.getByRole("button", { name: /^Remove the filter App/ }).click();
  await showsResults(elsewhere, 3);
  await elsewhere.goBack();
  await showsResults(elsewhere, 2);
});

slowDashboardTest(
  "Results name their run, which is a link; a run that is not of Presage is its text",
  async (visitor) => {
    const { visit, client } = visitor;
    const { id } = await uploadHousehold(client, "named");
    const run = await finishRun(client, {
      name: "our model",
      dataset_id: id,
      target: { baseline: "no-change" },
    });
    const unknown = crypto.randomUUID();
    await client.results.importBatch([
      { evaluator_id: "named", pass: true, evaluation_run_id: "nightly-7" },
      { evaluator_id: "named", pass: true, evaluation_run_id: unknown },
    ]);
    const all = await visit("/evaluations?view=verdicts");
    const asked: string[] = [];
    all.on("request", (request) => asked.push(new URL(request.url()).pathname));
    await all.reload();
    await all.getByRole("row").getByRole("link", { name: "our model" }).nth(5).waitFor();
    await all.getByRole("row").getByText("nightly-7").waitFor();
    await all.getByRole("row").getByText(unknown).waitFor();
    // The names of all runs are requested at once, none by its id.
    expect([...new Set(asked.filter((path) => path.startsWith("/v1/runs")))]).toEqual(["/v1/runs"]);

    const page = await visit(`/evaluations?run=${run.id}&dataset=${id}`);
    await showsResults(page, 6);
    const links = page.getByRole("row").getByRole("link", { name: "our model" });
    await links.first().waitFor();
    expect(await links.count()).toBe(6);
    await page.getByRole("button", { name: "Remove the filter Run our model" }).waitFor();
    await page.getByRole("button", { name: "Remove the filter Dataset named" }).waitFor();
    await links.first().press("Enter");
    await page.getByRole("heading", { name: "our model", level: 1 }).waitFor();
  },
);

dashboardTest("Results that match are counted, deleted and gone; those of a run stay", async (visitor) => {
  const { visit, client } = visitor;
  await evaluate(client, "gone", ["yes", "no", "never"]);
  await evaluate(client, "stays", ["yes"]);
  const page = await visit("/evaluations?app=gone&verdict=fail");
  await showsResults(page, 2);
  const dialog = await deleteTwo(page);
  await dialog.waitFor({ state: "detached" });
  await page.getByText("No results match these filters").waitFor();
  const left = async (app: string) => (await client.results.search({ app })).length;
  expect([await left("gone"), await left("stays")]).toEqual([1, 1]);

  const { id } = await uploadHousehold(client, "kept");
  const run = await finishRun(client, { dataset_id: id, target: { baseline: "no-change" } });
  const ofRun = await visit(`/evaluations?run=${run.id}`);
  await showsResults(ofRun, 6);
  await ofRun.getByRole("button", { name: "Delete", exact: true }).press("Enter");
  await ofRun.getByText("6 more belong to runs or experiments").waitFor();
  await ofRun.getByRole("button", { name: "Close", exact: true }).press("Enter");
  await ofRun.getByRole("alertdialog").waitFor({ state: "detached" });
  await showsResults(ofRun, 6);
});

/** Requests the deletion of the two results that match the filters, and confirms it. Returns the dialog. */
async function deleteTwo(page: Page) {
  await page.getByRole("button", { name: "Delete", exact: true }).press("Enter");
  const dialog = page.getByRole("alertdialog", { name: "Delete evaluation results" });
  await dialog.getByText("2 results match the filters.").waitFor();
  await dialog.getByRole("button", { name: "Delete" }).press("Enter");
  return dialog;
}

slowDashboardTest("The list is right after a deletion whose dialog was closed", async ({ visit, client }) => {
  // One dialog is closed before the server has answered, one during the deletion.
  for (const [app, held, label] of [
    ["closed at once", /evaluation-results\?.*expected_count/, "Cancel"],
    ["closed later", /evaluation-result-deletions/, "Close"],
  ] as const) {
    await evaluate(client, app, ["yes", "no"]);
    const page = await visit(`/evaluations?${new URLSearchParams({ app })}`);
    await showsResults(page, 2);
    const { promise: isReleased, resolve: release } = Promise.withResolvers<void>();
    const { promise: isAsked, resolve: setAsked } = Promise.withResolvers<void>();
    await page.route(held, async (route) => {
      setAsked();
      await isReleased;
      await route.continue();
    });
    const dialog = await deleteTwo(page);
    await isAsked;
    await dialog.getByRole("button", { name: label }).press("Enter");
    await dialog.waitFor({ state: "detached" });
    release();
    await page.getByText("No results match these filters").waitFor();
    expect(await client.results.search({ app })).toEqual([]);
  }
});

slowDashboardTest(
  "The list is right for whoever left its page during a deletion",
  async ({ visit, client }) => {
    await evaluate(client, "left", ["yes", "no"]);
    const page = await visit("/evaluations?app=left");
    await showsResults(page, 2);
    const { promise: isReleased, resolve: release } = Promise.withResolvers<void>();
    await page.route(/evaluation-result-deletions/, async (route) => {
      await isReleased;
      await route.continue();
    });
    const dialog = await deleteTwo(page);
    await dialog.getByText("of 2 results deleted").waitFor();
    await dialog.getByRole("button", { name: "Close" }).press("Enter");
    await dialog.waitFor({ state: "detached" });
    await page.getByRole("link", { name: "Settings", exact: true }).press("Enter");
    await page.getByRole("heading", { name: "API keys", level: 1 }).waitFor();
    release();
    await page.goBack();
    await page.getByText("No results match these filters").waitFor();
  },
);

slowDashboardTest("A deletion that could not be counted is counted again", async (visitor) => {
  const { visit, client, expectErrors } = visitor;
  await evaluate(client, "uncounted", ["yes"]);
  expectErrors(/Failed to load resource/);
  const page = await visit("/evaluations?view=samples");
  await page.route(/evaluation-results\?.*dry_run/, (route) => route.fulfill({ status: 422, json: {} }), {
    times: 1,
  });
  await page.getByRole("button", { name: "Delete", exact: true }).press("Enter");
  const dialog = page.getByRole("alertdialog", { name: "Delete evaluation results" });
  await dialog.getByRole("alert").waitFor();
  expect(await dialog.getByText("Counting").count()).toBe(0);
  await dialog.getByRole("button", { name: "Count again" }).press("Enter");
  // Results without a sample are not in this list.
  await dialog.getByText("without a filter: all of the account.").waitFor();
  expect(await dialog.getByRole("alert").count()).toBe(0);
});

dashboardTest("Results are browsed by keyboard and corrected", async ({ visit, client }) => {
  const [first = "", second = "", third = ""] = await evaluate(client, "keys", ["one", "two", "three"]);
  const page = await visit("/evaluations?app=keys");
  const drawer = (id: string) => page.getByRole("dialog", { name: `Result ${id}` });
  await page.getByRole("link", { name: `Result ${third}:` }).press("Enter");
  await drawer(third).waitFor();
  await page.keyboard.press("j");
  await drawer(second).waitFor();
  await page.keyboard.press("j");
  await drawer(first).waitFor();
  await page.keyboard.press("k");
  await drawer(second).waitFor();

  await drawer(second).getByRole("heading", { name: "Is this verdict right?" }).waitFor();
  await drawer(second).getByRole("button", { name: "No, it passes" }).click();
  // Typed letters do not act as shortcuts.
  await drawer(second).getByRole("textbox", { name: "Comment" }).pressSequentially("just so");
  await drawer(second).getByRole("button", { name: "Save correction" }).click();
  await drawer(second).getByText("A person marked this as a pass").waitFor();
  const corrected = await client.results.get(second);
  expect(corrected).toMatchObject({ pass: false, correction: { pass: true, comment: "just so" } });

  await page.keyboard.press("Escape");
  await drawer(second).waitFor({ state: "detached" });
  const row = page.getByRole("link", { name: `Result ${second}:` });
  await row.and(page.locator(":focus")).waitFor();
  expect(new URL(page.url()).search).toBe("?app=keys");
});

slowBrowserTest(
  "A long list scrolls in its place, and ends with its last result",
  async ({ visit, client }) => {
    const result = { evaluator_id: "import", evaluated_model_output: "yes", pass: true, app: "long" };
    await client.results.importBatch(Array.from({ length: 600 }, () => result));
    const page = await visit("/evaluations?app=long");
    await page
      .getByRole("link", { name: /^Result \d+:/ })
      .first()
      .waitFor();
    const list = page.getByRole("table").locator("..");
    const last = page.locator('tr[aria-rowindex="601"]');
    await eventually(
      async () => {
        await list.evaluate((element) => element.scrollTo(0, element.scrollHeight));
        return await last.isVisible();
      },
      (isVisible) => isVisible,
    );
    await last.waitFor();
    expect(await emptyScroll(page)).toBe(0);
  },
);

browserTest("A copied link opens the same result in the same list", async ({ visit, client }) => {
  const [wrong = "", other = ""] = await evaluate(client, "link", ["no", "never", "yes"]);
  const permissions = ["clipboard-read", "clipboard-write"];
  const page = await visit("/evaluations?app=link&verdict=fail", { permissions });
  await page.getByRole("link", { name: `Result ${wrong}:` }).click();
  const drawer = page.getByRole("dialog", { name: `Result ${wrong}` });
  await expectCopied(page, () => drawer.getByRole("button", { name: "Copy link" }).click());
  const address = await copiedText(page, (text) => text === page.url());
  expect(address).toBe(page.url());

  const { pathname, search } = new URL(address);
  const elsewhere = await visit(pathname + search);
  await elsewhere.getByRole("dialog", { name: `Result ${wrong}` }).waitFor();
  await showsResults(elsewhere, 2);
  await elsewhere.keyboard.press("k");
  await elsewhere.getByRole("dialog", { name: `Result ${other}` }).waitFor();
});

slowDashboardTest("A sample in the drawer finds the results of that sample", async ({ visit, client }) => {
  const sampleOf = (dataset: string, sample: string | number) => ({
    evaluator_id: "elsewhere",
    pass: true,
    evaluated_model_output: `${dataset} ${sample}`,
    dataset_id: dataset,
    dataset_sample_id: sample,
    app: "samples",
  });
  await client.results.importBatch([
    sampleOf("d1", 7),
    sampleOf("d1", 8),
    sampleOf("d2", 7),
    sampleOf("d1", "7"),
  ]);
  const page = await visit("/evaluations?app=samples");
  await showsResults(page, 4);
  await page.getByText("d1 8").click();
  const drawer = page.getByRole("dialog");
  await drawer.getByText("d1 8").first().waitFor();
  await drawer.getByRole("button", { name: "Next" }).click();
  await drawer.getByText("d1 7").first().waitFor();
  const sample = drawer.locator("dl > div", { has: page.getByText("Sample", { exact: true }) });
  await sample.getByRole("button", { name: "Filter by this value" }).click();
  await showsResults(page, 2);
  expect(new Set(await resultTexts(page)).size).toBe(2);
  const { searchParams } = new URL(page.url());
  expect([searchParams.get("dataset"), searchParams.get("sample")]).toEqual(["d1", "7"]);
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: /^Remove the filter Sample/ }).click();
  await showsResults(page, 3);
});

slowBrowserTest("A result opened by a link has no focus ring until the keyboard is used", async (visitor) => {
  const [id = ""] = await evaluate(visitor.client, "ring", ["no"]);
  const page = await visitor.visit(`/evaluations?app=ring&result=${id}`);
  const drawer = page.getByRole("dialog", { name: `Result ${id}` });
  await drawer.getByRole("region", { name: "Details" }).waitFor();
  await showsResults(page, 1);
  const focused = () =>
    drawer.evaluate((panel) => {
      const element = document.activeElement ?? document.body;
      const { outlineStyle } = getComputedStyle(element);
      return { isInside: panel.contains(element), hasRing: outlineStyle !== "none" };
    });
  expect(await eventually(focused, ({ isInside }) => isInside)).toEqual({ isInside: true, hasRing: false });
  await page.keyboard.press("Tab");
  expect(await focused()).toEqual({ isInside: true, hasRing: true });
});

dashboardTest("Evaluations without a verdict are separate from fails", async ({ visit, client }) => {
  await evaluate(client, "apart", ["no"]);
  await client.evaluate({
    evaluators: [{ evaluator: "judge", profile_name: "system:is-concise" }],
    evaluated_model_output: "No model judges this.",
    app: "apart",
  });
  const page = await visit("/evaluations?app=apart");
  await showsResults(page, 1);
  expect(await resultTexts(page)).toEqual([expect.stringContaining("Fail")]);
  await page.getByRole("link", { name: "1 error" }).click();
  await showsResults(page, 1);
  await page.getByRole("row").getByText("Error", { exact: true }).waitFor();
  expect(await resultTexts(page)).toEqual([expect.stringContaining("needs_model")]);
  await page.getByRole("link", { name: /^Result \d+: Error/ }).click();
  const drawer = page.getByRole("dialog");
  await drawer.getByText("It counts neither as a pass nor as a fail.").waitFor();
  expect(await drawer.getByText("Fail", { exact: true }).count()).toBe(0);
});

slowDashboardTest("Results that are all without a verdict are counted and can be shown", async (visitor) => {
  const { visit, client } = visitor;
  await client.evaluate({
    evaluators: [{ evaluator: "exact-match" }, { evaluator: "judge", profile_name: "system:is-concise" }],
    evaluated_model_output: "Without a gold answer, without a model.",
    app: "no verdicts",
  });
  const page = await visit("/evaluations?app=no+verdicts");
  await page.getByRole("heading", { name: "2 without a verdict" }).waitFor();
  expect(await page.getByText("No results match").count()).toBe(0);
  await page.getByRole("link", { name: "Show 1 unusable input" }).click();
  await showsResults(page, 1);
  expect(await resultTexts(page)).toEqual([expect.stringContaining("missing_input")]);
  await page.goBack();
  await page.getByRole("link", { name: "Show 1 error" }).click();
  await showsResults(page, 1);
  expect(await resultTexts(page)).toEqual([expect.stringContaining("needs_model")]);
});

slowBrowserTest("On a phone, verdict, score and output are in sight", async ({ visit, client }) => {
  await evaluate(client, "phone", ["yes, this is the output"]);
  await client.evaluate({
    evaluators: [{ evaluator: "exact-match" }],
    evaluated_model_output: "Without a gold answer.",
    app: "phone",
  });
  const page = await visit("/evaluations?app=phone", { viewport: { width: 390, height: 844 } });
  await showsResults(page, 1);
  for (const label of ["Score", "Output"]) {
    const box = await page.locator(`td[data-label="${label}"]`).boundingBox();
    expect((box?.x ?? 390) + (box?.width ?? 0)).toBeLessThan(390);
  }
  await page.getByRole("link", { name: "1 unusable input" }).click();
  await page.getByRole("link", { name: /^Result \d+: Unusable input/ }).waitFor();
  const cell = page.getByRole("rowheader").getByRole("link").first();
  expect(await cell.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0);
});

slowBrowserTest("An export has the results of the view", async ({ visit, client }) => {
  await evaluate(client, "export", ["yes", "no", "no, not that"]);
  const page = await visit("/evaluations?app=export&verdict=fail");
  await showsResults(page, 2);
  const lines = (await download(page, "JSON Lines"))
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(lines.map((line) => [line.app, line.pass, line.evaluated_model_output])).toEqual([
    ["export", false, "no, not that"],
    ["export", false, "no"],
  ]);
  const csv = await download(page, "CSV");
  expect(csv.trim().split(/\r?\n/)).toHaveLength(3);
  expect(csv).toContain('"no, not that"');
});

slowBrowserTest("Of 1,000 results at most 200 rows are rendered", async ({ visit, client }) => {
  await client.results.importBatch(
    Array.from({ length: 1000 }, (_, index) => ({
      evaluator_id: "elsewhere",
      pass: index % 2 === 0,
      evaluated_model_output: `output ${index}`,
      app: "many",
    })),
  );
  const page = await visit("/evaluations?app=many");
  await page.getByText("output 999", { exact: true }).waitFor();
  const end = page.getByText("All 1,000 results loaded.");
  let most = 0;
  while (!(await end.isVisible())) {
    await page.getByRole("table").hover();
    await page.mouse.wheel(0, 20_000);
    most = Math.max(most, await page.getByRole("row").count());
  }
  await page.getByText("output 0", { exact: true }).waitFor();
  expect(most).toBeGreaterThan(10);
  expect(Math.max(most, await page.getByRole("row").count())).toBeLessThanOrEqual(200);
});

async function download(page: BrowserPage, format: string): Promise<string> {
  await page.getByRole("button", { name: "Export", exact: true }).click();
  const downloading = page.waitForEvent("download");
  await page.getByRole("menuitem", { name: format }).click();
  return await Bun.file(await (await downloading).path()).text();
}

slowDashboardTest("Results are read by sample, with the verdict of every evaluator", async (visitor) => {
  const { visit, client } = visitor;
  const verdict = (sample: string, evaluator_id: string, pass: boolean) => ({
    evaluator_id,
    pass,
    evaluated_model_output: `output of ${sample}`,
    dataset_id: "d",
    dataset_sample_id: sample,
    app: "by sample",
  });
  await client.results.importBatch([
    verdict("room/10", "one", true),
    verdict("room/9", "one", false),
    verdict("room/9", "other", true),
  ]);
  const page = await visit("/evaluations?app=by+sample");
  await showsResults(page, 3);
  await page.getByRole("radio", { name: "By sample" }).click();
  const row = page.getByRole("row").filter({ hasText: "room/9" });
  await row.getByRole("img", { name: "Fail" }).waitFor();
  await row.getByRole("img", { name: "Pass" }).waitFor();
  expect(await page.locator("[data-row-link]").allTextContents()).toEqual(["room/9", "room/10"]);
  await row.getByRole("link").press("Enter");
  const verdicts = page.getByRole("navigation", { name: "Verdicts on this sample" });
  await verdicts.getByRole("link", { name: /other/ }).click();
  const { pathname, search } = new URL(page.url());
  const elsewhere = await visit(pathname + search);
  await elsewhere.getByRole("navigation", { name: "Verdicts on this sample" }).waitFor();
  await elsewhere.getByRole("dialog").press("Escape");
  await elsewhere.getByRole("row").filter({ hasText: "room/10" }).waitFor();
});
