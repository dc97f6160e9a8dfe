import { type SqlBool, sql } from "kysely";
import type { Micros } from "./micros.ts";

/** Where in a list, newest first, a page begins: behind the row of this time and id. */
export interface Keyset {
  createdAt: Micros;
  id: string;
}

export interface KeysetPage {
  limit: number;
  after: Keyset | undefined;
}

/** A page of a list, and what the next one begins behind if there is more. */
export interface ListPart<Row> {
  rows: Row[];
  next: Keyset | undefined;
}

/** The condition of a page, in a shape that an index by time and id answers. */
export function isAfter({ createdAt, id }: Keyset) {
  return sql<SqlBool>`(created_at, id) < (${createdAt}, ${id})`;
}

/** One row more than a page has tells that there is another page. */
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
