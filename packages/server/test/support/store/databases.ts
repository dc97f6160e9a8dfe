import { afterAll, describe } from "bun:test";
import { copyFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ensureSqliteTemplate, ensureTemplate } from "./ensure-template.ts";
import { createDatabaseAt, type PostgresServer, startPostgres } from "./postgres.ts";

export interface TestDatabase {
  name: "SQLite" | "PostgreSQL";
  /** Creates a database without data and returns its URL. It has its tables, which saves each server its migrations. */
  create(): Promise<string>;
  /** Creates a database without tables and returns its URL. */
  createEmpty(): Promise<string>;
}

let postgres: Promise<PostgresServer> | undefined;
let template: Promise<string> | undefined;
let sqliteTemplate: Promise<string> | undefined;

/** Creates an empty database on the PostgreSQL of `npm test`; without one, the first test that needs it starts a server. */
export async function createPostgresDatabase(options?: string): Promise<string> {
  return await createDatabaseAt(await sharedPostgresUrl(), options);
}

async function createMigratedPostgresDatabase(): Promise<string> {
  const url = await sharedPostgresUrl();
  template ??= ensureTemplate(url);
  return await createDatabaseAt(url, `template ${await template}`);
}

async function sharedPostgresUrl(): Promise<string> {
  const { PRESAGE_TEST_POSTGRES: shared } = process.env;
  if (shared === undefined) postgres ??= startPostgres();
  return shared ?? (await postgres)?.url ?? "";
}

/** Called after the last test file, or after each; a later one starts another server. */
export async function removeSharedPostgres(): Promise<void> {
  const server = await postgres;
  postgres = undefined;
  template = undefined;
  await server?.remove();
}

/** For behaviour that SQL decides, such as order, counts, locks and migrations: always runs the tests on each supported database. */
export function onEachDatabase(tests: (database: TestDatabase) => void): void {
  onSqlite(tests);
  onPostgres(tests);
}

/** For what holds on any database, and for slow tests: runs the tests on SQLite, and in `npm run test:all` on PostgreSQL too. */
export function onAnyDatabase(tests: (database: TestDatabase) => void): void {
  onSqlite(tests);
  if (process.env.PRESAGE_TEST_DATABASES === "both") onPostgres(tests);
}

/** For features that SQLite lacks, such as a password: always runs the tests on PostgreSQL. */
export function onPostgres(tests: (database: TestDatabase) => void): void {
  describe("on PostgreSQL", () => {
    tests({
      name: "PostgreSQL",
      create: createMigratedPostgresDatabase,
      createEmpty: () => createPostgresDatabase(),
    });
  });
}

/** For features that PostgreSQL lacks, such as a file: runs the tests only on SQLite. */
export function onSqlite(tests: (database: TestDatabase) => void): void {
  describe("on SQLite", () => {
    const directories: string[] = [];
    afterAll(async () => {
      for (const directory of directories) await rm(directory, { recursive: true, force: true });
    });
    const newPath = async () => {
      const directory = await mkdtemp(join(tmpdir(), "presage-test-"));
      directories.push(directory);
      return join(directory, "presage.db");
    };
    tests({
      name: "SQLite",
      async create() {
        sqliteTemplate ??= ensureSqliteTemplate();
        const path = await newPath();
        await copyFile(await sqliteTemplate, path);
        return `sqlite:${path}`;
      },
      createEmpty: async () => `sqlite:${await newPath()}`,
    });
  });
}
