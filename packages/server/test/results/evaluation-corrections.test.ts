import { beforeAll, beforeEach, expect, test } from "bun:test";
import { findCorrections } from "../../src/results/corrections-store.ts";
import { usePresage } from "../support/presage/use-presage.ts";
import { evaluationResultsClient, resultsPath } from "../support/resources/evaluation-results.ts";
import { keyOfAnotherAccount } from "../support/resources/other-account.ts";
import { issuesOf, locationsOf } from "../support/resources/validation-issues.ts";
import { onAnyDatabase } from "../support/store/databases.ts";
import { openStore } from "../support/store/open-store.ts";
import { type StoredFields, storeResults } from "../support/store/store-results.ts";

onAnyDatabase((database) => {
  const presage = usePresage({ database });
  let stranger: Record<string, string>;
  let app: string;
  let tests = 0;
  const { post, search, find, correct, summary } = evaluationResultsClient(() => presage);

  beforeAll(async () => {
    stranger = { "x-api-key": await keyOfAnotherAccount(presage.databaseUrl) };
  });
  beforeEach(() => {
    tests += 1;
    app = `app of test ${tests}`;
  });

  /** Stores one result in the test's own app and returns its id. */
  async function store(fields: StoredFields): Promise<string> {
    await using opened = await openStore(presage.databaseUrl);
    const [result] = await storeResults(opened.database, opened.owner.account_id, [
      { metadata: { app }, ...fields },
    ]);
    return String(result?.id);
  }

  const idsOf = async (filter: Record<string, unknown>) =>
    (await search({ app, ...filter })).map(({ id }) => id);

  test("a correction counts in searches, and the evaluator's verdict is kept", async () => {
    const id = await store({ outcome: { status: "success", pass: false, score: 0.25 } });
    const corrected = await correct(id, { pass: true, comment: "It is right, only longer 🙂" });
    expect(await find(id)).toEqual(corrected);
    expect(await search({ app })).toEqual([corrected]);
    expect(corrected).toMatchObject({
      id,
      pass: false,
      score_raw: 0.25,
      correction: {
        pass: true,
        score_raw: 1,
        comment: "It is right, only longer 🙂",
        created_at: expect.stringMatching(/Z$/),
      },
    });
    expect(await idsOf({ pass: true })).toEqual([id]);
    expect(await idsOf({ pass: false })).toEqual([]);
    expect(await idsOf({ score_raw_min: 0.9 })).toEqual([id]);
    expect(await idsOf({ score_raw_max: 0.3 })).toEqual([]);
  });

  test("a confirmed verdict keeps its score", async () => {
    const id = await store({ outcome: { status: "success", pass: false, score: 0.25 } });
    expect(await correct(id, { pass: false })).toMatchObject({
      correction: { pass: false, score_raw: 0.25 },
    });
  });

  test("of several corrections the latest counts, even if concurrent", async () => {
    const id = await store({});
    await correct(id, { pass: false });
    await correct(id, { pass: true, score_raw: 0.8, comment: null });
    expect((await find(id)).correction).toMatchObject({ pass: true, score_raw: 0.8, comment: null });

    const scores = Array.from({ length: 8 }, (_, index) => index / 10);
    await Promise.all(scores.map((score_raw) => correct(id, { pass: false, score_raw })));
    const { correction } = await find(id);
    const score = correction?.score_raw ?? -1;
    expect(scores).toContain(score);
    expect(await idsOf({ score_raw_min: score, score_raw_max: score })).toEqual([id]);
    const { groups } = await summary({ app });
    expect(groups).toHaveLength(1);
    expect(groups[0]).toMatchObject({ count: 1, scored: 1, passed: 0, not_passed: 1, p50: score });
    expect(groups[0]?.mean_score).toBeCloseTo(score, 9);
  });

  test("a fail without a score counts as zero, and so does a null score", async () => {
    const id = await store({});
    expect((await correct(id, { pass: false })).correction?.score_raw).toBe(0);
    expect((await correct(id, { pass: true, score_raw: null })).correction?.score_raw).toBe(1);
  });

  test("a verdict without a grade keeps none, corrected or not: the mean is over the others, the pass rate over all", async () => {
    const id = await store({ outcome: { status: "success", pass: true } });
    await store({ outcome: { status: "success", pass: false, score: 0.25 } });
    await store({ outcome: { status: "not_applicable", errorMessage: "not_applicable: No word." } });
    await store({ outcome: { status: "contradictory", errorMessage: "contradictory_verdict: Hm." } });
    const expectFigures = async (passed: number) => {
      // From rollups, and from the results themselves.
      for (const more of [{}, { after_id: "0" }]) {
        expect((await summary({ app, ...more })).groups).toMatchObject([
          {
            ...{ count: 4, scored: 1, failed: 1, not_applicable: 1, mean_score: 0.25 },
            ...{ passed, pass_rate: passed / 2 },
          },
        ]);
      }
    };
    expect(await find(id)).toMatchObject({ pass: true, score_raw: null, score_normalized: null });
    await expectFigures(1);
    expect((await correct(id, { pass: false })).correction).toMatchObject({ pass: false, score_raw: null });
    await expectFigures(0);
    await presage.call("DELETE", `${resultsPath}/${id}/correction`);
    await expectFigures(1);
  });

  test("a result without a pass or a score gets both", async () => {
    const id = await store({ outcome: { status: "success" }, isExternal: true });
    expect((await summary({ app })).groups[0]).toMatchObject({
      count: 1,
      scored: 0,
      passed: 0,
      not_passed: 0,
    });
    await correct(id, { pass: true, score_raw: 0.5 });
    expect((await summary({ app })).groups).toMatchObject([{ count: 1, scored: 1, passed: 1, p50: 0.5 }]);
    expect(await find(id)).toMatchObject({ pass: null, score_raw: null });
  });

  test("summaries from both sources agree after corrections, on the day of the result", async () => {
    const createdAt = Date.UTC(2026, 3, 5, 12) * 1000;
    const first = await store({ createdAt });
    await store({ createdAt, outcome: { status: "success", pass: false, score: 0.2504 } });
    const third = await store({ createdAt, outcome: { status: "success", pass: false, score: 0.2501 } });
    await correct(first, { pass: false, score_raw: 0.123 });
    // The new score rounds to the same thousandth.
    await correct(third, { pass: false, score_raw: 0.2502 });
    const byDay = { app, group_by: ["day"] };
    const rollups = await summary(byDay);
    const results = await summary({ ...byDay, after_id: 0 });
    expect([rollups.source, results.source]).toEqual(["rollups", "results"]);
    expect(rollups.groups).toHaveLength(1);
    expect(rollups.groups[0]).toMatchObject({
      key: { day: "2026-04-05" },
      count: 3,
      passed: 0,
      not_passed: 3,
    });
    for (const { groups } of [rollups, results]) {
      expect(groups[0]?.mean_score).toBeCloseTo((0.123 + 0.2504 + 0.2502) / 3, 9);
    }
    const { mean_score: _, mean_score_interval: __, ...others } = rollups.groups[0] ?? {};
    expect(results.groups[0]).toMatchObject(others);
  });

  test("a failed evaluation cannot be corrected", async () => {
    const id = await store({ outcome: { status: "failed", errorMessage: "timeout: too long" } });
    expect((await post(`/${id}/correction`, { pass: true })).status).toBe(409);
    expect((await summary({ app })).groups).toMatchObject([{ count: 1, failed: 1, passed: 0 }]);
  });

  test("an unknown or another account's result is 404; issues are reported", async () => {
    const id = await store({});
    expect((await post("/999999999/correction", { pass: true })).status).toBe(404);
    expect((await post(`/${id}/correction`, { pass: false }, stranger)).status).toBe(404);
    expect((await find(id)).correction).toBeNull();
    const issues = await issuesOf(await post(`/${id}/correction`, { score_raw: 1.5, comment: "nul \0" }));
    expect(locationsOf(issues)).toEqual([
      { type: "missing", loc: ["body", "pass"] },
      { type: "less_than_equal", loc: ["body", "score_raw"] },
      { type: "value_error", loc: ["body", "comment"] },
    ]);
  });

  test("a result of another account is 404 without being read", async () => {
    const long = "long ".repeat(400_000);
    const id = await store({ sample: { input: long, output: long } });
    const find = (where: string, headers?: Record<string, string>) =>
      presage.call("GET", `${resultsPath}/${where}`, undefined, headers);
    const correctIt = (where: string, headers?: Record<string, string>) =>
      post(`/${where}/correction`, { pass: true }, headers);
    /** The fastest of several runs: other load on the machine slows some down. */
    const quickestMs = async (ask: () => Promise<Response>, status: number) => {
      const times: number[] = [];
      for (let round = 0; round < 5; round += 1) {
        const startedAtMs = performance.now();
        const response = await ask();
        await response.arrayBuffer();
        times.push(performance.now() - startedAtMs);
        expect(response.status).toBe(status);
      }
      return Math.min(...times);
    };
    const readMs = await quickestMs(() => find(`${id}`), 200);
    expect(await quickestMs(() => find(`${id}`, stranger), 404)).toBeLessThan(readMs / 2);
    expect(await quickestMs(() => correctIt(`${id}`, stranger), 404)).toBeLessThan(readMs / 2);
  }, 300_000);

  test("a judge finds the latest corrections of its profile, one for each result", async () => {
    await using opened = await openStore(presage.databaseUrl);
    const { database: handle, owner } = opened;
    const publicId = crypto.randomUUID();
    const profile = { name: "mine", publicId, revision: 1 };
    const [one, two] = [
      await store({ profile, sample: { input: "first", output: "é" } }),
      await store({ profile, sample: { output: "second" } }),
    ];
    const other = await store({ profile: { ...profile, publicId: crypto.randomUUID() } });
    await correct(one, { pass: true, comment: "no" });
    await correct(other, { pass: false });
    await correct(two, { pass: false });
    await correct(one, { pass: false, comment: "really not" });
    expect(await findCorrections(handle, owner.account_id, publicId, 5)).toEqual([
      { sample: { input: "first", output: "é" }, pass: false, comment: "really not" },
      { sample: { output: "second" }, pass: false },
    ]);
    expect(await findCorrections(handle, owner.account_id, publicId, 1)).toHaveLength(1);
    expect(await findCorrections(handle, "another", publicId, 5)).toEqual([]);
  });
});
