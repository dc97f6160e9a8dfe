import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import type { EvaluationSummaryResponse } from "@presage/contract";
import type { Database } from "../../src/platform/storage/schema/tables.ts";
import { hasUncounted, maxCountedValues, rollUpSomeTags } from "../../src/results/summary/tags.ts";
import { expectEventually } from "../support/eventually.ts";
import { runPresage } from "../support/presage/run-presage.ts";
import { usePresage } from "../support/presage/use-presage.ts";
import { evaluationResultsClient } from "../support/resources/evaluation-results.ts";
import { seeded } from "../support/seeded.ts";
import { onAnyDatabase } from "../support/store/databases.ts";
import { openStore } from "../support/store/open-store.ts";
import { type StoredFields, storeResults } from "../support/store/store-results.ts";
import { slowTest } from "../support/whole-run.ts";

/** Rounds of imports, and of hundreds of results that killed processes count. */
const rounds = process.env.PRESAGE_TEST_ALL === undefined ? 3 : 8;
const day = 86_400_000_000;
const firstDay = Date.UTC(2026, 5, 1) * 1000;
const names = ["prod", "test", 'a "quoted" \\ value', "", undefined];

/** Results of five days, with and without verdicts, scores and tags. */
function resultAt(index: number): StoredFields {
  const score = [0, 1, 0.25, 0.0125, 0.333333, undefined][index % 6];
  const env = names[index % names.length];
  return {
    createdAt: firstDay + (index % 5) * day + index * 1_000,
    evaluatorId: index % 2 === 0 ? "exact-match-2026-11-01" : "theirs",
    evaluatorFamily: index % 2 === 0 ? "exact-match" : "",
    ...(index % 3 === 0
      ? {
          profile: {
            name: "a",
            publicId: `aaaaaaaa-0000-4000-8000-00000000000${index % 2}`,
            revision: 1 + (index % 4),
          },
        }
      : {}),
    metadata: {
      app: index % 4 === 0 ? "shop" : "default",
      ...(index % 7 === 0 ? { runId: "run" } : {}),
      tags: { ...(env === undefined ? {} : { 'the "env" [0].$': env }), "trajectory_id ": `t${index}` },
    },
    outcome:
      index % 9 === 0
        ? { status: "failed", errorMessage: "timeout: too long" }
        : { status: "success", ...(score === undefined ? {} : { score, pass: score >= 0.25 }) },
  };
}

const byEnv = { group_by: ["tag"], tag: 'the "env" [0].$' };
const asked: Record<string, unknown>[] = [
  byEnv,
  { ...byEnv, group_by: ["tag", "day"] },
  { ...byEnv, group_by: ["evaluator", "profile", "app", "tag"], app: "shop" },
  { ...byEnv, pass: true },
  { ...byEnv, pass: false, evaluator_id: "theirs" },
  { ...byEnv, status: "failed" },
  { ...byEnv, status: "success", criteria: "a" },
  { ...byEnv, after_datetime: "2026-06-01T23:59:59.999Z", before_datetime: "2026-06-04T00:00:00Z" },
  { group_by: ["tag"], tag: "a name that no result has" },
  { group_by: ["day"], tags: { 'the "env" [0].$': "prod" } },
  { group_by: ["app"], tags: { 'the "env" [0].$': "" }, pass: true },
  { group_by: ["day"], tags: { 'the "env" [0].$': "none" } },
];

onAnyDatabase((database) => {
  const presage = usePresage({ database });
  const { summary, correct, importAll } = evaluationResultsClient(() => presage);
  let opened: Awaited<ReturnType<typeof openStore>>;
  beforeAll(async () => {
    opened = await openStore(presage.databaseUrl);
  });
  afterAll(() => opened.destroy());

  const store = async (from: number, to: number) => {
    const fields = Array.from({ length: to - from }, (_, index) => resultAt(from + index));
    const results = await storeResults(opened.database, opened.owner.account_id, fields);
    return results.map(({ id }) => id);
  };

  /** The same figures from both sources, except for rounding in another order of addition. */
  async function expectSameFromRows(body: Record<string, unknown>): Promise<EvaluationSummaryResponse> {
    const [rollups, results] = [await summary(body), await summary({ ...body, after_id: 0 })];
    expect([rollups.source, results.source]).toEqual(["rollups", "results"]);
    const rounded = (groups: unknown) =>
      JSON.parse(JSON.stringify(groups), (_, part: unknown) =>
        typeof part === "number" ? Number(part.toFixed(9)) : part,
      );
    expect(rounded(rollups.groups)).toEqual(rounded(results.groups));
    return rollups;
  }

  describe("Summaries by tag from the rollup equal those from the rows", () => {
    test("before anything is counted, when some is, and when all is", async () => {
      const ids = await store(0, 300);
      for (const body of asked) await expectSameFromRows(body);
      await countAll(opened.database);
      for (const body of asked) await expectSameFromRows(body);
      // Corrections of counted results and of others, of one more than once.
      ids.push(...(await store(300, 400)));
      for (const index of [1, 2, 3, 5, 302, 305])
        await correct(ids[index] ?? 0, { pass: index % 2 === 0, score_raw: 0.7 });
      await correct(ids[2] ?? 0, { pass: false });
      for (const body of asked) await expectSameFromRows(body);
      await countAll(opened.database);
      for (const body of asked) await expectSameFromRows(body);
      const { groups } = await summary(byEnv);
      expect(groups.reduce((sum, { count }) => sum + count, 0)).toBe(400);
      expect(groups.map(({ key }) => key.tag).sort()).toEqual([...names.map((name) => name ?? null)].sort());
    });

    test("of a name that gets too many values, which is not counted any further", async () => {
      const tagged = async (from: number, to: number) => {
        const fields = Array.from({ length: to - from }, (_, index) => ({
          metadata: { app: "many", tags: { version: `v${from + index}` } },
        }));
        await storeResults(opened.database, opened.owner.account_id, fields);
        await countAll(opened.database);
      };
      const byVersion = { group_by: ["tag"], tag: "version", app: "many" };
      await tagged(0, maxCountedValues);
      expect((await expectSameFromRows(byVersion)).groups).toHaveLength(maxCountedValues);
      await tagged(maxCountedValues, maxCountedValues + 1);
      const { source, groups } = await summary(byVersion);
      expect([source, groups.length]).toEqual(["results", maxCountedValues + 1]);
    });

    slowTest(
      "while results are imported, corrected and counted by two processes at once",
      async () => {
        await using other = await openStore(presage.databaseUrl);
        const ids: string[] = [];
        let isOver = false;
        const importing = async (caller: number) => {
          for (let call = 0; call < rounds; call += 1) {
            const results = Array.from({ length: 20 }, (_, index) => ({
              evaluator_id: "theirs",
              app: "busy",
              pass: index % 3 === 0,
              score_raw: index / 20,
              tags: index % 4 === 3 ? { other: "x" } : { 'the "env" [0].$': `busy ${(caller + index) % 3}` },
            }));
            ids.push(...(await importAll(results)));
          }
        };
        const correcting = async () => {
          while (!isOver) {
            const id = ids[Math.floor(Math.random() * ids.length)];
            if (id !== undefined) await correct(id, { pass: Math.random() < 0.5, score_raw: Math.random() });
            await Bun.sleep(5);
          }
        };
        const counting = async (counted: Database) => {
          while (!isOver) {
            await rollUpSomeTags(counted);
            await Bun.sleep(5);
          }
        };
        const summarising = async () => {
          while (!isOver) {
            const { groups } = await summary({ ...byEnv, app: "busy" });
            // An import is there as a whole or not at all.
            expect(groups.reduce((sum, { count }) => sum + count, 0) % 20).toBe(0);
            await Bun.sleep(5);
          }
        };
        const rest = [
          correcting(),
          correcting(),
          counting(opened.database),
          counting(other.database),
          summarising(),
        ];
        await Promise.all([importing(0), importing(1), importing(2)]).finally(() => {
          isOver = true;
        });
        await Promise.all(rest);
        for (const body of asked) {
          await expectSameFromRows(body);
          await expectSameFromRows({ ...body, app: "busy" });
        }
        await countAll(opened.database);
        for (const body of asked) await expectSameFromRows({ ...body, app: "busy" });
      },
      120_000,
    );

    slowTest(
      "after processes that count were killed",
      seeded(async (draw) => {
        await store(1_000, 1_000 + 400 * rounds);
        const script = `
          const { openThreadDatabase } = await import(${JSON.stringify(join(import.meta.dir, "../../src/platform/storage/open.ts"))});
          const { rollUpSomeTags } = await import(${JSON.stringify(join(import.meta.dir, "../../src/results/summary/tags.ts"))});
          const database = await openThreadDatabase(process.argv.at(-1));
          console.log("counting");
          while (await rollUpSomeTags(database)) await Bun.sleep(2);`;
        for (let kill = 0; kill < 3; kill += 1) {
          const child = Bun.spawn({
            cmd: [process.execPath, "--eval", script, presage.databaseUrl],
            stdout: "pipe",
            stderr: "inherit",
          });
          for await (const _ of child.stdout) break;
          await Bun.sleep(draw.below(60));
          child.kill("SIGKILL");
          await child.exited;
        }
        for (const body of asked) await expectSameFromRows(body);
        await countAll(opened.database);
        for (const body of asked) await expectSameFromRows(body);
      }),
      120_000,
    );
  });

  test("A server counts results by tag soon after they were stored", async () => {
    await importAll([{ evaluator_id: "theirs", pass: true, tags: { env: "soon" } }]);
    await expectEventually(() => hasUncounted(opened.database), false);
    const { groups } = await expectSameFromRows({ group_by: ["tag"], tag: "env" });
    expect(groups.map(({ key }) => key.tag)).toContain("soon");
  });

  test("Results whose times were mended are counted by tag on their new day", async () => {
    const createdAt = (Date.now() + 400 * 86_400_000) * 1000;
    const fields = { metadata: { app: "mended", tags: { env: "late" } } };
    await storeResults(opened.database, opened.owner.account_id, [fields, { ...fields, createdAt }]);
    await countAll(opened.database);
    const byDay = { group_by: ["tag", "day"], tag: "env", app: "mended" };
    expect((await expectSameFromRows(byDay)).groups).toHaveLength(2);
    const { code } = await runPresage(["results", "mend-times"], {
      PRESAGE_DATABASE_URL: presage.databaseUrl,
    });
    expect(code).toBe(0);
    for (const isCounted of [false, true]) {
      if (isCounted) await countAll(opened.database);
      expect((await expectSameFromRows(byDay)).groups.map(({ count }) => count)).toEqual([2]);
    }
  });
});

async function countAll(database: Database): Promise<void> {
  while (await hasUncounted(database)) await rollUpSomeTags(database);
}
