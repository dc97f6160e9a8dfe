import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { sql } from "kysely";
import { onEachDatabase } from "../../test/support/databases.ts";
import { openDatabase } from "./open-database.ts";
import { claimOnce } from "./settings-store.ts";

const onConnectionLost = () => {};

onEachDatabase(({ name, create }) => {
  test("the reader of results and the common connection see what the writer committed", async () => {
    const opened = await openDatabase(await create(), onConnectionLost);
    expect(await claimOnce(opened.results.writer, "written")).toBe(true);
    for (const database of [opened.results.reader, opened.database]) {
      expect(await database.selectFrom("settings").select(["name", "value"]).execute()).toEqual([
        { name: "written", value: "claimed" },
      ]);
    }
    expect(await claimOnce(opened.database, "written")).toBe(false);
    await opened.destroy();
  });

  test("counts, sums and means are numbers", async () => {
    const opened = await openDatabase(await create(), onConnectionLost);
    const { rows } = await sql`
      select count(*) as n, sum(amount) as total, avg(amount) as mean, sum(amount * 0.5) as half, sum(small) as few
      from (
        select cast(3000000000 as bigint) as amount, cast(1 as integer) as small
        union all select cast(3000000001 as bigint), cast(2 as integer)
      ) as amounts
    `.execute(opened.results.reader);
    expect(rows).toEqual([
      { n: 2, total: 6_000_000_001, mean: 3_000_000_000.5, half: 3_000_000_000.5, few: 3 },
    ]);
    await opened.destroy();
  });

  test("after destroy no connection is left, whichever were used", async () => {
    const url = await create();
    const opened = await openDatabase(url, onConnectionLost);
    await claimOnce(opened.results.writer, "written");
    await opened.results.reader.selectFrom("settings").selectAll().execute();
    await opened.destroy();
    for (const database of [opened.database, opened.results.writer, opened.results.reader]) {
      await expect(database.selectFrom("settings").selectAll().execute()).rejects.toThrow("destroyed");
    }
    // SQLite removes its log when the last connection is closed.
    if (name === "SQLite") expect(existsSync(`${url.slice("sqlite:".length)}-wal`)).toBe(false);
    await (await openDatabase(url, onConnectionLost)).destroy();
  });
});

test("a database in memory has one connection, for results too", async () => {
  const { database, results, destroy } = await openDatabase("sqlite::memory:", onConnectionLost);
  expect(results.writer).toBe(database);
  expect(results.reader).toBe(database);
  await destroy();
});
