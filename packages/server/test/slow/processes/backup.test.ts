import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { copyFile, mkdtemp, readdir, rm, stat, truncate } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { eventually } from "../../support/eventually.ts";
import { killAfterTests } from "../../support/presage/child-processes.ts";
import { presageCommand } from "../../support/presage/main-file.ts";
import { runPresage } from "../../support/presage/run-presage.ts";
import { spawnPresage } from "../../support/presage/spawn-presage.ts";

let folder: string;
/** A database with results and without a server. */
let database: string;
/** A backup of `database`. */
let backup: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "presage-backup-"));
  database = join(folder, "presage.db");
  backup = join(folder, "backup.db");
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const of = (path: string) => ({ PRESAGE_DATABASE_URL: `sqlite:${path}` });

function resultIds(path: string): number[] {
  const file = new Database(path, { readwrite: true });
  try {
    expect(file.query("PRAGMA integrity_check").all()).toEqual([{ integrity_check: "ok" }]);
    return file
      .query<{ id: number }, []>("select id from evaluation_results order by id")
      .all()
      .map(({ id }) => id);
  } finally {
    file.close();
  }
}

async function filesBeside(path: string): Promise<string[]> {
  return (await readdir(folder)).filter((name) => name.startsWith(basename(path))).sort();
}

test("A backup under load is sound and has every result that was answered before it, in order", async () => {
  await using presage = await spawnPresage(of(database));
  let answered = 0;
  let isOver = false;
  const evaluate = async () => {
    while (!isOver) {
      const response = await presage.call("POST", "/v1/evaluate", {
        evaluators: [{ evaluator: "exact-match" }],
        evaluated_model_output: "the fridge is open. ".repeat(50),
        evaluated_model_gold_answer: "closed",
      });
      expect(response.status).toBe(200);
      answered += 1;
    }
  };
  const load = Array.from({ length: 8 }, evaluate);
  await eventually(
    () => answered,
    (count) => count >= 200,
  );
  const before = answered;
  const ran = await runPresage(["backup", backup], of(database));
  expect(ran).toMatchObject({ code: 0, stderr: "" });
  expect(ran.stdout).toMatch(/^Backed up to .*backup\.db: \d+\.\d MB, schema \d{3}-\S+, checked\.\n$/);
  const during = answered - before;
  isOver = true;
  await Promise.all(load);
  const ids = resultIds(backup);
  expect(ids).toEqual(ids.map((_, index) => index + 1));
  expect(ids.length).toBeGreaterThanOrEqual(before);
  expect(ids.length).toBeLessThanOrEqual(answered);
  expect(during).toBeGreaterThan(0);
  expect((await stat(backup)).mode & 0o777).toBe(0o600);

  const inUse = await runPresage(["restore", "--replace", backup], of(database));
  expect([inUse.code, inUse.stderr]).toEqual([
    1,
    `${database} is in use. Stop the servers and commands that use it, then try again.\n`,
  ]);
  presage.kill("SIGTERM");
  expect(await presage.exited).toBe(0);
  expect(resultIds(database)).toHaveLength(answered);
});

test("A restored backup serves its results and its keys", async () => {
  const restored = join(folder, "elsewhere", "presage.db");
  const ran = await runPresage(["restore", backup], of(restored));
  expect(ran).toMatchObject({ code: 0, stderr: "" });
  await using presage = await spawnPresage({ ...of(restored), PRESAGE_BOOTSTRAP_KEY: "" });
  expect((await presage.call("GET", "/v1/evaluation-results/1")).status).toBe(200);
});

describe("A database", () => {
  test("is replaced only on demand, and is kept", async () => {
    const path = join(folder, "replaced.db");
    await copyFile(database, path);
    const refused = await runPresage(["restore", backup], of(path));
    expect([refused.code, refused.stderr]).toEqual([
      1,
      `There is a database at ${path} already. With --replace it is set aside.\n`,
    ]);
    const ran = await runPresage(["restore", "--replace", backup], of(path));
    expect(ran).toMatchObject({ code: 0, stderr: "" });
    expect(resultIds(path)).toEqual(resultIds(backup));
    const aside = (await filesBeside(path)).filter((name) => name.includes(".replaced-"));
    expect(aside).toHaveLength(1);
    expect(resultIds(join(folder, aside[0] ?? ""))).toEqual(resultIds(database));
  });

  test("that is damaged can be replaced", async () => {
    const path = join(folder, "damaged.db");
    await Bun.write(path, "not a database".repeat(1_000));
    await Bun.write(`${path}-wal`, "nor its log");
    const ran = await runPresage(["restore", "--replace", backup], of(path));
    expect(ran).toMatchObject({ code: 0, stderr: "" });
    expect(resultIds(path)).toEqual(resultIds(backup));
  });

  test("that is gone does not leave its log to the one that is restored", async () => {
    const path = join(folder, "gone.db");
    const before = new Database(path, { create: true });
    before.run("PRAGMA journal_mode = WAL");
    before.run("create table things (name text)");
    // Leaves only the log, as after a crash.
    await copyFile(`${path}-wal`, `${path}-left`);
    before.close();
    await rm(path);
    await copyFile(`${path}-left`, `${path}-wal`);
    const ran = await runPresage(["restore", backup], of(path));
    expect(ran).toMatchObject({ code: 0, stderr: "" });
    expect(resultIds(path)).toEqual(resultIds(backup));
    expect(await filesBeside(path)).toContainEqual(expect.stringMatching(/^gone\.db\.replaced-.*-wal$/));
  });

  test.each(["half", "foreign", "missing"])("is untouched by a %s backup", async (kind) => {
    const path = join(folder, `${kind}-target.db`);
    const bad = join(folder, `${kind}.db`);
    await copyFile(database, path);
    if (kind === "half") {
      await copyFile(backup, bad);
      await truncate(bad, Math.floor((await stat(bad)).size / 2));
    } else if (kind === "foreign") {
      const other = new Database(bad, { create: true });
      other.run("create table things (name text)");
      other.close();
    }
    const ran = await runPresage(["restore", "--replace", bad], of(path));
    expect([ran.code, ran.stdout]).toEqual([1, ""]);
    expect(ran.stderr).toMatch(/^(There is no file|.* is no backup that can be restored\.) .*\n$/);
    expect(resultIds(path)).toEqual(resultIds(database));
    expect((await filesBeside(path)).filter((name) => name !== basename(path))).toEqual([]);
  });
});

describe("Killed at work,", () => {
  let large: string;
  let target: string;
  let wanted: number[];

  beforeAll(async () => {
    large = join(folder, "large.db");
    target = join(folder, "nightly.db");
    await copyFile(database, large);
    const file = new Database(large);
    file.run("create table filling (body blob)");
    file.run(
      "insert into filling select randomblob(1000000) from (with recursive n(i) as (select 1 union all select i + 1 from n where i < 60) select i from n)",
    );
    file.close();
    wanted = resultIds(large);
    expect((await runPresage(["backup", target], of(large))).code).toBe(0);
  });

  /** Kills a command while it writes next to `path`; a command that finishes before the kill runs again. */
  async function killWhileItWrites(args: string[], path: string): Promise<void> {
    const isWriting = (names: string[]) => names.some((name) => name.includes(".partial-"));
    for (let tries = 0; tries < 20; tries += 1) {
      const child = Bun.spawn([...presageCommand, ...args], {
        env: { PATH: process.env.PATH ?? "", ...of(large) },
        stdout: "ignore",
        stderr: "ignore",
      });
      killAfterTests(child);
      await eventually(
        () => filesBeside(path),
        (names) => isWriting(names) || child.exitCode !== null,
      );
      child.kill("SIGKILL");
      await child.exited;
      if (isWriting(await filesBeside(path))) return;
    }
    throw new Error(`${args[0]} was never killed in the middle`);
  }

  test("a backup leaves the database and the last backup whole, and the next one removes its rest", async () => {
    await killWhileItWrites(["backup", target], target);
    expect(resultIds(target)).toEqual(wanted);
    expect(resultIds(large)).toEqual(wanted);
    expect((await runPresage(["backup", target], of(large))).code).toBe(0);
    expect(await filesBeside(target)).toEqual([basename(target)]);
  });

  test("a restore leaves the database as it was or the whole new one", async () => {
    await killWhileItWrites(["restore", "--replace", target], large);
    expect(resultIds(large)).toEqual(wanted);
    expect((await runPresage(["restore", "--replace", target], of(large))).code).toBe(0);
    expect((await filesBeside(large)).filter((name) => name.includes(".partial-"))).toEqual([]);
  });
});

test.each([
  ["backup", "postgres://ada:hidden@db/presage", /^PRESAGE_DATABASE_URL is a PostgreSQL database.*pg_dump/],
  [
    "restore",
    "postgres://ada:hidden@db/presage",
    /^PRESAGE_DATABASE_URL is a PostgreSQL database.*pg_restore/,
  ],
  ["backup", "sqlite::memory:", /^PRESAGE_DATABASE_URL is sqlite::memory:/],
  ["backup", "sqlite:/nowhere/presage.db", /^There is no Presage database at \/nowhere/],
])("presage %s refuses %s and says why", async (command, url, reason) => {
  const ran = await runPresage([command, join(folder, "refused.db")], { PRESAGE_DATABASE_URL: url });
  expect([ran.code, ran.stdout]).toEqual([1, ""]);
  expect(ran.stderr).toMatch(reason);
  expect(ran.stderr).not.toContain("hidden");
});

test("A database is not backed up onto itself", async () => {
  const ran = await runPresage(["backup", database], of(database));
  expect([ran.code, ran.stderr]).toEqual([1, `${database} is the database itself. Name another file.\n`]);
});

test("A folder does not become a backup", async () => {
  const ran = await runPresage(["backup", folder], of(database));
  expect([ran.code, ran.stderr]).toEqual([1, `${folder} is a directory. Name a file.\n`]);
});
