import { existsSync, realpathSync, statSync } from "node:fs";
import { resolve } from "node:path";
import type { Config } from "../config/config.ts";
import { checkSqlite, copySqlite, replaceFile } from "../platform/storage/backup.ts";
import { hasSqliteSchema } from "../platform/storage/migrate.ts";
import { NoDatabaseError } from "../platform/storage/store-error.ts";
import { CommandError } from "./command-error.ts";
import { explainFileError } from "./explain-file-error.ts";
import { megabytes, sqliteFile } from "./sqlite-file.ts";

/** Copies the configured SQLite database into a file, which is replaced only by a whole and sound copy. Servers may keep running. */
export async function backUp(config: Config, into: string): Promise<void> {
  const path = sqliteFile(config, "pg_dump --format=custom");
  if (!hasSqliteSchema(path)) throw new NoDatabaseError(path);
  const file = resolve(into);
  if (isSameFile(path, file)) throw new CommandError(`${file} is the database itself. Name another file.`);
  let migration = "";
  try {
    await replaceFile(file, async (partial) => {
      copySqlite(path, partial);
      migration = checkSqlite(partial);
    });
  } catch (error) {
    throw explainFileError(error, file);
  }
  process.stdout.write(
    `Backed up to ${file}: ${megabytes(statSync(file).size)}, schema ${migration}, checked.\n`,
  );
}

function isSameFile(path: string, other: string): boolean {
  return existsSync(other) && realpathSync(path) === realpathSync(other);
}
