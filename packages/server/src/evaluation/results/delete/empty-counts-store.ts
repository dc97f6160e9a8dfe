import { sql } from "kysely";
import { isPostgres } from "../../../storage/is-postgres.ts";
import type { Database } from "../../../storage/schema/tables.ts";
import { lockFolding } from "../keep/fold-store.ts";

const keys = {
  evaluation_counts: ["series_id", "day", "verdict", "score_mille"],
  evaluation_tag_counts: ["series_id", "day", "verdict", "score_mille"],
  error_finding_counts: ["account_id", "revision_id", "day", "path_id"],
} as const;

export type RollupTable = keyof typeof keys;
export const rollupTables = Object.keys(keys) as RollupTable[];

/** The keys of some counts of a rollup that nothing is left of. */
export async function selectEmptyCounts(
  database: Database,
  table: RollupTable,
  limit: number,
): Promise<Record<string, string | number>[]> {
  const columns = sql.join(keys[table].map((name) => sql.ref(name)));
  const { rows } = await sql<Record<string, string | number>>`
    select ${columns} from ${sql.ref(table)} where count = 0 limit ${limit}`.execute(database);
  return rows;
}

/** Deletes those that are still empty. */
export async function deleteCounts(
  transaction: Database,
  table: RollupTable,
  rows: readonly Record<string, string | number>[],
): Promise<number> {
  // Always before the counts, so that nobody who folds waits for this in turn.
  if (isPostgres(transaction)) await lockFolding(transaction);
  let deleted = 0n;
  for (const row of rows) {
    const isRow = sql.join(
      keys[table].map((name) => sql`${sql.ref(name)} = ${row[name]}`),
      sql` and `,
    );
    const { numAffectedRows = 0n } = await sql`
      delete from ${sql.ref(table)} where ${isRow} and count = 0`.execute(transaction);
    deleted += numAffectedRows;
  }
  return Number(deleted);
}
