import { Database as BunDatabase } from "bun:sqlite";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { migrate } from "../migrate.ts";
import { openDatabase } from "../open.ts";
import type { Database } from "../schema/tables.ts";
import { claimOnce, saveSetting } from "../settings-store.ts";
import { emptyLog, openSqliteDatabase } from "./sqlite.ts";

test("The log is emptied as soon as nobody reads what is older, and others write meanwhile", async () => {
  const directory = await mkdtemp(join(tmpdir(), "presage-test-"));
  const path = join(directory, "log.db");
  const opened = await openDatabase(`sqlite:${path}`, () => {});
  const old = new BunDatabase(path);
  old.run("begin");
  old.query("select * from settings").all();
  const logBytes = async () => (await stat(`${path}-wal`)).size;
  await saveSetting(opened.database, "one", "1");

  let isDone = false;
  const emptying = emptyLog(opened, new AbortController().signal).then(() => {
    isDone = true;
  });
  for (let count = 0; count < 20; count += 1) {
    await saveSetting(opened.database, "two", `${count}`);
    await Bun.sleep(10);
  }
  expect([isDone, (await logBytes()) > 0]).toEqual([false, true]);
  old.run("commit");
  await emptying;
  expect(await logBytes()).toBe(0);

  old.close();
  await opened.destroy();
  await rm(directory, { recursive: true });
});

let directory: string;
let database: Database;
/** For SQLite, this is the same as another process. */
let other: BunDatabase;

/** The names of the settings that the tests write. */
const names = async (from: Database) =>
  (await from.selectFrom("settings").select("name").where("name", "<>", "oldest_version").execute()).map(
    ({ name }) => name,
  );

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "presage-test-"));
  const path = join(directory, "presage.db");
  database = openSqliteDatabase(path);
  await migrate(database);
  other = new BunDatabase(path);
});

afterAll(async () => {
  other.close();
  await database.destroy();
  await rm(directory, { recursive: true, force: true });
});

test("reads pass a write that waits for the file's lock, and see committed data", async () => {
  other.run("begin immediate");
  const writing = claimOnce(database, "written");
  await Bun.sleep(20);
  for (let reads = 0; reads < 50; reads++) expect(await names(database)).toEqual([]);
  // A read that had waited for the write would have waited until the write was given up.
  other.run("commit");
  expect(await writing).toBe(true);
  expect(await names(database)).toEqual(["written"]);
});

test("reads pass a transaction and do not see its changes before the commit", async () => {
  await database.transaction().execute(async (transaction) => {
    expect(await names(transaction)).toEqual(["written"]);
    expect(await claimOnce(transaction, "in a transaction")).toBe(true);
    expect(await names(transaction)).toEqual(["in a transaction", "written"]);
    expect(await names(database)).toEqual(["written"]);
  });
  expect(await names(database)).toEqual(["in a transaction", "written"]);
});

test("writes and transactions still take turns", async () => {
  const orderly = Array.from({ length: 20 }, (_, index) =>
    database.transaction().execute(async (transaction) => {
      const before = (await names(transaction)).length;
      await Bun.sleep(1);
      await claimOnce(transaction, `turn ${index}`);
      return (await names(transaction)).length - before;
    }),
  );
  expect(await Promise.all(orderly)).toEqual(Array.from({ length: 20 }, () => 1));
});
