import { resolve } from "node:path";
import { hasSqliteSchema } from "./has-schema.ts";
import { migrate } from "./migrate.ts";
import type { Connected, OpenOptions } from "./open-database.ts";
import { NoDatabaseError } from "./open-database-error.ts";
import { openSqliteDatabase } from "./open-sqlite-database.ts";
import { createReader } from "./reader.ts";
import { readerQueue } from "./reader-queue.ts";
import { sqliteThreadDialect, startSqliteWorker } from "./sqlite-thread-dialect.ts";

export const inMemoryPath = ":memory:";
/** Statement timeouts on threads; SQLite has none of its own. */
const sqliteReaderTimeoutMs = 60_000;
const sqliteBriefReaderTimeoutMs = 10_000;

export async function connectSqlite(
  path: string,
  onSuccess: () => void,
  { mustExist }: OpenOptions,
): Promise<Connected> {
  if (mustExist && !hasSqliteSchema(path)) throw new NoDatabaseError(resolve(path));
  const database = openSqliteDatabase(path, onSuccess);
  const migrated = await migrate(database);
  // An in-memory database belongs to its one connection.
  if (path === inMemoryPath) {
    const reader = () => database;
    return {
      database,
      writer: reader,
      reader,
      briefReader: reader,
      sqlitePath: undefined,
      migrated,
      closeReaders: async () => {},
    };
  }
  // Threads start with their first statement.
  const startWorker = () => startSqliteWorker(path);
  const long = createReader(sqliteThreadDialect(startWorker, sqliteReaderTimeoutMs), {
    slots: 1,
    queue: readerQueue,
  });
  const brief = createReader(sqliteThreadDialect(startWorker, sqliteBriefReaderTimeoutMs), {
    slots: 1,
    queue: readerQueue,
  });
  return {
    database,
    // The only writing connection; its turns are short.
    writer: () => database,
    reader: long.reader,
    briefReader: brief.reader,
    sqlitePath: path,
    migrated,
    async closeReaders() {
      // One after the other: the last SQLite connection to close removes the log, and of several at once none would be the last.
      await long.destroy();
      await brief.destroy();
    },
  };
}
