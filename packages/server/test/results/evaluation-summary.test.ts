import { beforeAll, describe, expect, test } from "bun:test";
import type { EvaluationSummaryGroup } from "@presage/contract";
import { findConfidenceInterval } from "../../src/results/evaluate-route.ts";
import { usePresage } from "../support/presage/use-presage.ts";
import { evaluationResultsClient } from "../support/resources/evaluation-results.ts";
import { keyOfAnotherAccount } from "../support/resources/other-account.ts";
import { issuesOf, locationsOf } from "../support/resources/validation-issues.ts";
import { onEachDatabase } from "../support/store/databases.ts";
import { openStore } from "../support/store/open-store.ts";
import { anyRequester } from "../support/store/requester.ts";
import { storeOf } from "../support/store/store-of.ts";
import { type StoredFields, storeResults } from "../support/store/store-results.ts";

const day = 86_400_000_000;
const firstDay = Date.UTC(2026, 5, 1) * 1000;
const [profileA, profileB] = ["aaaaaaaa-0000-4000-8000-000000000001", "aaaaaaaa-0000-4000-8000-000000000002"];

/** 120 results of three days, every seventh a failure. */
const stored = Array.from({ length: 120 }, (_, index): StoredFields => {
  const score = [0, 1, 0.25, 0.5, undefined][index % 5];
  return {
    createdAt: firstDay + Math.floor(index / 40) * day + (index % 40) * 1_000_000,
    evaluatorId: index % 2 === 0 ? "exact-match-2026-11-01" : "theirs",
    ...(index % 2 === 0 ? { evaluatorFamily: "exact-match" } : { evaluatorFamily: "" }),
    profile:
      index % 3 === 0
        ? { name: "a", publicId: profileA, revision: 1 + (index % 2) }
        : { name: "b", publicId: profileB, revision: 1 },
    metadata: {
      app: index % 4 === 0 ? "shop" : "default",
      ...(index % 6 === 0 ? { runId: "run" } : {}),
      ...(index % 5 < 3 ? { tags: { env: index % 5 === 0 ? "prod" : "test" } } : {}),
    },
    outcome:
      index % 7 === 0
        ? { status: "failed", errorMessage: "timeout: too long" }
        : { status: "success", ...(score === undefined ? {} : { score, pass: score >= 0.5 }) },
  };
});

onEachDatabase((database) => {
  const presage = usePresage({ database });
  const { post, summary } = evaluationResultsClient(() => presage);

  beforeAll(async () => {
    await using opened = await openStore(presage.databaseUrl);
    await storeResults(opened.database, opened.owner.account_id, stored);
  });

  const countsOf = ({ count, scored, passed, not_passed, failed }: EvaluationSummaryGroup) => ({
    count,
    scored,
    passed,
    not_passed,
    failed,
  });
  const countStored = (fits: (fields: StoredFields, index: number) => boolean) => {
    const findings = stored.filter(fits).flatMap(({ outcome }) => outcome ?? []);
    return {
      count: findings.length,
      scored: findings.filter(({ score }) => score !== undefined).length,
      passed: findings.filter(({ pass }) => pass === true).length,
      not_passed: findings.filter(({ pass }) => pass === false).length,
      failed: findings.filter(({ status }) => status === "failed").length,
    };
  };

  /** The same figures, except for rounding in another order of addition. */
  function expectSame(some: EvaluationSummaryGroup[], others: EvaluationSummaryGroup[]): void {
    const rounded = (value: unknown) =>
      JSON.parse(JSON.stringify(value), (_, part: unknown) =>
        typeof part === "number" ? Number(part.toPrecision(9)) : part,
      );
    expect(rounded(some)).toEqual(rounded(others));
  }

  describe("A summary", () => {
    test("of everything is one group, from the rollup", async () => {
      const { source, groups } = await summary({});
      expect(source).toBe("rollups");
      expect(groups).toHaveLength(1);
      const [group] = groups as [EvaluationSummaryGroup];
      expect(group.key).toEqual({});
      expect(countsOf(group)).toEqual(countStored(() => true));
      const scores = stored.flatMap(({ outcome }) => outcome?.score ?? []).sort((a, b) => a - b);
      expect(group.mean_score).toBeCloseTo(scores.reduce((sum, score) => sum + score, 0) / scores.length, 9);
      for (const [name, share] of [
        ["p10", 0.1],
        ["p50", 0.5],
        ["p90", 0.9],
      ] as const) {
        expect([name, group[name]]).toEqual([name, scores[Math.ceil(share * scores.length) - 1] ?? null]);
      }
      expect(group.pass_rate).toBeCloseTo(group.passed / (group.passed + group.not_passed), 12);
    });

    test.each([
      [["day"]],
      [["evaluator"]],
      [["profile"]],
      [["app"]],
      [["run"]],
      [["day", "app"]],
      [["evaluator", "profile", "run", "app", "day"]],
    ])("by %p says the same from both sources", async (group_by) => {
      const rollups = await summary({ group_by });
      const results = await summary({ group_by, after_id: 0 });
      expect([rollups.source, results.source]).toEqual(["rollups", "results"]);
      expect(rollups.groups.length).toBeGreaterThan(1);
      expectSame(rollups.groups, results.groups);
      expect(rollups.groups.reduce((total, { count }) => total + count, 0)).toBe(stored.length);
    });

    test("by day has one group per day, with its date", async () => {
      const { groups } = await summary({ group_by: ["day"] });
      expect(groups.map(({ key, count }) => [key.day, count])).toEqual([
        ["2026-06-01", 40],
        ["2026-06-02", 40],
        ["2026-06-03", 40],
      ]);
    });

    test("states what each group has in common, and null where there is nothing", async () => {
      const byRun = await summary({ group_by: ["run"] });
      expect(byRun.groups.map(({ key }) => key)).toEqual([
        { evaluation_run_id: null },
        { evaluation_run_id: "run" },
      ]);
      const byProfile = await summary({ group_by: ["profile"], profile_name: "a" });
      expect(byProfile.groups.map(({ key }) => key)).toContainEqual({
        profile_name: "a",
        evaluator_profile_public_id: profileA,
        evaluator_profile_revision: 2,
      });
      const byEvaluator = await summary({ group_by: ["evaluator", "evaluator"] });
      expect(byEvaluator.groups.map(({ key }) => key)).toContainEqual({
        evaluator_id: "external:theirs",
        evaluator_family: null,
      });
    });

    test("by tag counts the results without it as well", async () => {
      const { source, groups } = await summary({ group_by: ["tag"], tag: "env" });
      expect(source).toBe("rollups");
      const ofTag = (value: string | undefined) =>
        countStored(({ metadata }) => (metadata?.tags?.env ?? undefined) === value);
      expect(groups.map((group) => [group.key.tag, countsOf(group)])).toEqual([
        [null, ofTag(undefined)],
        ["test", ofTag("test")],
        ["prod", ofTag("prod")],
      ]);
    });

    test.each([
      ["an app", { app: "shop" }, ({ metadata }: StoredFields) => metadata?.app === "shop", "rollups"],
      [
        "a run and a profile",
        { evaluation_run_id: "run", criteria: "a" },
        ({ metadata, profile }: StoredFields) => metadata?.runId === "run" && profile?.name === "a",
        "rollups",
      ],
      ["runs", { has_run: true }, ({ metadata }: StoredFields) => metadata?.runId !== undefined, "rollups"],
      [
        "direct evaluations",
        { has_run: false, app: "shop" },
        ({ metadata }: StoredFields) => metadata?.runId === undefined && metadata?.app === "shop",
        "rollups",
      ],
      [
        "direct evaluations with a tag",
        { has_run: false, tags: { env: "prod" } },
        ({ metadata }: StoredFields) => metadata?.runId === undefined && metadata?.tags?.env === "prod",
        "results",
      ],
      ["a pass", { pass: true }, ({ outcome }: StoredFields) => outcome?.pass === true, "rollups"],
      [
        "a fail",
        { pass: false, evaluator_id: "theirs" },
        ({ outcome, evaluatorId }: StoredFields) => outcome?.pass === false && evaluatorId === "theirs",
        "rollups",
      ],
      [
        "a tag",
        { tags: { env: "prod" } },
        ({ metadata }: StoredFields) => metadata?.tags?.env === "prod",
        "rollups",
      ],
      [
        "a score",
        { score_raw_min: 0.25, score_raw_max: 0.5 },
        ({ outcome }: StoredFields) => (outcome?.score ?? 0) >= 0.25 && (outcome?.score ?? 1) <= 0.5,
        "results",
      ],
      [
        "a day",
        { after_datetime: "2026-06-01T23:59:59.999Z", before_datetime: "2026-06-03T00:00:00Z" },
        ({ createdAt = 0 }: StoredFields) => createdAt >= firstDay + day && createdAt < firstDay + 2 * day,
        "rollups",
      ],
      [
        "a time of day",
        { before_datetime: "2026-06-01T00:00:10" },
        ({ createdAt = 0 }: StoredFields) => createdAt < firstDay + 10_000_000,
        "results",
      ],
      [
        "a midnight at which something was kept",
        { after_datetime: "2026-06-02T00:00:00Z" },
        ({ createdAt = 0 }: StoredFields) => createdAt > firstDay + day,
        "results",
      ],
      [
        "a midnight at which nothing was kept",
        { after_datetime: "2026-05-31T00:00:00Z" },
        () => true,
        "rollups",
      ],
    ] as const)("of %s counts what fits", async (_, filter, fits, wantedSource) => {
      const { source, groups } = await summary(filter);
      expect(source).toBe(wantedSource);
      expect(groups.map(countsOf)).toEqual([countStored(fits)]);
      expect(countStored(fits).count).toBeGreaterThan(0);
    });

    test("accepts extreme bounds", async () => {
      for (const filter of [
        { score_raw_min: 1e300 },
        { score_raw_max: -1e300 },
        { after_datetime: "9999-12-31T23:59:59.999999Z" },
        { before_datetime: "0001-01-01T00:00:00" },
        { after_id: Number.MAX_SAFE_INTEGER },
      ]) {
        expect((await summary(filter)).groups).toEqual([]);
      }
      expect((await summary({ score_raw_min: -1e300, score_raw_max: 1e300 })).groups).toHaveLength(1);
    });

    test("of nothing has no groups", async () => {
      expect(await summary({ app: "nowhere", group_by: ["day"] })).toEqual({ source: "rollups", groups: [] });
      expect(await summary({ tags: { env: "none" } })).toEqual({ source: "rollups", groups: [] });
      expect((await summary({ status: "failed", pass: true, group_by: ["day"] })).groups).toEqual([]);
      expect((await summary({ has_run: false, evaluation_run_id: "run" })).groups).toEqual([]);
    });

    // The worked examples of https://en.wikipedia.org/wiki/Percentile#The_nearest-rank_method
    test.each([
      [[15, 20, 35, 40, 50], { p10: 15, p50: 35, p90: 50 }],
      [[3, 6, 7, 8, 8, 10, 13, 15, 16, 20], { p10: 3, p50: 8, p90: 16 }],
      [[3, 6, 7, 8, 8, 9, 10, 13, 15, 16, 20], { p10: 6, p50: 9, p90: 16 }],
    ])("has the nearest ranks of %p from both sources", async (milles, ranks) => {
      await using opened = await openStore(presage.databaseUrl);
      const app = `${milles.length} scores`;
      const fields = milles.map((mille) => ({
        createdAt: firstDay + 5 * day,
        metadata: { app },
        // Results without a score and failed ones are not included.
        outcome: { status: "success" as const, pass: mille > 10, score: mille / 1000 },
      }));
      const other = { createdAt: firstDay + 5 * day, metadata: { app } };
      await storeResults(opened.database, opened.owner.account_id, [
        ...fields,
        { ...other, outcome: { status: "failed", errorMessage: "timeout: too long" } },
        { ...other, outcome: { status: "success" } },
      ]);
      const inThousandths = ({ p10, p50, p90 }: EvaluationSummaryGroup) => ({ p10, p50, p90 });
      const wanted = { p10: ranks.p10 / 1000, p50: ranks.p50 / 1000, p90: ranks.p90 / 1000 };
      for (const filter of [{ app }, { app, after_id: 0 }]) {
        expect((await summary(filter)).groups.map(inThousandths)).toEqual([wanted]);
      }
    });

    test("by tag requires the tag's name, and lists its dimensions", async () => {
      const issues = await issuesOf(await post("/summary", { group_by: ["tag"] }));
      expect(locationsOf(issues)).toEqual([{ type: "missing", loc: ["body", "tag"] }]);
      const unknown = await issuesOf(await post("/summary", { group_by: ["week"] }));
      expect(locationsOf(unknown)).toEqual([{ type: "literal_error", loc: ["body", "group_by", 0] }]);
    });

    // The statements count no further than the maximum on either database.
    if (database.name === "SQLite")
      test("of more groups than the maximum is rejected, and of exactly the maximum is not", async () => {
        await using opened = await openStore(presage.databaseUrl);
        const inRuns = (from: number, to: number) =>
          storeResults(
            opened.database,
            opened.owner.account_id,
            Array.from({ length: to - from }, (_, index) => ({
              createdAt: firstDay + 6 * day,
              metadata: { app: "many runs", runId: `run ${from + index}` },
            })),
          );
        const wanted = { group_by: ["run"], app: "many runs" };
        for (let run = 0; run < 10_000; run += 500) await inRuns(run, run + 500);
        expect((await summary(wanted)).groups).toHaveLength(10_000);
        await inRuns(10_000, 10_001);
        for (const request of [wanted, { ...wanted, after_id: 0 }]) {
          const issues = await issuesOf(await post("/summary", request));
          expect(issues).toMatchObject([
            { type: "value_error", loc: ["body", "group_by"], msg: expect.stringMatching(/10000.*filter/) },
          ]);
        }
      }, 300_000);

    test("shows nothing to another account", async () => {
      const stranger = { "x-api-key": await keyOfAnotherAccount(presage.databaseUrl) };
      for (const body of [{ group_by: ["app"] }, { group_by: ["tag"], tag: "env" }]) {
        const response = await post("/summary", body, stranger);
        expect(await response.json()).toMatchObject({ groups: [] });
      }
    });
  });

  test("a score whose square is too small for a double is summed equally from results and rollup", async () => {
    await post("/batch", { evaluation_results: [{ evaluator_id: "tiny", pass: false, score_raw: 1e-200 }] });
    for (const filter of [{}, { after_id: 0 }]) {
      const { groups } = await summary({ evaluator_id: "tiny", ...filter });
      expect(groups).toMatchObject([{ count: 1, mean_score: 1e-200 }]);
    }
  });

  test("the interval of the median covers an evaluator's scores of one revision, in all apps", async () => {
    await using opened = await openStore(presage.databaseUrl);
    const accountId = opened.owner.account_id;
    const publicId = crypto.randomUUID();
    const profile = { name: "interval", publicId, revision: 3, config: {} };
    const services = { store: storeOf(opened.database) };
    const none = { strategy: "full-history" as const, alpha: 0.05, lower: null, median: null, upper: null };
    expect(await findConfidenceInterval(services, anyRequester(accountId), "ev", profile)).toEqual(none);
    await storeResults(
      opened.database,
      accountId,
      Array.from({ length: 100 }, (_, index) => ({
        evaluatorId: "ev",
        profile: { name: "interval", publicId, revision: 3 },
        metadata: { app: `app ${index % 3}` },
        outcome: { status: "success" as const, pass: true, score: (index + 1) / 1000 },
      })),
    );
    await storeResults(opened.database, accountId, [
      { evaluatorId: "ev", profile: { name: "interval", publicId, revision: 4 } },
    ]);
    // The 40th and the 61st of a hundred (Campbell and Gardner 1988).
    expect(await findConfidenceInterval(services, anyRequester(accountId), "ev", profile)).toEqual({
      ...none,
      lower: 0.04,
      median: 0.0505,
      upper: 0.061,
    });
    expect(
      await findConfidenceInterval(services, anyRequester(accountId), "ev", { ...profile, revision: 4 }),
    ).toEqual({
      ...none,
      median: 1,
    });
    expect(await findConfidenceInterval(services, anyRequester("another"), "ev", profile)).toEqual(none);
  });
});
