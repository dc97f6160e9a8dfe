import { expect, setSystemTime, test } from "bun:test";
import { numbersPerStretch } from "../../src/platform/storage/columns.ts";
import { selectErrorFindings } from "../../src/results/error-findings-store.ts";
import { countFutureResults, mendCorrections, watchClocks } from "../../src/results/times.ts";
import { eventually, expectEventually } from "../support/eventually.ts";
import { startPresage } from "../support/presage/presage.ts";
import { runPresage } from "../support/presage/run-presage.ts";
import { spawnPresage } from "../support/presage/spawn-presage.ts";
import { usePresage } from "../support/presage/use-presage.ts";
import { evaluationResultsClient } from "../support/resources/evaluation-results.ts";
import { onAnyDatabase } from "../support/store/databases.ts";
import { openStore } from "../support/store/open-store.ts";
import { type StoredFields, storeResults } from "../support/store/store-results.ts";

const microsPerHour = 3_600_000_000;
const yearMs = 365 * 24 * 3_600_000;
const now = Date.now() * 1000;
const future = now + 10 * yearMs * 1000;

onAnyDatabase((database) => {
  const presage = usePresage({ database });
  const { search, searchAll, summary, importAll, correct, find } = evaluationResultsClient(() => presage);

  async function store(fields: readonly StoredFields[]): Promise<number[]> {
    await using opened = await openStore(presage.databaseUrl);
    const results = await storeResults(opened.database, opened.owner.account_id, fields);
    return results.map(({ id }) => id);
  }

  const at = (micros: number) => new Date(micros / 1000).toISOString();
  /** What both sources of a summary say about each day. */
  async function daysOf(app: string) {
    const byDay = { app, group_by: ["day"] };
    const [rollups, results] = [await summary(byDay), await summary({ ...byDay, after_id: 0 })];
    expect([rollups.source, results.source]).toEqual(["rollups", "results"]);
    expect(results.groups).toEqual(rollups.groups);
    return rollups.groups.map(({ key, count }) => [key.day, count]);
  }

  test("After a result of a wrong clock, the next ones have correct times", async () => {
    await store([{ metadata: { app: "once" }, createdAt: future }]);
    const [id = ""] = await importAll([{ evaluator_id: "theirs", app: "once", pass: true }]);
    const { created_at } = await find(id);
    expect(Math.abs(Date.parse(created_at) - Date.now())).toBeLessThan(60_000);
  });

  test("Searches by time find exactly the right results page by page, in any order of times", async () => {
    const app = "disorder";
    // Ranges of ids are an hour apart; most are in order, in others clocks jump both ways.
    const count = 2 * numbersPerStretch + 500;
    const fields = Array.from({ length: count }, (_, index): StoredFields => {
      const jump = index % 999 === 7 ? 50 * microsPerHour : index % 1_203 === 11 ? -900 * microsPerHour : 0;
      const createdAt = now - 600 * microsPerHour + Math.floor(index / 100) * microsPerHour + jump;
      return { metadata: { app, ...(index % 50 === 7 ? { tags: { t: "x" } } : {}) }, createdAt };
    });
    const ids = await store(fields);
    const times = new Map(ids.map((id, index) => [id, fields[index]?.createdAt ?? 0]));
    const bounds = [-2000, -1400, -590, -570.5, -550, 0].map((hours) => now + hours * microsPerHour);
    const tagged = new Set(ids.filter((_, index) => index % 50 === 7));
    for (const [index, after] of bounds.entries()) {
      const before = bounds[index + 2] ?? now + 10_000 * microsPerHour;
      const fits = (time: number) => time > after && time < before;
      const wanted = ids.filter((id) => fits(times.get(id) ?? 0));
      const filter = { app, after_datetime: at(after), before_datetime: at(before), text_limit: 1 };
      expect(await searchAll({ ...filter, order: "created_at" }, 1000)).toEqual(wanted);
      expect(await searchAll({ ...filter, tags: { t: "x" } }, 1000)).toEqual(
        wanted.filter((id) => tagged.has(id)).reverse(),
      );
    }
  }, 300_000);

  test("A server warns once about results dated in the future, and names the command", async () => {
    await store([{ metadata: { app: "warned" }, createdAt: future }]);
    await using other = await spawnPresage({ PRESAGE_DATABASE_URL: presage.databaseUrl });
    const log = await eventually(
      () => other.stdout(),
      (text) => text.includes("repair-times"),
    );
    expect(log.match(/results are dated in the future.*presage results repair-times/g)).toHaveLength(1);
  });

  test("The repair command gives them the times of their neighbours, with their counts and corrections", async () => {
    const app = "mended";
    const day = Math.floor(now / 86_400_000_000) * 86_400_000_000 - 48 * microsPerHour;
    const taxonomy = { evaluatorFamily: "error-taxonomy", evaluatorId: "error-taxonomy-2026-11-21" };
    const extra = { error_taxonomy_revision_id: "one", categories: [{ path: ["late"], reason: "Because." }] };
    const ids = await store([
      { metadata: { app }, createdAt: day },
      { metadata: { app, runId: "r" }, createdAt: future },
      {
        ...taxonomy,
        metadata: { app },
        createdAt: future + 1000,
        outcome: { status: "success", pass: false, extra },
      },
      { metadata: { app }, createdAt: future, outcome: { status: "failed", errorMessage: "timeout: No." } },
      { metadata: { app }, createdAt: day + 24 * microsPerHour },
      ...Array.from({ length: 450 }, (_, index) => ({ metadata: { app }, createdAt: future + index * 1000 })),
    ]);
    const dryRun = await runPresage(["results", "mend-times", "--dry-run"], {
      PRESAGE_DATABASE_URL: presage.databaseUrl,
    });
    expect(dryRun).toMatchObject({ code: 0, stderr: "" });
    expect(dryRun.stdout).toMatch(/It is .*Z\. \d+ results dated in the future, from .*Nothing was changed/s);
    await correct(ids[1] ?? 0, { pass: false });
    expect((await find(ids[1] ?? 0)).created_at).toBe(at(future));

    const { code, stdout, stderr } = await runPresage(["results", "mend-times"], {
      PRESAGE_DATABASE_URL: presage.databaseUrl,
    });
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(/Mended the times of \d+ results and 0 corrections\.\n$/);
    const days = [at(day), at(day + 24 * microsPerHour)].map((time) => time.slice(0, 10));
    expect(await daysOf(app)).toEqual([
      [days[0], 4],
      [days[1], 451],
    ]);
    for (const id of ids.slice(0, 4)) expect((await find(id)).created_at).toBe(at(day));
    expect(await search({ app, after_datetime: at(now + microsPerHour) })).toEqual([]);
    expect(await searchAll({ app, before_datetime: at(day + 1000), order: "created_at" }, 2)).toEqual(
      ids.slice(0, 3),
    );
    await using opened = await openStore(presage.databaseUrl);
    expect(await countFutureResults(opened.database, 10)).toBe(0);
    const allDays = { fromDay: undefined, untilDay: undefined };
    const found = await selectErrorFindings(opened.database, opened.owner.account_id, "one", allDays);
    const last_day = day / 86_400_000_000;
    expect(found.sort((a, b) => a.path.length - b.path.length)).toEqual([
      { path: "[]", count: 1, last_day },
      { path: '["late"]', count: 1, last_day },
    ]);
  });

  test("A correction dated in the future is repaired too, and the latest stays the latest", async () => {
    const [id = 0] = await store([{ metadata: { app: "corrected" } }]);
    await using opened = await openStore(presage.databaseUrl);
    await correct(id, { pass: false, comment: "first" });
    await opened.database
      .updateTable("evaluation_corrections")
      .set({ created_at: future })
      .where("result_id", "=", id)
      .execute();
    const last = await correct(id, { pass: true, comment: "last" });
    expect(Date.parse(last.correction?.created_at ?? "")).toBeGreaterThan(Date.now() + yearMs);
    const { stdout } = await runPresage(["results", "mend-times"], {
      PRESAGE_DATABASE_URL: presage.databaseUrl,
    });
    expect(stdout).toContain("and 2 corrections.");
    const { correction } = await find(id);
    expect(correction).toMatchObject({ pass: true, comment: "last" });
    expect(Math.abs(Date.parse(correction?.created_at ?? "") - Date.now())).toBeLessThan(60_000);
  });

  test("Corrections of a result that is dated in the future itself stay, and their repair ends", async () => {
    await using opened = await openStore(await database.create());
    const { id: user_id, account_id } = opened.owner;
    const [{ id: result_id } = { id: 0 }] = await storeResults(opened.database, account_id, [
      { createdAt: future },
    ]);
    const corrections = Array.from({ length: 200 }, (_, index) => ({
      ...{ id: Bun.randomUUIDv7(), account_id, result_id, user_id, created_at: future + index },
      ...{ pass: 1 as const, score: null, comment: null, profile_public_id: null },
    }));
    await opened.database.insertInto("evaluation_corrections").values(corrections).execute();
    expect(await mendCorrections(opened.database, now)).toBe(0);
  });

  test("If every result is dated in the future, nothing is repaired, as the current clock is more likely wrong", async () => {
    const url = await database.create();
    await using opened = await openStore(url);
    await storeResults(opened.database, opened.owner.account_id, [{ createdAt: future }]);
    const { code, stderr } = await runPresage(["results", "mend-times"], { PRESAGE_DATABASE_URL: url });
    expect([code, stderr]).toEqual([1, expect.stringContaining("clock is wrong")]);
    expect(await countFutureResults(opened.database, 10)).toBe(1);
  });

  if (database.name === "SQLite") return;

  test("A clock that differs from the database's by more than a minute prevents the start and shows both times", async () => {
    try {
      setSystemTime(new Date(Date.now() + 10 * yearMs));
      const failure = await startPresage({ PRESAGE_DATABASE_URL: presage.databaseUrl }).then(
        async (started) => started.stop().then(() => "it started"),
        (error: unknown) => String(error),
      );
      setSystemTime();
      const years = [10 * yearMs, 0].map((ms) => new Date(Date.now() + ms).getUTCFullYear());
      expect(failure).toMatch(
        new RegExp(`This machine's clock says ${years[0]}-.* the database's .* ${years[1]}-`),
      );
    } finally {
      setSystemTime();
    }
  });

  test("A clock that goes wrong while the server runs is reported once, and so is its recovery", async () => {
    await using opened = await openStore(await database.create());
    const said: string[] = [];
    const say = (_: unknown, text?: string) => void said.push(String(text ?? _));
    const watch = watchClocks(opened.database, { warn: say, info: say } as never, 10);
    try {
      setSystemTime(new Date(Date.now() + 5 * 60_000));
      await expectEventually(() => said.length, 1);
      await Bun.sleep(100);
      setSystemTime();
      await expectEventually(() => said.length, 2);
    } finally {
      setSystemTime();
      await watch.stop();
    }
    expect(said).toEqual([
      "the clocks of this machine and of the database differ by more than a minute",
      "the clocks agree again",
    ]);
  });

  test("A result is dated by the database, whatever the process's clock", async () => {
    try {
      setSystemTime(new Date(Date.now() - yearMs));
      const [id = ""] = await importAll([{ evaluator_id: "theirs", app: "slow clock", pass: true }]);
      setSystemTime();
      expect(Math.abs(Date.parse((await find(id)).created_at) - Date.now())).toBeLessThan(60_000);
    } finally {
      setSystemTime();
    }
  });
});
