import { expect, test } from "bun:test";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { copyLog, openSqliteBackgroundWriter, openSqliteWriter } from "./sqlite.ts";
import { writerData } from "./sqlite-file.ts";

test("a background writer's log is copied into the file when that is asked for and it is long, and not by commits", async () => {
  const directory = await mkdtemp(join(tmpdir(), "presage-test-"));
  const path = join(directory, "log.db");
  const database = openSqliteBackgroundWriter(writerData(path));
  const size = async () => (await stat(path)).size;
  await sql`create table notes (body text)`.execute(database);
  await copyLog(database);
  const before = await size();
  const body = "x".repeat(4_000);
  await database.transaction().execute(async (transaction) => {
    for (let count = 0; count < 2_000; count += 1)
      await sql`insert into notes values (${body})`.execute(transaction);
  });
  expect(await size()).toBe(before);
  await copyLog(database);
  expect(await size()).toBeGreaterThan(2_000 * 4_000);
  await database.destroy();
  await rm(directory, { recursive: true });
});

test("a background writer does not wait for the disk, and others that write the file do", async () => {
  const directory = await mkdtemp(join(tmpdir(), "presage-test-"));
  const data = writerData(join(directory, "log.db"));
  const [normal, full] = [1, 2];
  for (const [open, expected] of [
    [openSqliteBackgroundWriter, normal],
    [openSqliteWriter, full],
  ] as const) {
    const database = open(data);
    const { rows } = await sql<{ synchronous: number }>`pragma synchronous`.execute(database);
    expect(rows).toEqual([{ synchronous: expected }]);
    await database.destroy();
  }
  await rm(directory, { recursive: true });
});
