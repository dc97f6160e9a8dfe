import { sql } from "kysely";
import { isPostgres } from "../../../storage/is-postgres.ts";
import type { Database } from "../../../storage/schema/tables.ts";
import { lockFolding } from "../keep/fold-store.ts";
import { lockRollUp } from "../tag-rollup/roll-up-tags-store.ts";

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
  if (table === "evaluation_tag_counts") await lockRollUp(transaction);
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

/** What is known of tags, and what names it. Series first: without them a value is unused. */
const namedBy = {
  evaluation_tag_series: { table: "evaluation_tag_counts", column: "series_id" },
  evaluation_tag_values: { table: "evaluation_tag_series", column: "tag_id" },
} as const;

export type TagTable = keyof typeof namedBy;
export const tagTables = Object.keys(namedBy) as TagTable[];

function isUnused(table: TagTable) {
  const by = namedBy[table];
  return sql`not exists (select 1 from ${sql.ref(by.table)}
    where ${sql.ref(`${by.table}.${by.column}`)} = ${sql.ref(`${table}.id`)})`;
}

/** Some series without counts, or values without series: of results that are all deleted. */
export async function selectUnusedTags(
  database: Database,
  table: TagTable,
  limit: number,
): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`
    select id from ${sql.ref(table)} where ${isUnused(table)} limit ${limit}`.execute(database);
  return rows.map(({ id }) => id);
}

/** Deletes those that are still unused. Nobody counts by tag meanwhile, who adds them before their counts. */
export async function deleteUnusedTags(
  transaction: Database,
  table: TagTable,
  ids: readonly number[],
): Promise<number> {
  await lockRollUp(transaction);
  const { numAffectedRows = 0n } = await sql`
    delete from ${sql.ref(table)} where id in (${sql.join(ids)}) and ${isUnused(table)}`.execute(transaction);
  return Number(numAffectedRows);
}
