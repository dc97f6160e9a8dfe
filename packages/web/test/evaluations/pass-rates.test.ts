import { expect } from "bun:test";
import type { Presage } from "@presage/sdk";
import { openStore } from "../../../server/test/support/store/open-store.ts";
import { type StoredFields, storeResults } from "../../../server/test/support/store/store-results.ts";
import { dashboardTests } from "../support/dashboard-tests.ts";
import { showsResults } from "../support/result-rows.ts";

const { dashboardTest, slowDashboardTest } = dashboardTests(() => ({ hasFile: true }));

/** Imports 100 verdicts of the strict evaluator in 10 trajectories, with 25 passes, and 50 passes of the lenient evaluator. */
async function importVerdicts(client: Presage, app: string): Promise<void> {
  const strict = Array.from({ length: 100 }, (_, index) => ({
    evaluator_id: "strict",
    profile_name: "words",
    pass: index % 4 === 0,
    tags: { trajectory_id: String(index % 10) },
    app,
  }));
  const lenient = Array.from({ length: 50 }, () => ({ evaluator_id: "lenient", pass: true, app }));
  await client.results.importBatch([...strict, ...lenient]);
}

/** The pass rate of all 150 verdicts together. */
const pooled = "50.0 %";

async function store(databaseUrl: string, fields: readonly StoredFields[]): Promise<void> {
  await using opened = await openStore(databaseUrl);
  await storeResults(opened.database, opened.owner.account_id, fields);
}

dashboardTest(
  "Evaluations of several evaluators have a list of rates, and those of one have its rate",
  async ({ visit, client }) => {
    await importVerdicts(client, "explorer");
    const page = await visit("/evaluations?app=explorer");
    await page.getByText("150", { exact: true }).waitFor();
    expect(await page.getByText(pooled).count()).toBe(0);
    await page.getByText("25.0 %").waitFor();
    await page.getByRole("link", { name: "external:lenient" }).waitFor();
    await page.getByRole("link", { name: "external:strict, words" }).click();
    await page.getByText("100 verdicts in 10 clusters").waitFor();
    const { searchParams } = new URL(page.url());
    expect(Object.fromEntries(searchParams)).toMatchObject({
      evaluator: "external:strict",
      profile: "words",
    });
  },
);

dashboardTest("A corrected score is shown beside the evaluator’s", async ({ visit, client }) => {
  const [result] = await client.results.importBatch([
    { evaluator_id: "theirs", pass: false, score_raw: 0.063, app: "scores" },
  ]);
  await client.results.correct(result?.id ?? "", { pass: false, score_raw: 0 });
  const page = await visit("/evaluations?app=scores");
  await showsResults(page, 1);
  const cell = page.getByRole("cell", { name: "0.063" });
  expect(await cell.textContent()).toBe("The evaluator’s score: 0.063, corrected: 0");
});

slowDashboardTest(
  "A corrected score that equals the evaluator’s is shown once",
  async ({ visit, client }) => {
    const [result] = await client.results.importBatch([
      { evaluator_id: "theirs", pass: true, score_raw: 0, app: "same score" },
    ]);
    await client.results.correct(result?.id ?? "", { pass: false });
    const page = await visit("/evaluations?app=same+score");
    await showsResults(page, 1);
    expect(await page.getByRole("cell").nth(1).textContent()).toBe("0");
  },
);

slowDashboardTest(
  "Different evaluators with one profile have rates of their own",
  async ({ visit, client, databaseUrl }) => {
    const profile = await client.profiles.create({
      evaluator_family: "rouge-l",
      name: "shared",
      config: { threshold: 0.5 },
    });
    const used = { name: "shared", publicId: profile.public_id, revision: 1 };
    await store(databaseUrl, [
      ...Array.from({ length: 10 }, (_, index) => ({
        evaluatorId: "rouge-l-2026-01-01",
        profile: used,
        outcome: { status: "success" as const, pass: index < 2, score: 0.5 },
      })),
      ...Array.from({ length: 20 }, () => ({ evaluatorId: "rouge-l-2026-11-21", profile: used })),
    ]);
    const page = await visit(`/evaluators/profiles/${profile.public_id}`);
    const revision = page.getByRole("region", { name: "Revisions" }).getByRole("row").nth(1);
    await revision.getByText("rouge-l-2026-01-01").waitFor();
    await revision.getByText("20.0 %").first().waitFor();
    await revision.getByText("20 verdicts").waitFor();
    // The pooled rate, 22 of 30, is not shown.
    expect(await revision.getByText("73.3 %").count()).toBe(0);
    await page.goto(new URL("/evaluators?q=shared", page.url()).href);
    await page.getByText("rouge-l-2026-01-01").filter({ visible: true }).first().waitFor();
    expect(await page.getByText("73.3 %").count()).toBe(0);
  },
);
