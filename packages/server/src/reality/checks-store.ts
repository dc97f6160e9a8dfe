import { type KeysetPage, type ListPart, selectNewestFirst } from "../platform/storage/lists.ts";
import { insertRows } from "../platform/storage/rows.ts";
import type { RealityChecksTable, RealityEpisodesTable } from "../platform/storage/schema/runs.ts";
import type { Database } from "../platform/storage/schema/tables.ts";

export async function insertCheck(transaction: Database, row: RealityChecksTable): Promise<void> {
  await transaction.insertInto("reality_checks").values(row).execute();
}

const rowsAtOnce = 500;

export async function insertEpisodes(
  transaction: Database,
  rows: readonly RealityEpisodesTable[],
): Promise<void> {
  for (let at = 0; at < rows.length; at += rowsAtOnce)
    await insertRows(transaction, "reality_episodes", rows.slice(at, at + rowsAtOnce));
}

export async function selectCheck(
  reader: Database,
  accountId: string,
  id: string,
): Promise<RealityChecksTable | undefined> {
  return await reader
    .selectFrom("reality_checks")
    .selectAll()
    .where("account_id", "=", accountId)
    .where("id", "=", id)
    .executeTakeFirst();
}

/** An account's reality checks, newest first; with a name, those of an environment. */
export async function selectChecks(
  reader: Database,
  accountId: string,
  environment: string | undefined,
  page: KeysetPage,
): Promise<ListPart<RealityChecksTable>> {
  const all = reader.selectFrom("reality_checks").selectAll().where("account_id", "=", accountId);
  return await selectNewestFirst(
    environment === undefined ? all : all.where("environment", "=", environment),
    page,
  );
}

/** A reality check's episodes, in their order. */
export async function selectEpisodesOf(reader: Database, checkId: string): Promise<RealityEpisodesTable[]> {
  return await reader
    .selectFrom("reality_episodes")
    .selectAll()
    .where("check_id", "=", checkId)
    .orderBy("position")
    .execute();
}

/** How many episodes the reality checks of an environment have. */
export async function countEpisodes(
  reader: Database,
  accountId: string,
  environment: string,
): Promise<number> {
  const { episodes } = await reader
    .selectFrom("reality_checks")
    .select(({ fn }) => fn.sum<number | null>("episodes").as("episodes"))
    .where("account_id", "=", accountId)
    .where("environment", "=", environment)
    .executeTakeFirstOrThrow();
  return Number(episodes);
}

/** The episodes of all reality checks of an environment, in the order in which they were checked: the newest, up to `most`. */
export async function selectEpisodesOfEnvironment(
  reader: Database,
  accountId: string,
  { environment, policy }: { environment: string; policy: string | undefined },
  most: number,
): Promise<RealityEpisodesTable[]> {
  const rows = await reader
    .selectFrom("reality_checks as check")
    .innerJoin("reality_episodes as episode", "episode.check_id", "check.id")
    .selectAll("episode")
    .where("check.account_id", "=", accountId)
    .where("check.environment", "=", environment)
    .$if(policy !== undefined, (query) => query.where("episode.policy", "=", policy ?? ""))
    .orderBy("check.created_at", "desc")
    .orderBy("check.id", "desc")
    .orderBy("episode.position", "desc")
    .limit(most)
    .execute();
  return rows.reverse();
}

/** Deletes a reality check with its episodes. Returns its name; undefined: there is none. */
export async function deleteCheckRows(
  transaction: Database,
  accountId: string,
  id: string,
): Promise<string | undefined> {
  const deleted = await transaction
    .deleteFrom("reality_checks")
    .where("account_id", "=", accountId)
    .where("id", "=", id)
    .returning("name")
    .executeTakeFirst();
  if (deleted === undefined) return undefined;
  await transaction.deleteFrom("reality_episodes").where("check_id", "=", id).execute();
  return deleted.name;
}
