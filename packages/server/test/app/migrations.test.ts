import { expect, test } from "bun:test";
import { type Kysely, sql } from "kysely";
import { migrations } from "../../src/platform/storage/migrations/index.ts";
import { runPresage, runPresageProcess } from "../support/presage/run-presage.ts";
import { spawnPresage } from "../support/presage/spawn-presage.ts";
import { onEachDatabase, type TestDatabase } from "../support/store/databases.ts";
import { openRaw } from "../support/store/open-migrated-to.ts";
import { openStore } from "../support/store/open-store.ts";
import { slowTest } from "../support/whole-run.ts";

const several = [1, 2, 3];
/** More processes than usual, as races are rare. */
const crowd = 6;
const names = Object.keys(migrations);

async function ranMigrations(url: string): Promise<string[]> {
  await using store = await openStore(url);
  const rows = await sql<{ name: string }>`select name from kysely_migration order by name`.execute(
    store.database,
  );
  return rows.rows.map(({ name }) => name);
}

/** Opens the database without migrating it first. */
async function withRawDatabase(url: string, work: (raw: Kysely<unknown>) => Promise<void>): Promise<void> {
  const raw = openRaw(url);
  await work(raw).finally(() => raw.destroy());
}

async function newerDatabase(database: TestDatabase): Promise<string> {
  const url = await database.createEmpty();
  await using store = await openStore(url);
  await sql`insert into kysely_migration (name, timestamp) values ('999-from-the-future', '2031')`.execute(
    store.database,
  );
  return url;
}

onEachDatabase((database) => {
  test("if several processes migrate one empty database concurrently, one does it and all succeed", async () => {
    const url = await database.createEmpty();
    const runs = await Promise.all(
      Array.from({ length: crowd }, () => runPresageProcess(["migrate"], { PRESAGE_DATABASE_URL: url })),
    );
    expect(runs.map(({ code, stderr }) => ({ code, stderr }))).toEqual(
      Array(crowd).fill({ code: 0, stderr: "" }),
    );
    expect(runs.map(({ stdout }) => stdout).sort()).toEqual([
      `Applied ${names.join(", ")}.\n`,
      ...Array(crowd - 1).fill("The schema is up to date.\n"),
    ]);
    expect(await ranMigrations(url)).toEqual(names);
  });

  slowTest(
    "several servers started concurrently on one empty database share its schema, owner and keys",
    async () => {
      const url = await database.createEmpty();
      const servers = await Promise.all(several.map(() => spawnPresage({ PRESAGE_DATABASE_URL: url })));
      const owners = await Promise.all(
        servers.map(async ({ call }) => (await (await call("GET", "/v1/me")).json()) as { id: string }),
      );
      expect(new Set(owners.map(({ id }) => id)).size).toBe(1);
      const lists = await Promise.all(
        servers.map(async ({ call }) => await (await call("GET", "/v1/api-keys")).json()),
      );
      for (const list of lists)
        expect(list).toEqual({ data: [expect.objectContaining({ name: "bootstrap" })], next: null });
      for (const server of servers) await server[Symbol.asyncDispose]();
      expect(await ranMigrations(url)).toEqual(names);
    },
  );

  test("a failed migration leaves nothing behind, so the next start can do it all", async () => {
    const url = await database.createEmpty();
    const last = "error_taxonomies";
    await withRawDatabase(url, (raw) => raw.schema.createTable(last).addColumn("id", "text").execute());
    const failed = await runPresage(["migrate"], { PRESAGE_DATABASE_URL: url });
    expect([failed.code, failed.stderr]).toEqual([1, expect.stringContaining(`"${last}" already exists`)]);
    await withRawDatabase(url, async (raw) => {
      const tables = await raw.introspection.getTables();
      expect(tables.map(({ name }) => name)).toEqual([last]);
      await raw.schema.dropTable(last).execute();
    });
    expect((await runPresage(["migrate"], { PRESAGE_DATABASE_URL: url })).code).toBe(0);
  });

  test("a database of a newer version stops every command with one line that names the unknown migrations", async () => {
    const url = await newerDatabase(database);
    for (const command of ["serve", "migrate"]) {
      const { code, stdout, stderr } = await runPresage([command], {
        PRESAGE_DATABASE_URL: url,
        PRESAGE_PORT: "0",
        PRESAGE_LOG_LEVEL: "silent",
      });
      expect(code).toBe(1);
      expect(stdout).toBe("");
      expect(stderr).toMatch(
        /^The database is newer than this version of Presage, .*\b999-from-the-future\b.*\n$/,
      );
    }
  });

  test("a restart does not change a database that is up to date", async () => {
    const url = await database.createEmpty();
    await runPresage(["migrate"], { PRESAGE_DATABASE_URL: url });
    expect(await runPresage(["migrate"], { PRESAGE_DATABASE_URL: url })).toEqual({
      code: 0,
      stdout: "The schema is up to date.\n",
      stderr: "",
    });
  });

  test("a database from before 0.1.0 stops every command with one line that says what to do, and stays as it is", async () => {
    const url = await database.createEmpty();
    await runPresage(["migrate"], { PRESAGE_DATABASE_URL: url });
    const last = "020-capture";
    await withRawDatabase(url, async (raw) => {
      await sql`delete from kysely_migration where name > ${last}`.execute(raw);
    });
    for (const command of ["serve", "migrate"]) {
      const { code, stdout, stderr } = await runPresage([command], {
        PRESAGE_DATABASE_URL: url,
        PRESAGE_PORT: "0",
        PRESAGE_LOG_LEVEL: "silent",
      });
      expect({ code, stdout, stderr }).toEqual({
        code: 1,
        stdout: "",
        stderr: `The schema of the database is from before Presage 0.1.0 (${last}). Start Presage 0.1.0 once, then this version.\n`,
      });
    }
    const doctor = await runPresage(["doctor"], { PRESAGE_DATABASE_URL: url });
    expect(doctor.stdout).toContain(`its schema is from before 0.1.0 (${last})`);
    await withRawDatabase(url, async (raw) => {
      const { rows } = await sql<{ name: string }>`select max(name) as name from kysely_migration`.execute(
        raw,
      );
      expect(rows).toEqual([{ name: last }]);
    });
  });
});
