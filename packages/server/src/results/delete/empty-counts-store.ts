import { type SqlBool, sql } from "kysely";
import { isPostgres } from "../../platform/storage/is-postgres.ts";
import type { Database } from "../../platform/storage/schema/tables.ts";
import { lockRollUp } from "../summary/roll-up-tags-store.ts";
import { lockFolding } from "../write/fold-store.ts";

/** What is counted, by its key, and then what is known of tags: series before values, which are unused without them. */
const keys = {
  evaluation_counts: ["series_id", "day", "verdict", "score_mille"],
  evaluation_total_counts: ["account_id", "day", "score_mille", "verdict"],
  evaluation_tag_counts: ["series_id", "day", "verdict", "score_mille"],
  error_finding_counts: ["account_id", "revision_id", "day", "path_id"],
  evaluation_tag_series: ["id"],
  evaluation_tag_values: ["id"],
} as const;

/** What evaluations insert is folded into these. The others are written by who counts by tag. */
const folded: readonly CountsTable[] = [
  "evaluation_counts",
  "evaluation_total_counts",
  "error_finding_counts",
];

export type CountsTable = keyof typeof keys;
export const countsTables = Object.keys(keys) as CountsTable[];

/** The values of a table's key. */
export type CountsKey = (string | number)[];

/** Whether a row says nothing: all results that it counted are deleted, or corrected, or nothing names it. */
function isEmpty(table: CountsTable) {
  switch (table) {
    case "evaluation_tag_series":
      return sql<SqlBool>`not exists (select 1 from evaluation_tag_counts where series_id = evaluation_tag_series.id)`;
    case "evaluation_tag_values":
      return sql<SqlBool>`not exists (select 1 from evaluation_tag_series where tag_id = evaluation_tag_values.id)`;
    default:
      return sql<SqlBool>`count = 0`;
  }
}

/** Looks at some rows after one, in the order of their keys. Returns those that are empty, and the last one if there may be more. */
export async function selectEmptyCounts(
  database: Database,
  table: CountsTable,
  after: CountsKey | undefined,
  lookedAt: number,
): Promise<{ empty: CountsKey[]; last: CountsKey | undefined }> {
  const names = keys[table];
  const columns = sql.join(names.map((name) => sql.ref(name)));
  const isLater = after === undefined ? sql`` : sql`where (${columns}) > (${sql.join(after)})`;
  const { rows } = await sql<Record<string, string | number> & { is_empty: SqlBool; number: number }>`
    select * from (
      select ${columns}, ${isEmpty(table)} as is_empty, row_number() over (order by ${columns}) as number
      from ${sql.ref(table)} ${isLater} order by ${columns} limit ${lookedAt}
    ) as looked where is_empty or number = ${lookedAt}`.execute(database);
  const keyOf = (row: (typeof rows)[number]) => names.map((name) => row[name] as string | number);
  const last = rows.find(({ number }) => Number(number) === lookedAt);
  return {
    empty: rows.filter(({ is_empty }) => is_empty).map(keyOf),
    last: last && keyOf(last),
  };
}

/** Deletes those that are still empty, and locks them until the transaction ends. */
export async function deleteCounts(
  transaction: Database,
  table: CountsTable,
  rows: readonly CountsKey[],
): Promise<number> {
  // Before the rows, so that no one waits for this while holding them.
  if (!folded.includes(table)) await lockRollUp(transaction);
  else if (isPostgres(transaction)) await lockFolding(transaction);
  const columns = sql.join(keys[table].map((name) => sql.ref(name)));
  let deleted = 0n;
  for (const key of rows) {
    const { numAffectedRows = 0n } = await sql`
      delete from ${sql.ref(table)} where (${columns}) = (${sql.join(key)}) and ${isEmpty(table)}`.execute(
      transaction,
    );
    deleted += numAffectedRows;
  }
  return Number(deleted);
}
