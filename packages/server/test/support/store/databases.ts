import { afterAll, describe } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createDatabaseAt, type PostgresServer, startPostgres } from "./postgres.ts";

export interface TestDatabase {
  name: "SQLite" | "PostgreSQL";
  /** Creates an empty database and returns its URL. */
  create(): Promise<string>;
}

let postgres: Promise<PostgresServer> | undefined;

/** Creates an empty database on the PostgreSQL of `npm test`; without one, the first test that needs it starts a server. */
export async function createPostgresDatabase(options?: string): Promise<string> {
  const { PRESAGE_TEST_POSTGRES: shared } = process.env;
  if (shared === undefined) postgres ??= startPostgres();
  return await createDatabaseAt(shared ?? (await postgres)?.url ?? "", options);
}

/** Called after the last test file; a later one would start another server. */
export async function removeSharedPostgres(): Promise<void> {
  const server = await postgres;
  postgres = undefined;
  await server?.remove();
}

/** Runs the tests on each supported database. */
export function onEachDatabase(tests: (database: TestDatabase) => void): void {
  describe("on SQLite", () => {
    const directories: string[] = [];
    afterAll(async () => {
      for (const directory of directories) await rm(directory, { recursive: true, force: true });
    });
    tests({
      name: "SQLite",
      async create() {
        const directory = await mkdtemp(join(tmpdir(), "presage-test-"));
        directories.push(directory);
        return `sqlite:${join(directory, "presage.db")}`;
      },
    });
  });
  describe("on PostgreSQL", () => {
    tests({ name: "PostgreSQL", create: () => createPostgresDatabase() });
  });
}
