import { sql } from "kysely";
import type { Database } from "../platform/storage/schema/tables.ts";
import { type PredictionFilter, selectNewestMatching } from "./matching-predictions-store.ts";

/** Whose values can be chosen from. */
export const countedColumns = [
  "source",
  "status",
  "error_category",
  "deployment",
  "model",
  "api_key_id",
] as const satisfies (keyof PredictionFilter)[];

const maxValues = 100;

export type CountedColumn = (typeof countedColumns)[number];

export interface ValueCount {
  column: CountedColumn;
  value: string;
  count: number;
}

/** The values of some columns among an account's newest predictions that match, read once. The most frequent of each come first. */
export async function selectValueCounts(
  reader: Database,
  accountId: string,
  { columns, filter, most }: { columns: readonly CountedColumn[]; filter: PredictionFilter; most: number },
): Promise<ValueCount[]> {
  if (columns.length === 0) return [];
  const newest = selectNewestMatching(reader, accountId, filter, { columns, limit: most });
  const counted = columns.map(
    (column) => sql`select * from (
      select ${sql.lit(column)} as "column", ${sql.ref(column)} as value, count(*) as count from newest
      where ${sql.ref(column)} is not null group by ${sql.ref(column)}
      order by count desc, value limit ${sql.lit(maxValues)}) as ${sql.id(`of_${column}`)}`,
  );
  const { rows } = await sql<
    Pick<ValueCount, "column" | "value"> & { count: number | string }
  >`with newest as ${newest} ${sql.join(counted, sql` union all `)}`.execute(reader);
  return rows.map(({ column, value, count }) => ({ column, value, count: Number(count) }));
}
