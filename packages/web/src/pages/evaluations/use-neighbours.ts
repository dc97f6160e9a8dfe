import { useMemo } from "react";
import type { ResultRow } from "../../data/result-row.ts";

export interface Neighbours {
  row: ResultRow | undefined;
  previousId: string | undefined;
  nextId: string | undefined;
}

/** A result in the list, and those before and after it. */
export function useNeighbours(rows: readonly ResultRow[], id: string | undefined): Neighbours {
  const places = useMemo(() => new Map(rows.map((row, place) => [row.id, place])), [rows]);
  const place = id === undefined ? undefined : places.get(id);
  if (place === undefined) return { row: undefined, previousId: undefined, nextId: undefined };
  return { row: rows[place], previousId: rows[place - 1]?.id, nextId: rows[place + 1]?.id };
}
