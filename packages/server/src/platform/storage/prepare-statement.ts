import type { CompiledQuery } from "kysely";
import { isPostgres } from "./is-postgres.ts";
import type { Database } from "./schema/tables.ts";

/**
 * A statement that is compiled once: building a short one takes longer than running it. `build` says what it is, with any values; the
 * values of each execution follow the order in which they stand in the statement.
 */
export function prepareStatement<Row>(
  build: (database: Database) => { compile(): CompiledQuery<Row> },
): (database: Database, values: readonly unknown[]) => Promise<Row[]> {
  const compiled = new Map<"PostgreSQL" | "SQLite", CompiledQuery<Row>>();
  return async (database, values) => {
    const dialect = isPostgres(database) ? "PostgreSQL" : "SQLite";
    const query = compiled.get(dialect) ?? build(database).compile();
    compiled.set(dialect, query);
    if (values.length !== query.parameters.length)
      throw new Error(`A statement has ${query.parameters.length} values, and ${values.length} are given`);
    return (await database.executeQuery<Row>({ ...query, parameters: values })).rows;
  };
}
