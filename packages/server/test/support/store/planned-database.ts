import { type CompiledQuery, Kysely, CompiledQuery as Query } from "kysely";
import { postgresDialect } from "../../../src/platform/storage/postgres/postgres-driver.ts";
import type { Tables } from "../../../src/platform/storage/schema/tables.ts";
import { sqliteDialect } from "../../../src/platform/storage/sqlite/sqlite-driver.ts";
import { openSqlite } from "../../../src/platform/storage/sqlite/sqlite-file.ts";
import type { TestDatabase } from "./databases.ts";

export interface PlannedDatabase {
  database: Kysely<Tables>;
  /** The plans of all statements that `work` runs, each once, line by line. Throws if it runs none. */
  plansOf(work: () => Promise<unknown>): Promise<string[]>;
}

const planned = /^\s*(with|select|update|delete)\b/i;

/** A new database that reports how it runs statements. */
export async function openPlanned(
  { name, create }: TestDatabase,
  maxConnections = 2,
): Promise<PlannedDatabase> {
  const isSqlite = name === "SQLite";
  const statements: CompiledQuery[] = [];
  const url = await create();
  const database = new Kysely<Tables>({
    dialect: isSqlite
      ? sqliteDialect(openSqlite(url.slice("sqlite:".length)))
      : postgresDialect(url, { maxConnections, onConnectionLost() {} }),
    log: ({ query }) => void statements.push(query),
  });

  async function plansOf(work: () => Promise<unknown>): Promise<string[]> {
    statements.length = 0;
    await work();
    const distinct = new Map(statements.splice(0).map((statement) => [statement.sql, statement]));
    const plans: string[] = [];
    for (const { sql, parameters } of distinct.values()) {
      if (!planned.test(sql)) continue;
      const explain = isSqlite ? "explain query plan" : "explain";
      const { rows } = await database.executeQuery<Record<string, string>>(
        Query.raw(`${explain} ${sql}`, [...parameters]),
      );
      plans.push(...rows.map((row) => row[isSqlite ? "detail" : "QUERY PLAN"] ?? ""));
    }
    if (plans.length === 0) throw new Error("No statement was run that has a plan");
    return plans;
  }

  return { database, plansOf };
}
