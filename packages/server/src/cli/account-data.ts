import { type FileHandle, open, rename, rm } from "node:fs/promises";
import { resolve } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { exportAccount } from "../accounts/export-account.ts";
import { type ImportOptions, importAccount } from "../accounts/import-account.ts";
import { selectAccountNames } from "../accounts/users-store.ts";
import type { OpenedStore } from "../app/compose-command-line.ts";
import type { Config } from "../config/config.ts";
import { migrations } from "../platform/storage/migrations/index.ts";
import { diskFloorOf, refuseShortage } from "../platform/storage/sqlite.ts";
import { isPostgres } from "../platform/storage/store.ts";
import { countOf } from "../platform/words.ts";
import { storeImportedResults } from "../results/restore-store.ts";
import { takeGivenNumbers } from "../results/write/results-store.ts";
import { CommandError } from "./command-error.ts";
import { printNotice } from "./print-notice.ts";
import { readLines } from "./read-lines.ts";
import { withDatabase } from "./with-database.ts";

const schema = Object.keys(migrations).at(-1) ?? "";

/** Writes everything of an account as JSON lines. The file appears once it is complete. */
export async function exportToFile(
  config: Config,
  file: string,
  options: { account?: string },
): Promise<void> {
  await withDatabase(config, async (store) => {
    const account = await findAccount(store, options.account);
    const path = resolve(file);
    const partial = `${path}.partial`;
    let lines = 0;
    const writing = await createPartial(partial);
    try {
      // Servers keep writing meanwhile.
      const reader = store.reader({ accountId: account.id, signal: new AbortController().signal });
      const reading = reader.transaction();
      const snapshot = isPostgres(store.database) ? reading.setIsolationLevel("repeatable read") : reading;
      await snapshot.execute(async (transaction) => {
        const texts = async function* () {
          for await (const line of exportAccount(transaction, account, schema)) {
            lines += 1;
            yield `${line}\n`;
          }
        };
        await pipeline(Readable.from(texts()), writing.createWriteStream());
      });
      await rename(partial, path);
    } catch (error) {
      await writing.close().catch(() => {});
      await rm(partial, { force: true });
      throw error;
    }
    // The first line and the last one are no rows.
    process.stdout.write(
      `Exported ${countOf(lines - 2, "row")} of the account ${account.name} to ${path}.\n`,
    );
    printNotice("It contains texts of predictions and evaluations, but no secrets of keys.");
  });
}

/** Stores the rows of such a file, all or none. */
export async function importFromFile(
  config: Config,
  file: string,
  { account: accountName }: { account?: string },
): Promise<void> {
  await withDatabase(config, async ({ database }) => {
    await refuseShortage(database, diskFloorOf(config));
    const options: ImportOptions = {
      schema,
      accountName,
      takeNumbers: (transaction, exported) => takeGivenNumbers(database, transaction, exported),
      storeResults: (transaction, results) =>
        // Their columns are checked.
        storeImportedResults(transaction, results as unknown as Parameters<typeof storeImportedResults>[1]),
    };
    const { account, rows } = await importAccount(database, readLines(resolve(file)), options);
    process.stdout.write(`Imported ${countOf(rows, "row")} into the account ${account}.\n`);
    printNotice("Imported API keys are revoked: their secrets are not in an export.");
  });
}

/** Like the database, only its owner can read it. */
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

async function findAccount(
  { database }: OpenedStore,
  name: string | undefined,
): Promise<{ id: string; name: string }> {
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
