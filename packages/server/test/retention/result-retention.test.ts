import { afterAll, beforeAll, expect, test } from "bun:test";
import { sql } from "kysely";
import { deleteInBatches } from "../../src/platform/storage/batches.ts";
import { deleteOldResults } from "../../src/results/delete/delete-results.ts";
import type { AgePosition } from "../../src/results/delete/deleted-results-store.ts";
import { rollUpSomeTags } from "../../src/results/summary/tags.ts";
import { expectEventually } from "../support/eventually.ts";
import { usePresage } from "../support/presage/use-presage.ts";
import { evaluationResultsClient } from "../support/resources/evaluation-results.ts";
import { onAnyDatabase } from "../support/store/databases.ts";
import { openStore } from "../support/store/open-store.ts";
import { storeResults } from "../support/store/store-results.ts";
import { slowTest } from "../support/whole-run.ts";
import { expectSoundRollups } from "./expect-sound-rollups.ts";
import { day, firstDay, resultAt } from "./many-results.ts";

onAnyDatabase((database) => {
  const presage = usePresage({ database });
  const { correct } = evaluationResultsClient(() => presage);
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
  const deleteBefore = (before: number) =>
    deleteInBatches(
      opened.database,
      (place: AgePosition | undefined, limit) => deleteOldResults(opened.database, before, place, limit),
      { signal: new AbortController().signal },
    );

  test("What is too old is deleted, some of it counted by tag and corrected, and every rollup equals a recount", async () => {
    const ids = await store(0, 200);
    while (await rollUpSomeTags(opened.database));
    ids.push(...(await store(200, 300)));
    for (const index of [1, 2, 3, 5, 202, 206])
      await correct(ids[index] ?? 0, { pass: index % 2 === 0, score_raw: 0.7 });
    for (const id of ids.slice(0, 210))
      await presage.call("POST", `/v1/evaluation-results/${id}/labels`, { label: "pass", annotator: "ada" });
    await expectSoundRollups(presage, opened.database);
    const old = ids.filter((_, index) => (resultAt(index).createdAt ?? 0) < firstDay + 2 * day);
    expect(await deleteBefore(firstDay + 2 * day)).toBe(old.length);
    await expectSoundRollups(presage, opened.database);
    const left = await opened.database.selectFrom("evaluation_results").select("id").orderBy("id").execute();
    expect(left.map(({ id }) => id)).toEqual(ids.filter((id) => !old.includes(id)));
    const tables = [
      "evaluation_payloads",
      "evaluation_tags",
      "evaluation_corrections",
      "evaluation_labels",
    ] as const;
    for (const table of tables) {
      const rows = await opened.database.selectFrom(table).select("result_id").execute();
      expect(rows.filter(({ result_id }) => old.includes(result_id))).toEqual([]);
    }
    expect(await deleteBefore(firstDay + 2 * day)).toBe(0);
  });

  // PostgreSQL's autovacuum decides when it does the same.
  const onSqliteOnly = database.name === "SQLite" ? slowTest : () => {};
  onSqliteOnly("The space of what was deleted is used again", async () => {
    const pages = async () => {
      const { rows } = await sql<{ page_count: number }>`pragma page_count`.execute(opened.database);
      return Number(rows[0]?.page_count);
    };
    const lastDay = firstDay + 6 * day;
    await store(0, 600);
    const before = await pages();
    for (let time = 0; time < 3; time++) {
      expect(await deleteBefore(lastDay)).toBeGreaterThanOrEqual(600);
      await store(0, 600);
    }
    expect(await pages()).toBeLessThan(1.2 * before);
    await deleteBefore(lastDay);
  });

  test("A value of a tag goes with its last result, and only values that are there close a name", async () => {
    const { account_id } = opened.owner;
    const valuesOf = async () => {
      const values = opened.database.selectFrom("evaluation_tag_values").select("value");
      return (await values.where("name", "=", "person").execute()).map(({ value }) => value);
    };
    const stayed = { createdAt: firstDay + 4 * day, metadata: { app: "default", tags: { person: "stays" } } };
    await storeResults(opened.database, account_id, [stayed]);
    for (const month of ["June", "July"]) {
      const fields = Array.from({ length: 60 }, (_, index) => ({
        createdAt: firstDay,
        metadata: { app: "default", tags: { person: `${month}-${index}@example.org` } },
      }));
      await storeResults(opened.database, account_id, fields);
      while (await rollUpSomeTags(opened.database));
      await expectEventually(async () => (await valuesOf()).length, 61);
      expect(await deleteBefore(firstDay + 2 * day)).toBe(60);
      await expectSoundRollups(presage, opened.database);
      expect(await valuesOf()).toEqual(["stays"]);
    }
  });

  test("Names of tags that are used no more make room for others", async () => {
    const count = async () => {
      const names = opened.database.selectFrom("evaluation_tag_names").select("name");
      return (await names.where("name", "like", "unused-%").execute()).length;
    };
    const tags = Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`unused-${index}`, "x"]));
    const fields = [{ createdAt: firstDay, metadata: { app: "default", tags } }];
    await storeResults(opened.database, opened.owner.account_id, fields);
    while (await rollUpSomeTags(opened.database));
    await expectEventually(count, 40);
    await deleteBefore(firstDay + 2 * day);
    await expectSoundRollups(presage, opened.database);
    expect(await count()).toBe(0);
  });

  test("There is a pause after a part of the results that was only looked through", async () => {
    const { deleted, heldMs } = await deleteOldResults(opened.database, firstDay - day, undefined, 20);
    expect([deleted, heldMs > 0]).toEqual([0, true]);
  });

  test("After a transaction that deleted nothing there is a pause, and the next one has as many rows", async () => {
    const limits: number[] = [];
    const startedAtMs = performance.now();
    await deleteInBatches<true>(
      opened.database,
      async (_, limit) => {
        limits.push(limit);
        return { deleted: 0, heldMs: 100, next: limits.length < 4 ? true : undefined };
      },
      { signal: new AbortController().signal },
    );
    expect(performance.now() - startedAtMs).toBeGreaterThan(250);
    expect(new Set(limits).size).toBe(1);
  });
});
