import { sql } from "kysely";
import type { Database } from "./schema/tables.ts";

const named = [
  "select id, coalesce(name, email) as name, account_id from users",
  "select api_keys.id, api_keys.name, account_id from api_keys join users on users.id = user_id",
  "select public_id as id, name, account_id from evaluator_profiles",
  "select id, environment as name, account_id from episodes",
  ...["datasets", "environments", "error_taxonomies", "projects", "runs"].map(
    (table) => `select id, name, account_id from ${table}`,
  ),
];

/** The names that things of an account have now, by their ids. What is gone, or is another account's, has none. */
export async function selectNames(
  reader: Database,
  accountId: string,
  ids: readonly (string | null)[],
): Promise<ReadonlyMap<string, string>> {
  const wanted = [...new Set(ids)].filter((id) => id !== null);
  if (wanted.length === 0) return new Map();
  const { rows } = await sql<{ id: string; name: string }>`
    select id, name from (${sql.raw(named.join(" union all "))}) as named
    where account_id = ${accountId} and name is not null and id in (${sql.join(wanted)})`.execute(reader);
  return new Map(rows.map(({ id, name }) => [id, name]));
}
