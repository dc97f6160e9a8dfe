import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { sql } from "kysely";
import { createPostgresDatabase, onEachDatabase } from "../../../test/support/store/databases.ts";
import { connectTo } from "../../../test/support/store/postgres.ts";
import { anyRequester } from "../../../test/support/store/requester.ts";
import { openDatabase } from "./open.ts";
import { claimOnce } from "./settings-store.ts";

const onConnectionLost = () => {};

onEachDatabase(({ name, create, createEmpty }) => {
  test("the reader sees committed data only", async () => {
    const opened = await openDatabase(await create(), onConnectionLost);
    const settings = () =>
      opened
        .reader(anyRequester())
        .selectFrom("settings")
        .select(["name", "value"])
        .where("name", "=", "written")
        .execute();
    await opened.database.transaction().execute(async (transaction) => {
      expect(await claimOnce(transaction, "written")).toBe(true);
      expect(await settings()).toEqual([]);
    });
    expect(await settings()).toEqual([{ name: "written", value: "claimed" }]);
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
    `.execute(opened.reader(anyRequester()));
    expect(rows).toEqual([
      { n: 2, total: 6_000_000_001, mean: 3_000_000_000.5, half: 3_000_000_000.5, few: 3 },
    ]);
    await opened.destroy();
  });

  test("only the start that migrates reports migrations", async () => {
    const url = await createEmpty();
    const first = await openDatabase(url, onConnectionLost);
    expect(first.migrated.applied).not.toEqual([]);
    await first.destroy();
    const second = await openDatabase(url, onConnectionLost);
    expect(second.migrated.applied).toEqual([]);
    await second.destroy();
  });

  test("only SQLite has a path", async () => {
    const url = await create();
    const opened = await openDatabase(url, onConnectionLost);
    expect(opened.sqlitePath).toBe(name === "SQLite" ? url.slice("sqlite:".length) : undefined);
    await opened.destroy();
  });

  test("after destroy no connection is left open", async () => {
    const url = await create();
    const opened = await openDatabase(url, onConnectionLost);
    await claimOnce(opened.database, "written");
    await opened.reader(anyRequester()).selectFrom("settings").selectAll().execute();
    await opened.briefReader(anyRequester()).selectFrom("settings").selectAll().execute();
    await opened.destroy();
    const readers = [opened.reader, opened.briefReader].map((reader) => reader(anyRequester()));
    for (const database of [opened.database, ...readers]) {
      await expect(database.selectFrom("settings").selectAll().execute()).rejects.toThrow("destroyed");
    }
    // SQLite removes its log when the last connection is closed.
    if (name === "SQLite") expect(existsSync(`${url.slice("sqlite:".length)}-wal`)).toBe(false);
    await (await openDatabase(url, onConnectionLost)).destroy();
  });

  test("a brief read does not wait for a long one", async () => {
    const opened = await openDatabase(await create(), onConnectionLost);
    const answered: string[] = [];
    const long =
      sql`with recursive numbers(i) as (select 1 union all select i + 1 from numbers where i < 1500000)
      select count(*) from numbers`.execute(opened.reader(anyRequester()));
    const brief = opened.briefReader(anyRequester()).selectFrom("settings").selectAll().execute();
    await Promise.all([long.then(() => answered.push("long")), brief.then(() => answered.push("brief"))]);
    expect(answered).toEqual(["brief", "long"]);
    await opened.destroy();
  });
});

test("an in-memory database is read on its one connection, and has no path", async () => {
  const opened = await openDatabase("sqlite::memory:", onConnectionLost);
  const { database, reader, briefReader, sqlitePath, destroy } = opened;
  expect(reader(anyRequester())).toBe(database);
  expect(briefReader(anyRequester())).toBe(database);
  expect(sqlitePath).toBeUndefined();
  await destroy();
});

test("an in-memory database has its tables and nothing of those before it, and grows", async () => {
  const first = await openDatabase("sqlite::memory:", onConnectionLost);
  await claimOnce(first.database, "written");
  const second = await openDatabase("sqlite::memory:", onConnectionLost);
  const tables = ({ database }: typeof first) =>
    sql`select type, name, sql from sqlite_master order by type, name`.execute(database);
  expect((await tables(second)).rows).toEqual((await tables(first)).rows);
  expect(second.migrated).toEqual(first.migrated);
  expect(await claimOnce(second.database, "written")).toBe(true);
  const text = "x".repeat(4_000_000);
  await second.database.insertInto("settings").values({ name: "long", value: text }).execute();
  const { value } = await second.database
    .selectFrom("settings")
    .select("value")
    .where("name", "=", "long")
    .executeTakeFirstOrThrow();
  expect(value).toBe(text);
  await Promise.all([first.destroy(), second.destroy()]);
});

test("a migration that waits for a table lets other statements pass, and runs once it gets the table", async () => {
  const url = await createPostgresDatabase();
  const [holder, watcher] = await Promise.all([connectTo(url), connectTo(url)]);
  await holder.query(
    "create table kysely_migration (name varchar(255) primary key, timestamp varchar(255) not null)",
  );
  await holder.query("begin; lock table kysely_migration in share mode");

  const opening = openDatabase(url, onConnectionLost);
  const longestWait = `select coalesce(extract(epoch from max(clock_timestamp() - query_start)), 0)::float8 as seconds
    from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  const waits: number[] = [];
  const endsAtMs = performance.now() + 5_000;
  const hasGivenWay = () => Math.max(...waits) > 2 && (waits.at(-1) ?? 0) < 1;
  while (performance.now() < endsAtMs && !hasGivenWay()) {
    const { rows } = await watcher.query<{ seconds: number }>(longestWait);
    waits.push(rows[0]?.seconds ?? 0);
    await Bun.sleep(50);
  }
  await holder.query("rollback");
  await Promise.all([holder.end(), watcher.end()]);
  const { migrated, destroy } = await opening;
  expect(migrated).not.toEqual([]);
  // The migration gave up and released its locks for a moment.
  expect(Math.max(...waits)).toBeGreaterThan(2);
  expect(Math.max(...waits)).toBeLessThan(4);
  await destroy();
});

test("A PostgreSQL database whose encoding measures texts in bytes is refused", async () => {
  const url = await createPostgresDatabase("encoding 'SQL_ASCII' template template0");
  await expect(openDatabase(url, onConnectionLost)).rejects.toThrow("its encoding is SQL_ASCII");
});
