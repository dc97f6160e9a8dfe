import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDatabase } from "../open.ts";
import { saveSetting } from "../settings-store.ts";
import { emptyLog } from "./sqlite.ts";

test("The log is emptied as soon as nobody reads what is older, and others write meanwhile", async () => {
  const directory = await mkdtemp(join(tmpdir(), "presage-test-"));
  const path = join(directory, "log.db");
  const opened = await openDatabase(`sqlite:${path}`, () => {});
  const old = new Database(path);
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
