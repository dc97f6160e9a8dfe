import { Database } from "bun:sqlite";
import { NewerSchemaError } from "./migrate.ts";
import { migrations } from "./migrations/index.ts";

/** A file that cannot stand for the database; the message says why. */
export class DatabaseFileError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "DatabaseFileError";
  }
}

/**
 * Checks that the file at `path` is a sound database of this version of Presage, or an older one, and returns its last migration.
 * @throws DatabaseFileError, NewerSchemaError
 */
export function checkSqlite(path: string): string {
  const database = new Database(path, { readwrite: true });
  try {
    const [problem] = database
      .query<{ integrity_check: string }, []>("PRAGMA integrity_check(1)")
      .all()
      .map((row) => row.integrity_check);
    if (problem !== "ok") throw new DatabaseFileError(`It is damaged: ${problem}`);
    const applied = database
      .query<{ name: string }, []>("select name from kysely_migration order by name")
      .all()
      .map((row) => row.name);
    const unknown = applied.filter((name) => !Object.hasOwn(migrations, name));
    if (unknown.length > 0) throw new NewerSchemaError(unknown);
    return applied.at(-1) ?? "";
  } catch (error) {
    if (error instanceof DatabaseFileError || error instanceof NewerSchemaError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new DatabaseFileError(
      reason.includes("no such table")
        ? "It has no data of Presage."
        : `It is not a sound database: ${reason}`,
    );
  } finally {
    database.close();
  }
}
