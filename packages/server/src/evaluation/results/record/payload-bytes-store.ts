import { sql } from "kysely";
import type { Database } from "../../../storage/schema/tables.ts";
import { textColumns } from "./payload-columns-store.ts";

/** As many as a result has at most. */
const maxContexts = 50;
/** Whatever else of a payload can be long. */
const uncutColumns = ["additional_info", "evaluated_model", "tags"] as const;
const columns = [...textColumns, "retrieved_context", ...uncutColumns] as const;

/** About how many bytes the payloads of some results take, by id. Both databases know that without reading the texts. */
export async function selectPayloadBytes(
  reader: Database,
  ids: readonly number[],
  maxTextCharacters = Number.POSITIVE_INFINITY,
): Promise<Map<number, number>> {
  if (ids.length === 0) return new Map();
  const limits: Partial<Record<(typeof columns)[number], number>> = {
    ...Object.fromEntries(textColumns.map((column) => [column, maxTextCharacters])),
    retrieved_context: maxContexts * maxTextCharacters,
  };
  const rows = await reader
    .selectFrom("evaluation_payloads")
    .select("result_id")
    .select(columns.map((column) => sql<number | null>`octet_length(${sql.ref(column)})`.as(column)))
    .where("result_id", "in", ids)
    .execute();
  return new Map(
    rows.map((row) => [
      row.result_id,
      columns.reduce((sum, column) => sum + Math.min(row[column] ?? 0, limits[column] ?? Infinity), 0),
    ]),
  );
}
