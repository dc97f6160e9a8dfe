import { expect, test } from "bun:test";
import { join } from "node:path";
import { type Kysely, sql } from "kysely";
import pMap from "p-map";
import { migrate, saveOldestVersion } from "../../../src/platform/storage/migrate.ts";
import { baselineName, migrations } from "../../../src/platform/storage/migrations/index.ts";
import type { Database } from "../../../src/platform/storage/schema/tables.ts";
import { readSetting, saveSetting } from "../../../src/platform/storage/settings-store.ts";
import { startPresage } from "../../support/presage/presage.ts";
import { onEachDatabase, type TestDatabase } from "../../support/store/databases.ts";
import { openMigratedTo, openRaw } from "../../support/store/open-migrated-to.ts";
import { openStore } from "../../support/store/open-store.ts";
import { expectReadable } from "../../support/upgrades/expect-readable.ts";
import { createRowWriter, type RowWriter } from "../../support/upgrades/row-writer.ts";
import { writeRows } from "../../support/upgrades/write-rows.ts";

const names = Object.keys(migrations);
/** Migrations from 0.1.0 on. Earlier ones led to its schema, and databases before it are not upgraded. */
const versions = names.slice(names.indexOf(baselineName));
const newest = versions.at(-1) ?? "";
/** Each waits for its database most of the time. */
const atOnce = 4;

/** Checks a version's rows in the newest schema. Those of the last version show that the rows themselves are good. */
async function upgrade(database: TestDatabase, version: string): Promise<void> {
  const url = await database.createEmpty();
  const earlier = await openMigratedTo(url, version);
  const writer = await createRowWriter(earlier, version);
  try {
    await writeRows(writer);
    await expectRowsInEveryTable(earlier, writer);
    const later = versions.slice(versions.indexOf(version) + 1);
    expect(await migrate(earlier as Database)).toEqual({ applied: later, newer: [] });
    await expectSameRows(earlier, writer);
  } finally {
    await earlier.destroy();
  }
  const presage = await startPresage({ PRESAGE_DATABASE_URL: url });
  try {
    await expectReadable(presage, writer);
  } finally {
    await presage.stop();
  }
}

async function expectRowsInEveryTable(earlier: Kysely<unknown>, { covered, version }: RowWriter) {
  const tables = await earlier.introspection.getTables();
  const empty = tables.map(({ name }) => name).filter((name) => !covered.has(name));
  if (empty.length > 0)
    throw new Error(
      `No rows are written to ${empty.join(", ")}, which ${version} has. ` +
        "Add rows as this version writes them to test/support/upgrades/write-rows.ts, " +
        "and what a client reads of them to expect-readable.ts beside it.",
    );
}

async function expectSameRows(upgraded: Kysely<unknown>, { written }: RowWriter): Promise<void> {
  for (const [table, rows] of Map.groupBy(written, ({ table }) => table)) {
    const columns = sql.join(Object.keys(rows[0]?.row ?? {}).map((column) => sql.ref(column)));
    const now = await sql`select ${columns} from ${sql.table(table)}`.execute(upgraded);
    const before = rows.map(({ row }) => row);
    const missing = before.filter((row) => !now.rows.some((other) => Bun.deepEquals(row, other)));
    expect({ table, missing }).toEqual({ table, missing: [] });
  }
}

/** Migrations at whose end the first start is killed, and one of a later version, in which an upgrade is killed. */
const killedIn = ["001-identity", "021-external-runs", baselineName];
const later = "999-from-the-future";
const dying = join(import.meta.dir, "../../support/upgrades/die-in-migration.ts");

async function killInMigration(url: string, migration: string): Promise<void> {
  const child = Bun.spawn([process.execPath, dying, url, migration], { stdout: "ignore", stderr: "inherit" });
  await child.exited;
  expect({ migration, signal: child.signalCode }).toEqual({ migration, signal: "SIGKILL" });
}

onEachDatabase((database) => {
  test("an upgrade that is killed leaves the earlier schema and its rows, and the next start does all of it", async () => {
    const url = await database.createEmpty();
    for (const migration of killedIn) {
      await killInMigration(url, migration);
      const raw = openRaw(url);
      expect(await raw.introspection.getTables().finally(() => raw.destroy())).toEqual([]);
    }
    const earlier = await openMigratedTo(url, newest);
    const writer = await createRowWriter(earlier, newest);
    await writeRows(writer);
    const tables = await earlier.introspection.getTables();
    try {
      await killInMigration(url, later);
      expect(await earlier.introspection.getTables()).toEqual(tables);
      await expectSameRows(earlier, writer);
    } finally {
      await earlier.destroy();
    }
    const presage = await startPresage({ PRESAGE_DATABASE_URL: url });
    await expectReadable(presage, writer).finally(() => presage.stop());
  });

  test("a version runs on a newer schema if that says so, and otherwise refuses it", async () => {
    const url = await database.create();
    const schema = later;
    const say = async (oldest: string) => {
      await using store = await openStore(url);
      await saveSetting(store.database, "oldest_version", JSON.stringify({ schema, oldest }));
    };
    await say(newest);
    const future = await openMigratedTo(url, newest);
    // An earlier version that read the setting before the later one migrated must not overwrite it.
    await migrate(future as Database);
    await sql`insert into kysely_migration (name, timestamp) values (${schema}, '2031')`.execute(future);
    await sql`create table of_the_future (id text)`.execute(future);
    const presage = await startPresage({ PRESAGE_DATABASE_URL: url });
    expect((await presage.call("POST", "/v1/api-keys", { name: "by the earlier version" })).status).toBe(201);
    await presage.stop();
    await say(schema);
    await expect(startPresage({ PRESAGE_DATABASE_URL: url })).rejects.toThrow(/^The database is newer/);
    await saveSetting(future as Database, "oldest_version", "{damaged");
    await future.destroy();
    await expect(startPresage({ PRESAGE_DATABASE_URL: url })).rejects.toThrow(/^The database is newer/);
  });

  test("of versions that say at once what may run beside them, the newest is heeded, and what is damaged is replaced", async () => {
    const url = await database.create();
    const [one, other] = [await openStore(url), await openStore(url)];
    const said = async () => JSON.parse((await readSetting(one.database, "oldest_version")) ?? "");
    await saveSetting(one.database, "oldest_version", "{damaged");
    await Promise.all([migrate(one.database), migrate(other.database)]);
    const own = await said();
    expect(own).toMatchObject({ schema: newest });
    const ofLater = { schema: later, oldest: "998" };
    const sayLater = () =>
      saveOldestVersion(other.database, { ...ofLater }).then(() => migrate(other.database));
    await Promise.all([migrate(one.database), sayLater(), migrate(one.database)]);
    expect(await said()).toEqual(ofLater);
    await Promise.all([one.database.destroy(), other.database.destroy()]);
  });

  test("rows that each version wrote are all there after the upgrade, with the meaning that they had", async () => {
    await pMap(
      versions,
      async (version) => {
        await upgrade(database, version).catch((error: unknown) => {
          throw new Error(`From ${version}: ${error instanceof Error ? error.message : error}`, {
            cause: error,
          });
        });
      },
      { concurrency: atOnce },
    );
  }, 600_000);
});
