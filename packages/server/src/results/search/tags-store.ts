import { sql } from "kysely";
import type { Micros } from "../../platform/storage/micros.ts";
import type { Requester } from "../../platform/storage/reader.ts";
import type { Database } from "../../platform/storage/schema/tables.ts";
import type { EvaluationServices } from "../evaluation-services.ts";

export interface Tag {
  key: string;
  value: string;
}

/** A tag, and when the first and the latest result with it were stored. */
export interface UsedTag extends Tag {
  createdAt: Micros;
  lastUsed: Micros;
}

interface TagPage {
  limit: number;
  /** Only tags that follow this one. */
  after: Tag | undefined;
}

/** The tags of an account's results, in the order of their index. `next` is the last tag if more follow. */
export async function listTags(
  { store }: Pick<EvaluationServices, "store">,
  requester: Requester,
  { limit, after }: TagPage,
): Promise<{ tags: UsedTag[]; next: Tag | undefined }> {
  const reader = store.briefReader(requester);
  const found = await selectTags(reader, requester.accountId, { limit: limit + 1, after });
  return { tags: found.slice(0, limit), next: found.length > limit ? found[limit - 1] : undefined };
}

/** Steps from each tag to the next by the index, so that it takes as long as there are tags, however many results have them. */
export async function selectTags(
  reader: Database,
  accountId: string,
  { limit, after }: TagPage,
): Promise<UsedTag[]> {
  const start = after === undefined ? sql`` : sql`and (name, value) > (${after.key}, ${after.value})`;
  const firstColumn = (column: "name" | "value", beyond: ReturnType<typeof sql>) => sql`(
    select ${sql.ref(column)} from evaluation_tags where account_id = ${accountId} ${beyond}
    order by name, value limit 1)`;
  const isBeyond = sql`and (name, value) > (walk.tag_name, walk.tag_value)`;
  const resultTime = (direction: "asc" | "desc") => sql`(
    select result.created_at from evaluation_results as result where result.id = (
      select result_id from evaluation_tags
      where account_id = ${accountId} and name = walk.tag_name and value = walk.tag_value
      order by result_id ${sql.raw(direction)} limit 1))`;
  const { rows } = await sql<UsedTag>`
    with recursive walk (step, tag_name, tag_value) as (
      select 1, ${firstColumn("name", start)}, ${firstColumn("value", start)}
      union all
      select step + 1, ${firstColumn("name", isBeyond)}, ${firstColumn("value", isBeyond)}
      from walk where walk.tag_name is not null and step < ${limit}
    )
    select tag_name as key, tag_value as value, ${resultTime("asc")} as "createdAt", ${resultTime("desc")} as "lastUsed"
    from walk where tag_name is not null order by step`.execute(reader);
  return rows;
}
