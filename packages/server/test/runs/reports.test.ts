import { expect, test } from "bun:test";
import { RunReport } from "@presage/contract";
import { sql } from "kysely";
import { testKey } from "../support/presage/presage.ts";
import { usePresage } from "../support/presage/use-presage.ts";
import { keyOfAnotherAccount } from "../support/resources/other-account.ts";
import { onAnyDatabase } from "../support/store/databases.ts";
import { openStore } from "../support/store/open-store.ts";
import { type StoredRun, type StoredSample, storeRevision, storeRun } from "../support/store/store-run.ts";

const samples: StoredSample[] = ["a", "b"].flatMap((trajectory) =>
  [0, 1, 2].map((step) => ({
    trajectory,
    step,
    changes: step === 2 ? null : step,
    verb: step === 0 ? "open" : "go",
    tags: { split: trajectory === "a" ? "train" : "test" },
  })),
);
const pass = { pass: true, score: 1 };
const fail = { pass: false, score: 0.25 };

onAnyDatabase((database) => {
  const presage = usePresage({ database });

  async function store(run: StoredRun, of: readonly StoredSample[] = samples): Promise<string> {
    await using opened = await openStore(presage.databaseUrl);
    const { account_id: accountId } = opened.owner;
    return await storeRun(
      opened.database,
      accountId,
      await storeRevision(opened.database, accountId, of),
      run,
    );
  }

  async function report(id: string): Promise<RunReport> {
    const response = await presage.call("GET", `/v1/runs/${id}/report`);
    expect(response.status).toBe(200);
    return RunReport.parse(await response.json());
  }

  test("A report has figures of all samples and of groups, with failures apart", async () => {
    const id = await store({
      predictions: [
        [{ verdicts: [{ ...pass, unchanged: { pass: false, score: 0 } }], latencyMs: 10 }],
        [{ verdicts: [{ ...fail, unchanged: { pass: true, score: 1 } }], latencyMs: 20 }],
        [{ failed: "timeout" }],
        [{ verdicts: [pass], latencyMs: 30 }],
        [{ verdicts: [{ status: "failed" }], latencyMs: 40 }],
        [{ verdicts: [pass], latencyMs: 50 }],
      ],
      models: ["one", "two"],
    });
    const { run, evaluators, ...rest } = await report(id);
    expect(run).toMatchObject({ id, status: "finished" });
    const [{ strata, strata_left_out, ...figures }] = evaluators as [RunReport["evaluators"][number]];
    expect(figures).toMatchObject({
      evaluator: "exact-match",
      samples: 6,
      count: 4,
      without_verdict: 2,
      verdicts: 4,
      graded: 4,
      failed: 2,
      not_applicable: 0,
      trajectories: 2,
      effective_trajectories: 2,
      unseen_share: expect.closeTo(0.7763932, 6),
      mean: 3.25 / 4,
      pass_rate: 0.75,
      mean_failures_as_zero: 3.25 / 6,
      pass_rate_failures_as_zero: 0.5,
      no_change: { mean: 0.5, pass_rate: 0.5, count: 2 },
      note: "With only 2 trajectories, chance may have left out a kind that makes up 78 % of all.",
    });
    expect(strata_left_out).toEqual({ step: 0, trajectory: 0, tag: 0 });
    const brief = Object.fromEntries(
      Object.entries(strata).map(([name, rows]) => [
        name,
        rows.map(({ key, count, failed, mean }) => [key, count, failed, mean]),
      ]),
    );
    expect(brief).toEqual({
      step: [
        [0, 2, 0, 1],
        [1, 1, 1, 0.25],
        [2, 1, 1, 1],
      ],
      trajectory: [
        ["a", 2, 1, 0.625],
        ["b", 2, 1, 1],
      ],
      changed: [
        ["unchanged", 2, 0, 1],
        ["changed", 1, 1, 0.25],
        ["unknown", 1, 1, 1],
      ],
      changes: [
        ["0", 2, 0, 1],
        ["1-2", 1, 1, 0.25],
        ["3-6", 0, 0, null],
        ["7+", 0, 0, null],
        ["unknown", 1, 1, 1],
      ],
      verb: [
        ["go", 2, 2, 0.625],
        ["open", 2, 0, 1],
      ],
      tag: [
        ["split=test", 2, 1, 1],
        ["split=train", 2, 1, 0.625],
      ],
    });
    expect(rest).toEqual({
      preliminary: false,
      ends: { sentence: null, done: null, reward: null, note: "The run was made without `ends`." },
      goal: null,
      previous: null,
      latency_ms: { p50: 30, p95: 50, p99: 50 },
      predictions_per_second: 0.6,
      tokens: { prompt: 500, cached: 200, completion: 35 },
      cost: null,
      failures: { predictions: { timeout: 1 }, evaluations: { failed: 1 } },
      provenance: {
        ...run.provenance,
        statistics: 2,
        warnings: ["The model changed while the run was running: one, two."],
      },
    });
  });

  test("One number has one interval, and the mean is of the verdicts that have a score", async () => {
    const ungraded = { pass: true, score: null };
    const [judged] = (
      await report(
        await store({
          repeats: 2,
          predictions: [
            [{ verdicts: [{ pass: true, score: 1 }] }, { verdicts: [{ pass: false, score: 0 }] }],
            [{ verdicts: [ungraded] }, { verdicts: [{ pass: true, score: 1 }] }],
            [{ verdicts: [ungraded] }, { failed: "timeout" }],
            [{ verdicts: [{ status: "not_applicable" }] }, { verdicts: [{ status: "not_applicable" }] }],
            [{ verdicts: [ungraded] }, { verdicts: [ungraded] }],
            [{ verdicts: [pass] }, { verdicts: [pass] }],
          ],
        }),
      )
    ).evaluators;
    expect(judged).toMatchObject({
      ...{ samples: 6, count: 5, without_verdict: 1, verdicts: 9, graded: 5, failed: 1, not_applicable: 2 },
      mean: 2.5 / 3,
      pass_rate: 0.9,
      pass_rate_failures_as_zero: 0.8,
    });
    const binary = [1, 0, 1, 1, 0, 1].map((score) => [{ verdicts: [{ pass: score === 1, score }] }]);
    const [equal] = (await report(await store({ predictions: binary }))).evaluators;
    expect(equal?.interval).toEqual(equal?.pass_interval);
    expect(equal).toMatchObject({ mean: 4 / 6, pass_rate: 4 / 6, interval: { level: 0.95 } });
  });

  test("A report's figures do not depend on where the database has put the rows", async () => {
    const of = Array.from({ length: 40 }, (_, index) => ({ trajectory: `t${index % 7}`, step: index }));
    const scoreOf = (index: number, repeat: number) => ((index * 7 + repeat * 3) % 10) / 10;
    const predictions = of.map((_, index) =>
      [0, 1, 2].map((repeat) => ({ verdicts: [{ pass: true, score: scoreOf(index, repeat) }] })),
    );
    const id = await store({ predictions, repeats: 3 }, of);
    const before = await report(id);
    await using opened = await openStore(presage.databaseUrl);
    for (const table of ["run_verdicts", "sample_traits", "dataset_samples"] as const) {
      const rows = await opened.database.selectFrom(table).selectAll().execute();
      await opened.database.deleteFrom(table).execute();
      for (const row of rows.toReversed()) await opened.database.insertInto(table).values(row).execute();
    }
    // PostgreSQL now knows that a run has most of the table, and reads it from its start.
    await sql.raw("analyze").execute(opened.database);
    expect((await report(id)).evaluators).toEqual(before.evaluators);
  });

  test("Predictions a second are those until the last one, however late evaluators are added", async () => {
    const predictions = Array(6).fill([{ verdicts: [pass] }]);
    const later = await report(await store({ predictions, finishedAfterS: 1_000 }));
    expect(later.predictions_per_second).toBe(0.6);
  });

  test("With repeats a sample counts once, with the mean of its repeats", async () => {
    const id = await store({
      repeats: 3,
      predictions: [
        [{ verdicts: [pass] }, { verdicts: [fail] }, { verdicts: [fail] }],
        [{ verdicts: [pass] }, { failed: "upstream" }, { verdicts: [{ status: "failed" }] }],
        ...samples.slice(2).map(() => [{ failed: "upstream" }, undefined, undefined] as const),
      ],
    });
    const { evaluators } = await report(id);
    expect(evaluators[0]).toMatchObject({
      count: 2,
      failed: 2 + 12,
      trajectories: 1,
      mean: (0.5 + 1) / 2,
      pass_rate: (1 / 3 + 1) / 2,
      interval: null,
      pass_interval: null,
      standard_error: null,
      note: "One trajectory only: there is no interval.",
    });
    expect(evaluators[0]?.mean_failures_as_zero).toBeCloseTo((0.5 + 1 / 3) / 6, 12);
  });

  test("A run that has not ended is reported as far as it is, and one without a verdict has nulls", async () => {
    const begun = await report(
      await store({
        // Paused, so that no process works on the run meanwhile.
        status: "paused",
        predictions: [[{ verdicts: [pass] }], [{ verdicts: [undefined] }], ...Array(4).fill([undefined])],
      }),
    );
    expect(begun.evaluators[0]).toMatchObject({ count: 1, failed: 0, mean: 1, mean_failures_as_zero: 1 });
    expect(begun.provenance.warnings).toEqual([
      "Preliminary: a run has not ended, and the figures are of what there is so far.",
    ]);
    const none = await report(await store({ status: "paused", predictions: Array(6).fill([undefined]) }));
    expect(none.evaluators[0]).toMatchObject({
      count: 0,
      failed: 0,
      mean: null,
      pass_rate: null,
      mean_failures_as_zero: null,
      no_change: null,
      note: null,
    });
    expect(none).toMatchObject({ latency_ms: null, predictions_per_second: null });
  });

  test("A free-running report has the first divergence, and the newest teacher-forced run beside it", async () => {
    await using opened = await openStore(presage.databaseUrl);
    const { account_id: accountId } = opened.owner;
    const revision = await storeRevision(opened.database, accountId, samples);
    const save = (run: StoredRun) => storeRun(opened.database, accountId, revision, run);
    const alike = { params: { seed: 1, temperature: 0 }, predictions: Array(6).fill([{ verdicts: [pass] }]) };
    await save({ ...alike, createdAt: 1_000_000 });
    const newest = await save({ ...alike, createdAt: 2_000_000, name: "the newest" });
    await save({ ...alike, createdAt: 3_000_000, params: { temperature: 1 } });
    await save({ ...alike, createdAt: 3_000_000, status: "cancelled" });
    const id = await save({
      mode: "free-running",
      params: { temperature: 0, seed: 1 },
      predictions: [
        [{ verdicts: [pass] }],
        [{ verdicts: [fail] }],
        [{ verdicts: [pass] }],
        [{ verdicts: [pass] }],
        [{ failed: "timeout" }],
        [undefined],
      ],
    });
    const { survival, teacher_forced } = await report(id);
    expect(survival).toEqual([
      {
        evaluator: "exact-match",
        profile_name: "system:default",
        profile_id: expect.any(String),
        profile_revision: 1,
        trajectories: 2,
        endings: { diverged: 1, recording_ended: 0, prediction_failed: 1, evaluator_failed: 0 },
        steps: [
          { step: 0, at_risk: 2, diverged: 0, censored: 1, survival: 1, interval: null },
          { step: 1, at_risk: 1, diverged: 1, censored: 0, survival: 0, interval: null },
        ],
        median: 1,
        failures_as_divergence: {
          steps: [{ step: 1, at_risk: 2, diverged: 2, censored: 0, survival: 0, interval: null }],
          median: 1,
        },
        seed: null,
      },
    ]);
    expect(teacher_forced).toMatchObject({ run_id: newest, name: "the newest" });
    expect(teacher_forced?.evaluators[0]).toMatchObject({ evaluator: "exact-match", count: 6, mean: 1 });
    expect(teacher_forced?.evaluators[0]?.step.map(({ key, mean }) => [key, mean])).toEqual([
      [0, 1],
      [1, 1],
      [2, 1],
    ]);
  });

  test("A report is a page or Markdown if that is asked for, to be saved and without what could run", async () => {
    const id = await store({
      name: "<script>alert(1)</script>",
      predictions: Array(6).fill([{ verdicts: [pass] }]),
    });
    await using opened = await openStore(presage.databaseUrl);
    await opened.database
      .updateTable("datasets")
      .set({ name: "rooms & halls" })
      .where("id", "=", String((await report(id)).run.dataset_id))
      .execute();
    const path = `/v1/runs/${id}/report`;
    const key = { "x-api-key": testKey };
    const asPage = await presage.call("GET", `${path}?format=html`);
    const asBrowser = await presage.call("GET", path, undefined, {
      ...key,
      accept: "text/html,application/xhtml+xml,*/*;q=0.8",
    });
    for (const response of [asPage, asBrowser]) {
      expect(response.status).toBe(200);
      expect(Object.fromEntries(response.headers)).toMatchObject({
        "content-type": "text/html; charset=utf-8",
        "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox",
        "x-content-type-options": "nosniff",
        "content-disposition": `attachment; filename="report-${id}.html"`,
      });
      const html = await response.text();
      expect(html).toContain("<h1>Run &lt;script&gt;alert(1)&lt;/script&gt;</h1>");
      expect(html).not.toContain("<script");
      expect(html).toContain(" Dataset rooms &amp; halls, revision 1; teacher-forced; finished.</p>");
      expect(html).toMatch(
        /<p class="lead">exact-match passes 100 % \(95\u00a0% interval [\d.]+ to 100 %\) of 6 samples in 2 trajectories/,
      );
      expect(html).toContain("<svg");
    }
    const markdown = await presage.call("GET", `${path}?format=md`);
    expect(markdown.headers.get("content-type")).toBe("text/markdown; charset=utf-8");
    expect(await markdown.text()).toStartWith("# Run &#60;script&#62;alert(1)&#60;/script&#62;\n");
    const json = await presage.call("GET", path, undefined, {
      ...key,
      accept: "application/json, text/html",
    });
    expect(json.headers.get("content-type")).toStartWith("application/json");
    expect((await presage.call("GET", `${path}?format=pdf`)).status).toBe(422);
    expect((await presage.call("GET", `${path}?fromat=md`)).status).toBe(422);
  });

  test("Another account's run and one that does not exist are not found", async () => {
    const id = await store({ predictions: Array(6).fill([undefined]) });
    const stranger = { "x-api-key": await keyOfAnotherAccount(presage.databaseUrl) };
    const path = `/v1/runs/${id}/report`;
    expect((await presage.call("GET", path, undefined, stranger)).status).toBe(404);
    expect((await presage.call("GET", "/v1/runs/nothing/report")).status).toBe(404);
  });
});
