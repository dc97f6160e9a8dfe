import { existsSync, statSync } from "node:fs";
import { resolve } from "node:path";
import type { Config } from "../config/config.ts";
import {
  checkSqlite,
  copySqlite,
  DatabaseFileError,
  replaceFile,
  setAside,
} from "../platform/storage/backup.ts";
import { CommandError } from "./command-error.ts";
import { explainFileError, isNoSpace } from "./explain-file-error.ts";
import { megabytes, sqliteFile } from "./sqlite-file.ts";

/** Puts a backup in the place of the configured SQLite database, which no process may have open. What it replaces is kept. */
export async function restore(
  config: Config,
  from: string,
  { replace = false }: { replace?: boolean },
): Promise<void> {
  const path = sqliteFile(config, "pg_restore");
  const backup = resolve(from);
  if (!existsSync(backup)) throw new CommandError(`There is no file ${backup}.`);
  if (backup === path) throw new CommandError(`${backup} is the database itself. Name a backup.`);
  const isReplaced = existsSync(path);
  if (isReplaced && !replace) {
    throw new CommandError(`There is a database at ${path} already. With --replace it is set aside.`);
  }
  const aside = `${path}.replaced-${new Date().toISOString().replaceAll(/[-:]|\.\d+/g, "")}`;
  let migration = "";
  try {
    await replaceFile(path, async (partial) => {
      migration = copyChecked(backup, partial);
      if (isReplaced) setAside(path, aside);
    });
  } catch (error) {
    throw explainFileError(error, path);
  }
  const notice = [
    `Restored ${path}: ${megabytes(statSync(path).size)}, schema ${migration}, checked.`,
    ...(isReplaced ? [`The database that was there is now ${aside}.`] : []),
  ];
  process.stdout.write(`${notice.join("\n")}\n`);
}

/** Checks the copy, which is what will be used. */
function copyChecked(backup: string, partial: string): string {
  try {
    copySqlite(backup, partial);
    return checkSqlite(partial);
  } catch (error) {
    if (isNoSpace(error)) throw error;
    if (error instanceof DatabaseFileError || isSqliteError(error))
      throw new CommandError(`${backup} is no backup that can be restored. ${error.message}`);
    throw error;
  }
}

function isSqliteError(error: unknown): error is Error {
  return error instanceof Error && error.name === "SQLiteError";
}
