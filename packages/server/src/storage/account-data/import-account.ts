import { Role } from "@presage/contract";
import { z } from "zod";
import { isPostgres } from "../is-postgres.ts";
import type { Database } from "../schema/tables.ts";
import type { ExportHeader } from "./export-account.ts";
import { importBesideWrites } from "./import-beside-writes.ts";
import { addAccount, addUsers, findAccountId, findUserIds } from "./imported-users-store.ts";
import {
  type ImportOptions,
  type NumberedLine,
  type OpenedFile,
  openPlace,
  parse,
  refuseUsedAccount,
  rowsAtOnce,
  storeLines,
} from "./store-lines.ts";
import { invalidImport } from "./to-stored.ts";

const Header = z.strictObject({
  kind: z.literal("presage account"),
  schema: z.string(),
  account: z.string().min(1),
  users: z.array(
    z.strictObject({
      oidc_issuer: z.string(),
      oidc_subject: z.string(),
      email: z.string().nullable(),
      name: z.string().nullable(),
      role: Role,
      created_at: z.int(),
    }),
  ),
  results: z
    .strictObject({ first: z.int().min(1), last: z.int() })
    .refine(({ first, last }) => first <= last)
    .nullable(),
}) satisfies z.ZodType<ExportHeader>;

interface Imported {
  account: string;
  rows: number;
}

/**
 * Stores an export in an account that has nothing yet, all of it or, if anything is wrong or the process ends before, nothing. Others
 * write meanwhile: on SQLite it is stored in small transactions, in an account that nobody is in until all is there.
 */
export async function importAccount(
  database: Database,
  lines: AsyncIterable<NumberedLine>,
  options: ImportOptions,
): Promise<Imported> {
  const columnsOf = await readColumns(database);
  const read = lines[Symbol.asyncIterator]();
  const first = await read.next();
  const header = parse(Header, first.done === true ? { number: 1, text: "" } : first.value);
  if (header.schema !== options.schema)
    throw invalidImport(
      `The export is from another version of Presage (its schema is ${header.schema}, here it is ${options.schema}). Use the same version for both.`,
    );
  const accountName = options.accountName ?? header.account;
  const file = { header, accountName, lines: read, columnsOf };
  const rows = isPostgres(database)
    ? await importAtOnce(database, file, options)
    : await importBesideWrites(database, file, options);
  return { account: accountName, rows };
}

/** On PostgreSQL others write beside a long transaction. */
async function importAtOnce(database: Database, file: OpenedFile, options: ImportOptions): Promise<number> {
  const { header, accountName } = file;
  return await database.transaction().execute(async (transaction) => {
    const known = await findAccountId(transaction, accountName);
    if (known !== undefined) await refuseUsedAccount(transaction, known, file);
    const accountId = known ?? (await addAccount(transaction, accountName));
    const userIds = await findUserIds(transaction, accountId, header.users);
    await addUsers(transaction, accountId, header.users, userIds);
    const place = await openPlace(transaction, accountId, userIds, file, options);
    return await storeLines(file, options, {
      place,
      async store(work) {
        await work(transaction);
        return rowsAtOnce;
      },
    });
  });
}

async function readColumns(database: Database): Promise<Map<string, Set<string>>> {
  const tables = await database.introspection.getTables();
  return new Map(tables.map(({ name, columns }) => [name, new Set(columns.map((each) => each.name))]));
}
