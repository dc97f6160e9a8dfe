import { expect } from "bun:test";
import { eventually } from "../../../server/test/support/eventually.ts";
import { dashboardTests } from "../support/dashboard-tests.ts";

const { dashboardTest, slowDashboardTest } = dashboardTests();

dashboardTest("Samples are sorted by the scores of one evaluator, as the address says", async (visitor) => {
  const { visit, client } = visitor;
  const verdict = (dataset_sample_id: string | null, evaluator_id: string, score_raw: number) => ({
    evaluator_id,
    pass: score_raw >= 0.5,
    score_raw,
    evaluated_model_output: `output of ${dataset_sample_id}`,
    dataset_id: "d",
    dataset_sample_id,
    app: "sorted",
  });
  // More samples than fit on a page, with the highest score in the middle.
  const scoreOf = (index: number) => (index === 30 ? 1 : index / 100);
  const samples = Array.from({ length: 60 }, (_, index) => index);
  await client.results.importBatch([
    ...samples.map((index) => verdict(`room/${index}`, "graded", scoreOf(index))),
    ...samples.map((index) => verdict(`room/${index}`, "other", 0)),
    verdict(null, "graded", 0.99),
    verdict("room/60", "other", 1),
  ]);
  const page = await visit("/evaluations?app=sorted&view=samples");
  const firstRows = async (shown: typeof page) =>
    (await shown.locator("[data-row-link]").allTextContents()).slice(0, 3);
  const showsFirst = async (shown: typeof page, expected: string[]) =>
    expect(
      await eventually(
        () => firstRows(shown),
        (rows) => rows.join() === expected.join(),
      ),
    ).toEqual(expected);
  await showsFirst(page, ["room/0", "room/1", "room/2"]);
  const header = page.getByRole("columnheader", { name: "graded" });
  await header.getByRole("button").focus();
  await page.keyboard.press("Enter");
  await showsFirst(page, ["room/30", "room/59", "room/58"]);
  const best = page.locator("[data-row]").first();
  expect(await best.getByRole("img").evaluateAll((marks) => marks.map((mark) => mark.ariaLabel))).toEqual([
    "Pass",
    "Fail",
  ]);
  const { pathname, search } = new URL(page.url());
  const elsewhere = await visit(pathname + search);
  await showsFirst(elsewhere, ["room/30", "room/59", "room/58"]);
  await page.keyboard.press("Enter");
  await showsFirst(page, ["room/0", "room/1", "room/2"]);
  expect(await header.getAttribute("aria-sort")).toBe("ascending");
  // If the filter leaves none of the evaluator's verdicts, its order does not apply.
  await showsFirst(await visit(`${pathname}${search}&evaluator=other`), ["room/0", "room/1", "room/2"]);
});

dashboardTest("What several runs made of a sample stands together", async ({ visit, client }) => {
  const verdict = (evaluation_run_id: string, dataset_sample_id: string) => ({
    evaluator_id: "graded",
    pass: true,
    evaluation_run_id,
    dataset_sample_id,
    app: "grouped",
  });
  await client.results.importBatch([
    verdict("one", "hall"),
    verdict("two", "hall"),
    verdict("one", "yard"),
    verdict("two", "yard"),
  ]);
  const page = await visit("/evaluations?app=grouped&view=samples");
  await page.locator("tbody").getByText("yard").first().waitFor();
  const texts = await page.locator("tbody tr").allTextContents();
  expect(texts.map((text) => text.match(/^(hall|yard|one|two)/)?.[0])).toEqual([
    ...["hall", "one", "two"],
    ...["yard", "one", "two"],
  ]);
});

slowDashboardTest("Samples with more results than a page loads say so", async ({ visit, client }) => {
  const verdict = (evaluator_id: string) => ({
    evaluator_id,
    pass: true,
    score_raw: 1,
    evaluated_model_output: "again",
    dataset_sample_id: "often",
    app: "often",
  });
  await client.results.importBatch([verdict("graded")]);
  for (let batch = 0; batch < 6; batch += 1) {
    await client.results.importBatch(Array.from({ length: 900 }, () => verdict("other")));
  }
  const page = await visit("/evaluations?app=often&view=samples");
  await page.getByRole("columnheader", { name: "graded" }).getByRole("button").press("Enter");
  await page.getByText("These samples have more results than are shown here.").waitFor();
  await page.locator("[data-row]").first().waitFor();
  expect(await page.locator("[data-row]").count()).toBe(1);
});

slowDashboardTest(
  "Rare evaluators have no column, and sorting takes none away",
  async ({ visit, client }) => {
    const verdict = (dataset_sample_id: string, evaluator_id: string) => ({
      evaluator_id,
      pass: true,
      score_raw: 1,
      dataset_sample_id,
      app: "rare",
    });
    const samples = Array.from({ length: 30 }, (_, index) => `hall/${index}`);
    const common = ["one", "two", "three", "four"];
    await client.results.importBatch([
      ...common.flatMap((evaluator) => samples.map((sample) => verdict(sample, evaluator))),
      verdict("hall/7", "seldom"),
    ]);
    const page = await visit("/evaluations?app=rare&view=samples");
    const headers = page.getByRole("columnheader");
    const header = (name: string) => page.getByRole("columnheader", { name }).getByRole("button");
    await header("four").waitFor();
    expect(await headers.allTextContents()).not.toContain("external:seldom");
    const before = await headers.allTextContents();
    await header("two").press("Enter");
    await page.locator('th[aria-sort="descending"]').waitFor();
    await page.locator("[data-row]").nth(29).waitFor();
    expect(await headers.allTextContents()).toEqual(before);
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("external:two");
    // A link that sorts by a rare evaluator shows its column, which stays when another order is chosen.
    const linked = await visit("/evaluations?app=rare&view=samples&sort=-external:seldom");
    const seldom = linked.getByRole("columnheader", { name: "seldom" });
    await linked.locator('th[aria-sort="descending"]').waitFor();
    await linked.locator("[data-row]").first().waitFor();
    expect(await linked.locator("[data-row]").count()).toBe(1);
    await seldom.getByRole("button").press("Enter");
    await linked.locator('th[aria-sort="ascending"]').waitFor();
    await seldom.getByRole("button").press("Enter");
    await linked.locator("[data-row]").nth(29).waitFor();
    expect(await linked.evaluate(() => document.activeElement?.textContent)).toContain("seldom");
  },
);

slowDashboardTest(
  "Chosen columns stay with their evaluators under every filter",
  async ({ visit, client }) => {
    const verdict = (app: string, evaluator_id: string, dataset_sample_id: string) => ({
      evaluator_id,
      pass: true,
      score_raw: 1,
      dataset_sample_id,
      app,
    });
    // In each app, a different evaluator has the most results.
    await client.results.importBatch([
      verdict("left", "alpha", "a"),
      verdict("left", "alpha", "b"),
      verdict("left", "beta", "a"),
      verdict("right", "beta", "a"),
      verdict("right", "beta", "b"),
      verdict("right", "alpha", "a"),
      verdict("elsewhere", "gamma", "a"),
    ]);
    const page = await visit("/evaluations?app=left&view=samples");
    const header = (name: string) => page.getByRole("columnheader", { name });
    await header("beta").waitFor();
    await page.getByRole("button", { name: "Options of Samples" }).press("Enter");
    await page.getByRole("menuitemcheckbox", { name: "external:beta" }).click();
    await page.keyboard.press("Escape");
    await page.getByRole("menu").waitFor({ state: "detached" });
    await header("alpha").waitFor();
    await header("beta").waitFor({ state: "detached" });
    for (const [app, shown] of [
      ["right", "alpha"],
      ["elsewhere", "gamma"],
    ] as const) {
      await page.goto(new URL(`/evaluations?app=${app}&view=samples`, page.url()).href);
      await header(shown).waitFor();
      expect(await header("beta").count()).toBe(0);
    }
  },
);
