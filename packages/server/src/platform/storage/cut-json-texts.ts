import { type Expression, type RawBuilder, sql } from "kysely";
import { isPostgres } from "./is-postgres.ts";
import type { Database } from "./schema/tables.ts";

/** A JSON list of texts, each truncated to `maxCharacters`, as JSON. */
export function cutJsonTexts(
  database: Database,
  list: Expression<string | null>,
  maxCharacters: number,
): RawBuilder<string | null> {
  const cut = isPostgres(database)
    ? sql`(select json_agg(substr(text, 1, ${maxCharacters}) order by place)::text
        from json_array_elements_text(${list}::json) with ordinality as texts (text, place))`
    : sql`(select json_group_array(substr(value, 1, ${maxCharacters})) from json_each(${list}))`;
  // 4 for brackets and quotes: no text of a shorter list is too long.
  return sql`case when length(${list}) > ${maxCharacters} + 4 then ${cut} else ${list} end`;
}
