import { sql } from "kysely";
import { isPostgres } from "../../platform/storage/is-postgres.ts";
import type { Database } from "../../platform/storage/schema/tables.ts";
import { lockRollUp } from "../summary/roll-up-tags-store.ts";
import { lockFolding } from "../write/fold-store.ts";

export async function selectSomeIdsOf(
  database: Database,
  accountId: string,
  limit: number,
): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`select id from evaluation_results
    where account_id = ${accountId} and status = 'success' order by id limit ${limit}`.execute(database);
  if (rows.length > 0) return rows.map(({ id }) => id);
  // Few have no verdict, and another index.
  const others = await sql<{ id: number }>`select id from evaluation_results
    where account_id = ${accountId} and status <> 'success' limit ${limit}`.execute(database);
  return others.rows.map(({ id }) => id);
}

/** Deletes every rollup of an account that has no results left. */
export async function deleteCountsOf(transaction: Database, accountId: string): Promise<void> {
  if (isPostgres(transaction)) await lockFolding(transaction);
  await lockRollUp(transaction);
  const series = sql`select id from evaluation_series where account_id = ${accountId}`;
  const tags = sql`select id from evaluation_tag_values where account_id = ${accountId}`;
  const ofTags = sql`select id from evaluation_tag_series where tag_id in (${tags})`;
  const statements = [
    sql`delete from evaluation_count_deltas where series_id in (${series})`,
    sql`delete from evaluation_counts where series_id in (${series})`,
    sql`delete from evaluation_total_counts where account_id = ${accountId}`,
    sql`delete from evaluation_series where account_id = ${accountId}`,
    sql`delete from evaluation_tag_counts where series_id in (${ofTags})`,
    sql`delete from evaluation_tag_series where tag_id in (${tags})`,
    sql`delete from evaluation_tag_values where account_id = ${accountId}`,
    sql`delete from evaluation_tag_names where account_id = ${accountId}`,
    sql`delete from error_finding_count_deltas where account_id = ${accountId}`,
    sql`delete from error_finding_counts where account_id = ${accountId}`,
  ];
  for (const statement of statements) await statement.execute(transaction);
}
