import { existsSync, realpathSync, statSync } from "node:fs";
import { type FileHandle, open, rename, rm } from "node:fs/promises";
import { resolve } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Command } from "commander";
import { accountExportStart, exportAccount } from "../accounts/export-account.ts";
import { type ImportOptions, importAccount } from "../accounts/import-account.ts";
import { selectAccountNames } from "../accounts/users-store.ts";
import type { OpenedStore } from "../app/storage.ts";
import type { Config } from "../config/config.ts";
import { neverAborted } from "../platform/limits/deadline.ts";
import {
  checkSqlite,
  copySqlite,
  DatabaseFileError,
  flush,
  replaceFile,
  setAside,
} from "../platform/storage/backup.ts";
import { ClockSkewError, findClockSkew, readDatabaseClock } from "../platform/storage/clock.ts";
import { toIsoInstant } from "../platform/storage/columns.ts";
import { hasSqliteSchema } from "../platform/storage/migrate.ts";
import { migrations } from "../platform/storage/migrations/index.ts";
import { openDatabase } from "../platform/storage/open.ts";
import { diskFloorOf, isSqlite, refuseShortage, sqlitePath } from "../platform/storage/sqlite/sqlite.ts";
import { allowPauses, isPostgres } from "../platform/storage/store.ts";
import { NoDatabaseError } from "../platform/storage/store-error.ts";
import { commandName, countOf } from "../platform/words.ts";
import {
  describeFuture,
  lastSoundTime,
  mendCorrections,
  mendTimes,
  NoSoundTimeError,
} from "../results/times.ts";
import { takeGivenNumbers } from "../results/write/results-store.ts";
import { restoreResults } from "../results/write/write-results.ts";
import { CommandError, examples, printNotice } from "./command.ts";
import { configure } from "./config.ts";
import { refuseInMemory, withDatabase } from "./connect.ts";
import { explainFileError, isNoSpace } from "./errors.ts";
import { checkOutputFile } from "./files.ts";
import { readLines } from "./read-lines.ts";

/** `presage migrate`, `backup`, `restore` and `account`. */
export function addDatabaseCommands(program: Command): void {
  program
    .command("migrate")
    .description("migrate the database schema")
    .addHelpText(...examples("PRESAGE_DATABASE_URL=postgres://presage@db/presage presage migrate"))
    .action(async () => migrateDatabase(configure()));

  program
    .command("backup <file>")
    .description("copy the SQLite database while servers run")
    .addHelpText(...examples("presage backup /backups/presage.db"))
    .action(async (file: string) => backUp(configure(), file));

  program
    .command("restore <file>")
    .description("restore the database from a backup")
    .option("--replace", "set aside an existing database")
    .addHelpText(
      ...examples("presage restore /backups/presage.db", "presage restore --replace /backups/presage.db"),
    )
    .action(async (file: string, options) => restore(configure(), file, options));

  const account = program
    .command("account")
    .description("move an account to another database")
    .addHelpText(...examples("presage account export account.jsonl", "presage account import account.jsonl"));
  addExportCommand(account.command("export <file>"), (file, options) =>
    exportToFile(configure(), file, options),
  );
  addExportCommand(program.command("export <file>", { hidden: true }), async (file, options) => {
    printNotice(`${commandName} export FILE is now: ${commandName} account export FILE`);
    await exportToFile(configure(), file, options);
  });
  account
    .command("import <file>")
    .summary("store an exported account")
    .description("store an exported account, all of it or nothing, in an account without data")
    .option("--account <name>", "the account to store it in; by default one of the same name")
    .addHelpText(
      ...examples(
        "presage account import account.jsonl",
        "presage account import --account restored account.jsonl",
      ),
    )
    .action(async (file: string, options) => importFromFile(configure(), file, options));
}

type ExportAccount = (file: string, options: { account?: string }) => Promise<void>;

function addExportCommand(command: Command, run: ExportAccount): void {
  command
    .summary("write an account's data as JSON lines")
    .description("write all of an account's data as JSON lines, while servers run")
    .option("--account <name>", "the account, if there are several")
    .addHelpText(
      ...examples(
        "presage account export account.jsonl",
        "presage account export --account kitchen-team kitchen.jsonl",
      ),
    )
    .action(run);
}

/** `presage import FILE`: it imported an account's export before it imported traces. */
export async function importAccountFile(
  config: Config,
  files: readonly string[],
  { others: given, ...options }: { account?: string; others: readonly string[] },
): Promise<void> {
  const [file = "", ...others] = files;
  const isFile = statSync(file, { throwIfNoEntry: false })?.isFile() === true;
  const start = isFile ? await Bun.file(file).slice(0, 100).text() : accountExportStart;
  if (others.length > 0 || !start.startsWith(accountExportStart))
    throw new CommandError(
      "Give --name NAME to store traces as a dataset, or --preview to see what they hold.",
    );
  if (given.length > 0)
    throw new CommandError(
      `${file} is an account's export, which takes only --account: ${commandName} account import ${file}`,
    );
  printNotice(`${commandName} import FILE of an account's export is now: ${commandName} account import FILE`);
  await importFromFile(config, file, options);
}

export function addResultsCommands(program: Command): void {
  const results = program.command("results").description("repair evaluation results of the database");
  for (const name of ["repair-times", "mend-times"])
    results
      // The second name is the earlier one.
      .command(name, { hidden: name === "mend-times" })
      .description(
        "give results that a wrong clock dated in the future the times of their neighbours; servers may keep running",
      )
      .option("--dry-run", "only report which results are affected")
      .addHelpText(...examples(`presage results ${name} --dry-run`, `presage results ${name}`))
      .action(async (options) => repairResultTimes(configure(), options));
}

async function migrateDatabase(config: Config): Promise<void> {
  const { database, migrated } = await openDatabase(config.databaseUrl, () => {});
  await database.destroy();
  const { applied, newer } = migrated;
  if (newer.length > 0)
    process.stdout.write(
      `The schema is of a newer version (${newer.join(", ")}), which lets this one run on it.\n`,
    );
  else
    process.stdout.write(
      applied.length === 0 ? "The schema is up to date.\n" : `Applied ${applied.join(", ")}.\n`,
    );
}

/** Copies the configured SQLite database into a file, which is replaced only by a complete and intact copy. Servers may keep running. */
async function backUp(config: Config, into: string): Promise<void> {
  const path = sqliteFile(config, "pg_dump --format=custom");
  if (!hasSqliteSchema(path)) throw new NoDatabaseError(path);
  const file = resolve(into);
  if (existsSync(file)) checkOutputFile(file);
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

/** Replaces the configured SQLite database, which no process may have open, with a backup. The replaced database is kept. */
export async function restore(config: Config, from: string, { replace = false }: { replace?: boolean }) {
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
      setAside(path, aside);
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

/** Checks the copy, since the copy is what will be used. */
function copyChecked(backup: string, partial: string): string {
  try {
    copySqlite(backup, partial);
    return checkSqlite(partial);
  } catch (error) {
    if (isNoSpace(error)) throw error;
    if (error instanceof DatabaseFileError || (error instanceof Error && error.name === "SQLiteError"))
      throw new CommandError(`${backup} is no backup that can be restored. ${error.message}`);
    throw error;
  }
}

/** The configured database's file; throws a `CommandError` if it is not a file. `postgresTool` is what to use instead. */
function sqliteFile(config: Config, postgresTool: string): string {
  const { databaseUrl } = config;
  refuseInMemory(config);
  if (!isSqlite(databaseUrl)) {
    throw new CommandError(
      `PRESAGE_DATABASE_URL is a PostgreSQL database, which has tools of its own: ${postgresTool}. See docs/operate/backup.md.`,
    );
  }
  return resolve(sqlitePath(databaseUrl));
}

/** A size as people read it. */
export function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}

const schema = Object.keys(migrations).at(-1) ?? "";

/** Writes everything in an account as JSON lines. The file appears once it is complete. */
async function exportToFile(config: Config, file: string, options: { account?: string }): Promise<void> {
  checkOutputFile(file);
  const exported = async (store: OpenedStore) => {
    const account = await findAccount(store, options.account);
    const path = resolve(file);
    const partial = `${path}.partial`;
    let lines = 0;
    const writing = await createPartial(partial);
    try {
      // Servers keep writing meanwhile.
      const reader = store.reader({ accountId: account.id, signal: neverAborted });
      const reading = reader.transaction();
      const snapshot = isPostgres(store.database) ? reading.setIsolationLevel("repeatable read") : reading;
      await snapshot.execute(async (transaction) => {
        await allowPauses(transaction);
        const texts = async function* () {
          for await (const line of exportAccount(transaction, account, schema)) {
            lines += 1;
            yield `${line}\n`;
          }
        };
        await pipeline(Readable.from(texts()), writing.createWriteStream());
      });
      flush(partial);
      await rename(partial, path);
    } catch (error) {
      await writing.close().catch(() => {});
      await rm(partial, { force: true });
      throw error;
    }
    // The first and the last line are not rows.
    process.stdout.write(
      `Exported ${countOf(lines - 2, "row")} of the account ${account.name} to ${path}.\n`,
    );
    printNotice("It contains texts of predictions and evaluations, but no secrets of keys.");
  };
  // A transaction on the writing connection would keep servers from writing until it ends.
  await withDatabase(config, exported, { mustExist: true, readsInPlace: false });
}

/** Stores the rows of an exported account, all or none. */
async function importFromFile(config: Config, file: string, { account: accountName }: { account?: string }) {
  // `file` may be a pipe.
  if (statSync(file, { throwIfNoEntry: false })?.isDirectory() !== false)
    throw new CommandError(`There is no file ${file}`);
  await withDatabase(config, async ({ database }) => {
    await refuseShortage(database, diskFloorOf(config));
    const options: ImportOptions = {
      schema,
      accountName,
      takeNumbers: (transaction, exported) => takeGivenNumbers(database, transaction, exported),
      storeResults: (transaction, results) =>
        // The import has checked their columns.
        restoreResults(transaction, results as unknown as Parameters<typeof restoreResults>[1]),
    };
    const { account, rows } = await importAccount(database, readLines(resolve(file)), options);
    process.stdout.write(`Imported ${countOf(rows, "row")} into the account ${account}.\n`);
    printNotice("Imported API keys are revoked: their secrets are not in an export.");
  });
}

/** Only its owner can read the file, as with the database. */
async function createPartial(path: string): Promise<FileHandle> {
  try {
    return await open(path, "wx", 0o600);
  } catch (error) {
    if (!isAlreadyThere(error)) throw error;
    throw new CommandError(
      `${path} is there already: another export writes it, or one was interrupted. If none is running, delete it.`,
    );
  }
}

function isAlreadyThere(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "EEXIST";
}

async function findAccount({ database }: OpenedStore, name: string | undefined) {
  const accounts = await selectAccountNames(database);
  const [first] = accounts;
  if (name === undefined && first !== undefined && accounts.length === 1) return first;
  const found = accounts.find((account) => account.name === name || account.id === name);
  if (found !== undefined) return found;
  const names = accounts.map((account) => account.name).join(", ");
  throw new CommandError(
    name === undefined
      ? `There are several accounts; choose one with --account: ${names}.`
      : `There is no account ${name}; there are: ${names}.`,
  );
}

/** Gives results that a wrong clock dated in the future the times of their neighbours. */
async function repairResultTimes(config: Config, { dryRun }: { dryRun?: boolean }): Promise<void> {
  await withDatabase(config, async ({ database }) => {
    const skew = await findClockSkew(database);
    if (skew !== undefined) throw new ClockSkewError(skew);
    const now = await readDatabaseClock(database);
    const { count, firstId, lastId, earliest, latest } = await describeFuture(database, lastSoundTime(now));
    const found =
      count === 0
        ? "No result is dated in the future"
        : `${countOf(count, "result")} dated in the future, from ${toIsoInstant(earliest)} to ${toIsoInstant(latest)}, with ids from ${firstId} to ${lastId}`;
    printNotice(`It is ${toIsoInstant(now)}. ${found}.`, process.stdout);
    if (dryRun) {
      if (count > 0)
        printNotice(
          "Nothing was changed. Without --dry-run, each would get the time of the result before it.",
          process.stdout,
        );
      return;
    }
    try {
      const results = await mendTimes(database, lastSoundTime(now));
      const corrections = await mendCorrections(database, lastSoundTime(now));
      printNotice(
        `Mended the times of ${countOf(results, "result")} and ${countOf(corrections, "correction")}.`,
        process.stdout,
      );
    } catch (error) {
      throw error instanceof NoSoundTimeError ? new CommandError(error.message) : error;
    }
  });
}
