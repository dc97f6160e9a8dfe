import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openSqlite } from "./sqlite-file.ts";

const directory = mkdtempSync(join(tmpdir(), "presage-open-sqlite-"));
afterAll(() => rmSync(directory, { recursive: true }));

/** The locks on a file, as Linux lists them. */
function locksOn(path: string): string[] {
  const { ino } = statSync(path);
  const locks = readFileSync("/proc/locks", "utf8").split("\n");
  return locks.filter((line) => line.split(" ").some((word) => word.endsWith(`:${ino}`)));
}

test.if(process.platform === "linux")(
  "A second connection leaves the first one its lock, without which other programs delete the log of a database in use",
  () => {
    const path = join(directory, "shared.db");
    const writer = openSqlite(path);
    writer.run("create table things (name text)");
    const alone = locksOn(path);
    expect(alone).toHaveLength(1);
    const reader = openSqlite(path);
    expect(locksOn(path).length).toBeGreaterThanOrEqual(alone.length);
    reader.close();
    writer.close();
  },
);

test("A new file is readable by its owner only", () => {
  const path = join(directory, "new", "private.db");
  openSqlite(path).close();
  expect(statSync(path).mode & 0o777).toBe(0o600);
});
