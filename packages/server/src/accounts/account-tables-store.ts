import { type ColumnMetadata, type RawBuilder, sql } from "kysely";
import { conflict } from "../platform/errors.ts";
import { neverAborted } from "../platform/limits/deadline.ts";
import { deleteInBatches, inTimedTransaction } from "../platform/storage/batches.ts";
import { isHeldClosed } from "../platform/storage/closed-accounts-store.ts";
import type { Database, Tables } from "../platform/storage/schema/tables.ts";
import { isPostgres } from "../platform/storage/store.ts";
import { insertUser, selectUserByIdentity, type User } from "./users-store.ts";

/** How a table's rows belong to an account: by the account's id, or by the ids of rows of another table that belong to it. */
export type RowOwner =
  | "account"
  | "users"
  | "profiles"
  | "taxonomies"
  | "revisions"
  | "runs"
  | "environments"
  | "episodes"
  | "worlds"
  | "label_samples"
  | "reality_checks";

/** A table with an account's own data, as opposed to figures counted from that data. */
export interface AccountTable {
  table: keyof Tables;
  /** The columns that rows are sorted by; unique among the rows of one owner. */
  key: readonly [string, ...string[]];
  owner: { of: RowOwner; column: string };
  /** Set if rows of other tables belong to this table's rows, by the first column of its key. */
  owns?: RowOwner;
  /** The SQL condition for rows that are exported; all rows if absent. */
  onlyWhere?: string;
  /** The table with the texts of each row, and the column that names it. */
  texts?: { table: keyof Tables; column: string; key: string };
  /** Columns with ids of users, of dataset revisions and of results; an import maps each to a new id. */
  users?: readonly string[];
  /** A column with ids of users and of other things. */
  maybeUser?: string;
  revisions?: readonly string[];
  results?: readonly string[];
  /** Columns that are not exported. */
  without?: readonly string[];
  /** How many rows are read in one query: some tables have long texts. */
  rowsAtOnce: number;
}

type Rest = Omit<AccountTable, "table" | "key" | "owner" | "rowsAtOnce"> & Partial<Pick<AccountTable, "key">>;
const many = 500;
const few = 20;

function ofAccount(table: keyof Tables, rowsAtOnce: number, rest: Rest = {}): AccountTable {
  return { table, key: ["id"], owner: { of: "account", column: "account_id" }, rowsAtOnce, ...rest };
}

/** A table whose rows belong to rows of another table, by a column. */
function below(of: RowOwner, column: string) {
  return (table: keyof Tables, rowsAtOnce: number, rest: Rest): AccountTable => ({
    table,
    key: ["id"],
    owner: { of, column },
    rowsAtOnce,
    ...rest,
  });
}

const ofRevision = below("revisions", "revision_id");
const ofEnvironment = below("environments", "environment_id");
const ofCheck = below("reality_checks", "check_id");
const createdBy = { users: ["created_by"] };
const ofPosition = { key: ["position"], revisions: ["revision_id"] } satisfies Rest;

/** What belongs to a deleted run is deleted some time after the run. */
const ofNoDeletedRun = "not exists (select 1 from runs where runs.id = run_id and runs.status = 'deleted')";

/** In the order of export and import: rows are stored before the rows that refer to them. */
export const accountTables: readonly AccountTable[] = [
  below("users", "user_id")("api_keys", many, {
    users: ["user_id"],
    // Whoever has a digest could try keys against it. Revocations and last uses apply only to the server they happened on.
    without: ["digest", "revoked_at", "last_used_at"],
  }),
  ofAccount("budgets", many, { key: ["api_key_id"] }),
  ofAccount("error_taxonomies", many, { owns: "taxonomies" }),
  ofAccount("error_taxonomy_revisions", few),
  below("taxonomies", "taxonomy_id")("error_taxonomy_labels", many, { key: ["label"] }),
  ofAccount("evaluator_profiles", many, { key: ["public_id"], owns: "profiles" }),
  below("profiles", "public_id")("evaluator_profile_revisions", few, { key: ["revision"] }),
  ofAccount("projects", many, createdBy),
  ofAccount("datasets", many, createdBy),
  ofAccount("dataset_revisions", many, {
    owns: "revisions",
    onlyWhere: "state = 'sealed'",
    revisions: ["id"],
  }),
  ofRevision("dataset_samples", many, ofPosition),
  ofRevision("dataset_payloads", few, ofPosition),
  ofRevision("sample_traits", many, ofPosition),
  ofRevision("dataset_parts", few, { key: ["digest"], revisions: ["revision_id"] }),
  ofAccount("environments", many, { owns: "environments", ...createdBy }),
  ofEnvironment("environment_revisions", few, { key: ["revision"] }),
  ofEnvironment("environment_tasks", few, { key: ["split", "position"] }),
  ofAccount("worlds", many, { owns: "worlds", ...createdBy }),
  below("worlds", "world_id")("world_revisions", few, { key: ["revision"] }),
  ofAccount("reality_checks", many, { owns: "reality_checks", ...createdBy }),
  ofCheck("reality_episodes", many, { key: ["position"] }),
  ofCheck("reality_replays", many, { key: ["position"] }),
  ofCheck("reality_steps", few, { key: ["position", "step"] }),
  ofAccount("runs", few, {
    owns: "runs",
    onlyWhere: "status <> 'deleted'",
    ...createdBy,
    revisions: ["revision_id"],
    without: ["lease_id"],
  }),
  ofAccount("goals", many, createdBy),
  ofAccount("episodes", few, { owns: "episodes" }),
  below("episodes", "episode_id")("episode_steps", few, { key: ["step"] }),
  // The link points to the server that it was made on, and works only there.
  ofAccount("shares", many, { users: ["user_id"], without: ["digest", "expires_at"] }),
  ofAccount("prediction_contexts", few, { key: ["digest"] }),
  ofAccount("predictions", few, {
    onlyWhere: ofNoDeletedRun,
    texts: { table: "prediction_payloads", column: "prediction_id", key: "id" },
  }),
  ofAccount("evaluation_results", few, {
    texts: { table: "evaluation_payloads", column: "result_id", key: "id" },
    results: ["id"],
  }),
  ofAccount("evaluation_corrections", many, { users: ["user_id"], results: ["result_id"] }),
  ofAccount("evaluation_labels", many, { users: ["user_id"], results: ["result_id"] }),
  ofAccount("label_samples", many, {
    owns: "label_samples",
    onlyWhere: ofNoDeletedRun,
    ...createdBy,
  }),
  below("label_samples", "sample_id")("label_sample_items", many, {
    key: ["position"],
    results: ["result_id"],
  }),
  below("runs", "run_id")("run_verdicts", many, {
    key: ["evaluator", "position", "repeat"],
    results: ["result_id"],
  }),
  ofAccount("usage_counts", many, { key: ["hour", "key_id", "operation", "outcome"], maybeUser: "key_id" }),
  ofAccount("usage_model_tokens", many, {
    key: ["hour", "key_id", "operation", "model"],
    maybeUser: "key_id",
  }),
  ofAccount("audit_events", many, { users: ["actor_user_id"] }),
  ofAccount("usage_latencies", many, { key: ["hour", "measure", "bucket"] }),
];

/** Left behind by clients' sessions and requests; never exported. */
const otherTables = ["ors_sessions", "result_deletions"] as const;

/** A row as it is stored, by column. */
export type Row = Record<string, string | number | null>;

/** Columns of keys that PostgreSQL would sort by the database's locale; it sorts ids, which are in lower case, like SQLite. */
const sortedByBytes: ReadonlySet<string> = new Set(["digest", "label", "measure", "split"]);

/** The rows of one owner, sorted by key, some at a time. */
export async function* selectRows(
  database: Database,
  { table, key, owner, onlyWhere, rowsAtOnce }: AccountTable,
  ownerId: string | number,
): AsyncGenerator<Row[], void> {
  const isWanted = onlyWhere === undefined ? sql`` : sql`and ${sql.raw(onlyWhere)}`;
  const rows = sql`select * from ${sql.table(table)} where ${sql.ref(owner.column)} = ${sql.lit(ownerId)} ${isWanted}`;
  if (isPostgres(database) && key.some((column) => sortedByBytes.has(column))) {
    // No index has this order, so the rows are sorted once.
    const inBytes = (column: string) => (sortedByBytes.has(column) ? sql`collate "C"` : sql``);
    const order = sql.join(key.map((column) => sql`${sql.ref(column)} ${inBytes(column)}`));
    yield* fetchAll(database, sql`${rows} order by ${order}`, { cursor: `exported_${table}`, rowsAtOnce });
    return;
  }
  const columns = sql.join(key.map((column) => sql.ref(column)));
  for (let after: Row | undefined; ; ) {
    const last = after;
    const isAfter =
      last === undefined ? sql`` : sql`and (${columns}) > (${sql.join(key.map((column) => last[column]))})`;
    const part = sql<Row>`${rows} ${isAfter} order by ${columns} limit ${rowsAtOnce}`;
    const { rows: found } = await part.execute(database);
    yield found;
    after = found.at(-1);
    if (after === undefined || found.length < rowsAtOnce) return;
  }
}

/** All rows of a query, within a transaction of PostgreSQL, which ends the cursor of a caller that stops early. */
async function* fetchAll(
  database: Database,
  query: RawBuilder<unknown>,
  { cursor, rowsAtOnce }: { cursor: string; rowsAtOnce: number },
): AsyncGenerator<Row[], void> {
  const name = sql.id(cursor);
  await sql`declare ${name} no scroll cursor for ${query}`.execute(database);
  for (;;) {
    const { rows } = await sql<Row>`fetch ${sql.lit(rowsAtOnce)} from ${name}`.execute(database);
    yield rows;
    if (rows.length < rowsAtOnce) break;
  }
  await sql`close ${name}`.execute(database);
}

/** Rows whose `column` has one of the keys. */
export async function selectTexts(
  database: Database,
  table: keyof Tables,
  column: string,
  keys: readonly (string | number | null | undefined)[],
): Promise<Map<string, Row>> {
  if (keys.length === 0) return new Map();
  const { rows } = await sql<Row>`select * from ${sql.table(table)}
    where ${sql.ref(column)} in (${sql.join(keys)})`.execute(database);
  return new Map(rows.map((row) => [String(row[column]), row]));
}

/** The lowest and highest number of an account's results; undefined if it has none. */
export async function selectResultNumbers(database: Database, accountId: string) {
  const { rows } = await sql<{ first: number | null; last: number | null }>`
    select min(id) as first, max(id) as last from evaluation_results where account_id = ${accountId}`.execute(
    database,
  );
  const [row] = rows;
  if (row === undefined || row.first === null || row.last === null) return undefined;
  return { first: row.first, last: row.last };
}

export type AccountUser = Omit<User, "account_id">;

/** An account's users, in an order that depends only on their identities. */
export async function selectAccountUsers(database: Database, accountId: string): Promise<AccountUser[]> {
  const users = await database
    .selectFrom("users")
    .select(["id", "oidc_issuer", "oidc_subject", "email", "name", "role", "created_at"])
    .where("account_id", "=", accountId)
    .execute();
  const nameOf = (user: AccountUser) => `${user.oidc_issuer}\n${user.oidc_subject}`;
  return users.sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
}

/** How many rows an account has in the tables that name it. */
export async function countRowsOf(database: Database, accountId: string) {
  const counted = new Map<string, number>();
  for (const { table, owner } of accountTables) {
    if (owner.of !== "account") continue;
    const { rows } = await sql<{ count: number }>`
      select count(*) as count from ${sql.table(table)} where account_id = ${accountId}`.execute(database);
    counted.set(table, rows[0]?.count ?? 0);
  }
  return counted;
}

/** The ids of the rows that own a table's rows, including owners that are being deleted. */
async function ownerIdsOf(database: Database, { owner }: AccountTable, accountId: string) {
  if (owner.of === "account") return [accountId];
  const parent = accountTables.find(({ owns }) => owns === owner.of);
  if (parent === undefined) throw new Error(`Nothing owns rows as ${owner.of}`);
  const { rows } = await sql<{ id: string | number }>`
    select ${sql.ref(parent.key[0])} as id from ${sql.table(parent.table)}
    where account_id = ${accountId}`.execute(database);
  return rows.map(({ id }) => id);
}

/** Deletes some rows of one owner, with their texts. Returns their number. */
async function deleteSomeOf(
  transaction: Database,
  { table, key, owner, texts }: AccountTable,
  ownerId: string | number,
  limit: number,
) {
  const columns = sql.join(key.map((column) => sql.ref(column)));
  const isOwned = sql`${sql.ref(owner.column)} = ${ownerId}`;
  // Unsorted: sorting would have to look at all of the owner's rows.
  const isSome = sql`(${columns}) in (select ${columns} from ${sql.table(table)} where ${isOwned} limit ${limit})`;
  // Ids are unique without the owner; given the owner as well, SQLite would scan all of the owner's rows for a few ids.
  const which = key.join() === "id" ? isSome : sql`${isOwned} and ${isSome}`;
  const deletion = sql`delete from ${sql.table(table)} where ${which}`;
  if (texts === undefined) return Number((await deletion.execute(transaction)).numAffectedRows ?? 0n);
  const { rows } = await sql<{ key: string | number }>`
    ${deletion} returning ${sql.ref(texts.key)} as key`.execute(transaction);
  if (rows.length === 0) return 0;
  const keys = sql.join(rows.map((row) => row.key));
  await sql`delete from ${sql.table(texts.table)} where ${sql.ref(texts.column)} in (${keys})`.execute(
    transaction,
  );
  return rows.length;
}

/** Whether any of these users exists here. Such a user has an account already and cannot join another. */
export async function isAnyKnown(
  transaction: Database,
  users: readonly Pick<AccountUser, "oidc_issuer" | "oidc_subject">[],
) {
  for (const { oidc_issuer, oidc_subject } of users)
    if ((await selectUserByIdentity(transaction, oidc_issuer, oidc_subject)) !== undefined) return true;
  return false;
}

/** The ids of these users here, in their order. Unknown users are added to the account; known ones keep the earlier creation date. */
export async function findOrAddUsers(
  transaction: Database,
  accountId: string,
  users: readonly Omit<AccountUser, "id">[],
) {
  const ids: string[] = [];
  for (const user of users) {
    const known = await selectUserByIdentity(transaction, user.oidc_issuer, user.oidc_subject);
    if (known !== undefined && known.account_id !== accountId)
      throw conflict(
        `The user ${user.email ?? user.name ?? user.oidc_subject} has another account here. Import into a database that does not know them.`,
      );
    const id = known?.id ?? Bun.randomUUIDv7();
    if (known === undefined) await insertUser(transaction, { id, account_id: accountId, ...user });
    else if (user.created_at < known.created_at) {
      // The owner that a new server creates is younger than the imported user.
      const { created_at } = user;
      await transaction.updateTable("users").set({ created_at }).where("id", "=", id).execute();
    }
    ids.push(id);
  }
  return ids;
}

/** Stores a dataset revision under a new id, which is returned; undefined if the revision exists. */
export async function insertRevision(transaction: Database, { id: _, ...row }: Row) {
  const stored = await transaction
    .insertInto("dataset_revisions")
    .values(row as unknown as Omit<Tables["dataset_revisions"], "id">)
    .onConflict((conflict) => conflict.doNothing())
    .returning("id")
    .executeTakeFirst();
  return stored?.id;
}

export type Columns = ReadonlyMap<string, readonly ColumnMetadata[]>;

export async function selectColumns(database: Database): Promise<Columns> {
  const tables = await database.introspection.getTables();
  return new Map(tables.map(({ name, columns }) => [name, columns]));
}

/** Deletes batch by batch until nothing is left or someone joins the account: what new users store is kept. Returns the number of rows. */
export async function eraseInBatches(
  database: Database,
  accountId: string,
  deleteSome: (transaction: Database, limit: number) => Promise<number>,
): Promise<number> {
  return await deleteInBatches<true>(
    database,
    async (_, limit) => {
      const { result, heldMs } = await inTimedTransaction(database, async (transaction) =>
        (await isHeldClosed(transaction, accountId)) ? await deleteSome(transaction, limit) : 0,
      );
      return { deleted: result, heldMs, next: result === 0 ? undefined : true };
    },
    { signal: neverAborted },
  );
}

/**
 * Deletes all of an account's data except results (which are counted), users and keys. Works in small transactions, so another call
 * can continue after an interruption. Returns the number of rows by table.
 */
export async function eraseRows(database: Database, accountId: string) {
  const erased = new Map<string, number>();
  for (const table of accountTables.toReversed()) {
    if (table.owner.of === "users" || ["evaluation_results", "evaluation_corrections"].includes(table.table))
      continue;
    let rows = 0;
    for (const ownerId of await ownerIdsOf(database, table, accountId))
      rows += await eraseInBatches(database, accountId, (transaction, limit) =>
        deleteSomeOf(transaction, table, ownerId, limit),
      );
    erased.set(table.table, rows);
  }
  for (const table of otherTables) {
    const rows = await database.transaction().execute(async (transaction) => {
      if (!(await isHeldClosed(transaction, accountId))) return 0;
      const { numDeletedRows } = await transaction
        .deleteFrom(table)
        .where("account_id", "=", accountId)
        .executeTakeFirstOrThrow();
      return Number(numDeletedRows);
    });
    erased.set(table, rows);
  }
  return erased;
}
