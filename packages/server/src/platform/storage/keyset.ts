import { type SelectQueryBuilder, type SqlBool, sql } from "kysely";
import type { Micros } from "./micros.ts";

/** The position in a list, newest first, after which a page starts: the row with this time and id. */
export interface Keyset {
  createdAt: Micros;
  id: string;
}

export interface KeysetPage {
  limit: number;
  after: Keyset | undefined;
}

/** A page of a list, and where the next one starts if there is one. */
export interface ListPart<Row> {
  rows: Row[];
  next: Keyset | undefined;
}

/** The condition of a page, in a form that an index on time and id serves. */
export function isAfter({ createdAt, id }: Keyset) {
  return sql<SqlBool>`(created_at, id) < (${createdAt}, ${id})`;
}

/** A page of what a query selects, newest first. */
export async function selectNewestFirst<
  DB,
  Table extends keyof DB,
  Row extends { id: string; created_at: Micros },
>(query: SelectQueryBuilder<DB, Table, Row>, { limit, after }: KeysetPage): Promise<ListPart<Row>> {
  const rows = await (after === undefined ? query : query.where(isAfter(after)))
    .orderBy(sql`created_at`, "desc")
    .orderBy(sql`id`, "desc")
    .limit(limit + 1)
    .execute();
  return toListPart(rows as Row[], limit);
}

/** A row beyond `limit` means that there is another page. */
export function toListPart<Row extends { id: string; created_at: Micros }>(
  rows: Row[],
  limit: number,
): ListPart<Row> {
  const last = rows.length > limit ? rows[limit - 1] : undefined;
  return {
    rows: rows.slice(0, limit),
    next: last === undefined ? undefined : { createdAt: last.created_at, id: last.id },
  };
}
