import { type SqlBool, sql } from "kysely";
import { expiredBefore } from "../../environments/episodes/episode.ts";
import type { Micros } from "../../platform/storage/columns.ts";
import { insertRows } from "../../platform/storage/rows.ts";
import type {
  RealityChecksTable,
  RealityEpisodesTable,
  RealityReplaysTable,
  RealityStepsTable,
} from "../../platform/storage/schema/reality.ts";
import type { Database } from "../../platform/storage/schema/tables.ts";

const rowsAtOnce = 500;

/** Adds episodes that are to be replayed to a check, behind those that it has. */
export async function insertReplays(
  transaction: Database,
  checkId: string,
  wanted: readonly Pick<RealityReplaysTable, "episode_id" | "trajectory_id">[],
): Promise<void> {
  const last = await lastPosition(transaction, checkId);
  const rows = wanted.map((one, index) => ({
    ...{ check_id: checkId, position: last + 1 + index, error: null },
    ...one,
  }));
  for (let at = 0; at < rows.length; at += rowsAtOnce)
    await insertRows(transaction, "reality_replays", rows.slice(at, at + rowsAtOnce));
}

async function lastPosition(transaction: Database, checkId: string): Promise<number> {
  const { rows } = await sql<{ last: number | null }>`select max(position) as last from (
    select position from reality_replays where check_id = ${checkId}
    union all select position from reality_episodes where check_id = ${checkId}) as known`.execute(
    transaction,
  );
  return Number(rows[0]?.last ?? 0);
}

/** Checks that are running, some of them at random: no one stands in the way of the others. */
export async function selectRunningChecks(database: Database, limit: number): Promise<RealityChecksTable[]> {
  return await database
    .selectFrom("reality_checks")
    .selectAll()
    .where("status", "=", sql.lit("running"))
    .orderBy(sql`random()`)
    .limit(limit)
    .execute();
}

/** Of a check, what is still to be replayed behind a position. */
export async function selectWaiting(
  database: Database,
  checkId: string,
  after: number,
  limit: number,
): Promise<RealityReplaysTable[]> {
  return await database
    .selectFrom("reality_replays")
    .selectAll()
    .where("check_id", "=", checkId)
    .where("position", ">", after)
    .where("error", "is", null)
    .orderBy("position")
    .limit(limit)
    .execute();
}

/** Of a check, what could not be replayed behind a position. */
export async function selectFailed(
  reader: Database,
  checkId: string,
  { after, limit }: { after: number; limit: number },
): Promise<RealityReplaysTable[]> {
  return await reader
    .selectFrom("reality_replays")
    .selectAll()
    .where("check_id", "=", checkId)
    .where("position", ">", after)
    .where("error", "is not", null)
    .orderBy("position")
    .limit(limit)
    .execute();
}

/** How many episodes of each check wait, and how many could not be replayed. */
export async function countReplays(
  reader: Database,
  checkIds: readonly string[],
): Promise<ReadonlyMap<string, { waiting: number; failed: number }>> {
  if (checkIds.length === 0) return new Map();
  const rows = await reader
    .selectFrom("reality_replays")
    .select(({ fn }) => ["check_id", fn.countAll<number>().as("all"), fn.count<number>("error").as("failed")])
    .where("check_id", "in", checkIds)
    .groupBy("check_id")
    .execute();
  return new Map(
    rows.map(({ check_id, all, failed }) => [
      check_id,
      { waiting: Number(all) - Number(failed), failed: Number(failed) },
    ]),
  );
}

/** An episode that was replayed, with what happened, or why it could not be. */
export type Replayed = Pick<RealityReplaysTable, "check_id" | "position"> &
  ({ episode: RealityEpisodesTable; steps: RealityStepsTable[] } | { error: string });

/** Stores what became of replays. One whose check was deleted or cancelled meanwhile leaves nothing. */
export async function storeReplayed(database: Database, replayed: readonly Replayed[]): Promise<void> {
  await database.transaction().execute(async (transaction) => {
    for (const one of replayed)
      await ("error" in one ? markFailed(transaction, one) : insertOne(transaction, one));
  });
}

async function markFailed(
  transaction: Database,
  { check_id, position, error }: Pick<RealityReplaysTable, "check_id" | "position" | "error">,
): Promise<void> {
  await transaction
    .updateTable("reality_replays")
    .set({ error })
    .where("check_id", "=", check_id)
    .where("position", "=", position)
    .execute();
}

async function insertOne(
  transaction: Database,
  { check_id, position, episode, steps }: Extract<Replayed, { episode: unknown }>,
): Promise<void> {
  const { numDeletedRows } = await transaction
    .deleteFrom("reality_replays")
    .where("check_id", "=", check_id)
    .where("position", "=", position)
    .executeTakeFirstOrThrow();
  if (Number(numDeletedRows) === 0) return;
  await insertRows(transaction, "reality_episodes", [episode]);
  for (let at = 0; at < steps.length; at += rowsAtOnce)
    await insertRows(transaction, "reality_steps", steps.slice(at, at + rowsAtOnce));
  await transaction
    .updateTable("reality_checks")
    .set((of) => ({ episodes: of("episodes", "+", 1) }))
    .where("id", "=", check_id)
    .execute();
}

/** Ends the work on a check that is running, or pauses it with a reason. Returns whether it was running. */
export async function stopCheck(
  database: Database,
  id: string,
  to: { status: "paused"; reason: string } | { status: "completed" | "cancelled"; reason: null },
): Promise<boolean> {
  const { numUpdatedRows } = await database
    .updateTable("reality_checks")
    .set(to)
    .where("id", "=", id)
    .where("status", "in", to.status === "cancelled" ? ["running", "paused"] : ["running"])
    .executeTakeFirstOrThrow();
  return Number(numUpdatedRows) > 0;
}

/** What could not be replayed, or was not yet, is tried again. Returns whether the check was paused. */
export async function resumeRows(transaction: Database, id: string): Promise<boolean> {
  const { numUpdatedRows } = await transaction
    .updateTable("reality_checks")
    .set({ status: "running", reason: null })
    .where("id", "=", id)
    .where("status", "=", "paused")
    .executeTakeFirstOrThrow();
  if (Number(numUpdatedRows) === 0) return false;
  await transaction.updateTable("reality_replays").set({ error: null }).where("check_id", "=", id).execute();
  return true;
}

/** Forgets what a check has not replayed. */
export async function deleteWaiting(transaction: Database, checkId: string): Promise<void> {
  await transaction
    .deleteFrom("reality_replays")
    .where("check_id", "=", checkId)
    .where("error", "is", null)
    .execute();
}

/** An environment in its latest revision, of which ended episodes are drawn. */
export interface DrawnEnvironment {
  id: string;
  account_id: string;
  name: string;
  revision: number;
  config: string;
  created_by: string;
}

/** Environments with a real one whose latest revisions have no continuous check yet. */
export async function selectUncheckedEnvironments(database: Database): Promise<DrawnEnvironment[]> {
  return await database
    .selectFrom("environments as environment")
    .innerJoin("environment_revisions as revision", (join) =>
      join
        .onRef("revision.environment_id", "=", "environment.id")
        .onRef("revision.revision", "=", "environment.last_revision"),
    )
    .select([
      ...(["environment.id", "environment.account_id", "environment.name"] as const),
      ...(["revision.revision", "revision.config", "environment.created_by"] as const),
    ])
    .where("revision.config", "like", '%"share":%')
    .where(
      sql<SqlBool>`not exists (select 1 from reality_checks as known where known.environment_id = environment.id
        and known.environment_revision = revision.revision and known.source = 'continuous')`,
    )
    .execute();
}

/** Whether an episode of a check's revision can go on. */
export async function hasOpenEpisodes(
  database: Database,
  { account_id, environment_id, environment_revision }: RealityChecksTable,
): Promise<boolean> {
  const open = await database
    .selectFrom("episodes")
    .select("id")
    .where("account_id", "=", account_id)
    .where("environment_id", "=", environment_id)
    .where("revision", "=", environment_revision)
    .where("status", "=", "open")
    .where("last_active_at", ">=", expiredBefore())
    .limit(1)
    .executeTakeFirst();
  return open !== undefined;
}

/** Ended episodes of a revision that were last used at a time or later and are in no replay of the check. */
export async function selectEndedSince(
  database: Database,
  { id, environment_id, environment_revision }: RealityChecksTable,
  since: Micros,
): Promise<{ id: string }[]> {
  return await database
    .selectFrom("episodes")
    .select("id")
    .where("environment_id", "=", environment_id)
    .where("revision", "=", environment_revision)
    .where("status", "=", sql.lit("finished"))
    .where("last_active_at", ">=", since)
    .where(
      sql<SqlBool>`not exists (select 1 from reality_replays as waiting
        where waiting.check_id = ${id} and waiting.episode_id = episodes.id)`,
    )
    .where(
      sql<SqlBool>`not exists (select 1 from reality_episodes as known
        where known.check_id = ${id} and known.episode_id = episodes.id)`,
    )
    .execute();
}
