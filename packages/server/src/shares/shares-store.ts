import { permissions } from "@presage/contract";
import { sql } from "kysely";
import type { Micros } from "../platform/storage/columns.ts";
import { type KeysetPage, type ListPart, selectNewestFirst } from "../platform/storage/lists.ts";
import type { SharesTable } from "../platform/storage/schema/accounts.ts";
import type { Database } from "../platform/storage/schema/tables.ts";

export type StoredShare = Omit<SharesTable, "digest">;

const listed = [
  "shares.id",
  "shares.account_id",
  "shares.user_id",
  "shares.api_key_id",
  "shares.kind",
  "shares.object",
  "shares.with_texts",
  "shares.created_at",
  "shares.expires_at",
] as const;

/** The working links: neither the link nor its creator's access to the account has ended. */
function selectLive(database: Database, now: Micros) {
  return database
    .selectFrom("shares")
    .innerJoin("users", (join) =>
      join.onRef("users.id", "=", "shares.user_id").onRef("users.account_id", "=", "shares.account_id"),
    )
    .leftJoin("api_keys", "api_keys.id", "shares.api_key_id")
    .where("shares.expires_at", ">", now)
    .where("users.role", "in", permissions.evaluate.roles)
    .where(({ and, or, eb }) =>
      or([
        eb("shares.api_key_id", "is", null),
        and([
          eb("api_keys.id", "is not", null),
          eb("api_keys.revoked_at", "is", null),
          or([eb("api_keys.expires_at", "is", null), eb("api_keys.expires_at", ">", now)]),
        ]),
      ]),
    )
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom("closed_accounts")
            .select("closed_accounts.account_id")
            .whereRef("closed_accounts.account_id", "=", "shares.account_id"),
        ),
      ),
    );
}

export async function insertShare(transaction: Database, row: SharesTable) {
  await transaction.insertInto("shares").values(row).execute();
}

/** The working link with this digest, and who created it. */
export async function selectShareByDigest(
  database: Database,
  digest: string,
  now: Micros,
): Promise<(StoredShare & { made_by: string | null }) | undefined> {
  return await selectLive(database, now)
    .select(listed)
    .select("users.name as made_by")
    .where("shares.digest", "=", digest)
    .executeTakeFirst();
}

/** An account's working links, newest first; with `object`, only those to it. */
export async function selectShares(
  reader: Database,
  accountId: string,
  object: string | undefined,
  now: Micros,
  page: KeysetPage,
): Promise<ListPart<StoredShare>> {
  let live = selectLive(reader, now).select(listed).where("shares.account_id", "=", accountId);
  if (object !== undefined) live = live.where("shares.object", "=", object);
  // The subquery's columns have the names of one table.
  return await selectNewestFirst(reader.selectFrom(live.as("live")).selectAll(), page);
}

/** How many of an account's links work, counted up to `limit`. */
export async function countShares(database: Database, accountId: string, now: Micros, limit: number) {
  const live = selectLive(database, now).select("shares.id").where("shares.account_id", "=", accountId);
  const { count } = await database
    .selectFrom(live.limit(limit).as("live"))
    .select(({ fn }) => fn.countAll<number>().as("count"))
    .executeTakeFirstOrThrow();
  return count;
}

/** Deletes one of an account's links and returns it; undefined if it does not exist. */
export async function deleteShare(
  transaction: Database,
  accountId: string,
  id: string,
): Promise<StoredShare | undefined> {
  return await transaction
    .deleteFrom("shares")
    .where("account_id", "=", accountId)
    .where("id", "=", id)
    .returning(listed)
    .executeTakeFirst();
}

/** Deletes expired links of all accounts. */
export async function deleteEndedShares(database: Database, now: Micros) {
  await database.deleteFrom("shares").where("expires_at", "<=", now).execute();
}

/** The texts of a result, each cut to a number of characters. */
export interface ResultTexts {
  input: string | null;
  output: string | null;
  gold_answer: string | null;
}

/** The texts of results that still exist, by id. */
export async function selectResultTexts(
  reader: Database,
  resultIds: readonly string[],
  characters: number,
): Promise<Map<string, ResultTexts>> {
  if (resultIds.length === 0) return new Map();
  const cut = (column: keyof ResultTexts) =>
    sql<string | null>`substr(${sql.ref(column)}, 1, ${characters})`.as(column);
  const rows = await reader
    .selectFrom("evaluation_payloads")
    .select(["result_id", cut("input"), cut("output"), cut("gold_answer")])
    .where("result_id", "in", resultIds.map(Number))
    .execute();
  return new Map(rows.map(({ result_id, ...texts }) => [`${result_id}`, texts]));
}
