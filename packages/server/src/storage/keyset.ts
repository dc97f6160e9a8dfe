import { type SqlBool, sql } from "kysely";
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
