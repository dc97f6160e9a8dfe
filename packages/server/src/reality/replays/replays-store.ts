import { type RawBuilder, type SqlBool, sql } from "kysely";
import { expiredBefore } from "../../environments/episodes/episode.ts";
import { isOfAgent } from "../../environments/episodes/episodes-store.ts";
import { type DeletedBatch, inTimedTransaction } from "../../platform/storage/batches.ts";
import type { Micros } from "../../platform/storage/columns.ts";
import { insertRows } from "../../platform/storage/rows.ts";
import type {
  RealityChecksTable,
  RealityEpisodesTable,
  RealityReplaysTable,
  RealityStepsTable,
} from "../../platform/storage/schema/reality.ts";
import type { Database } from "../../platform/storage/schema/tables.ts";

/** Checks that draw episodes as they end. */
export async function selectContinuousChecks(database: Database): Promise<RealityChecksTable[]> {
  return await database
    .selectFrom("reality_checks")
    .selectAll()
    .where("status", "=", sql.lit("running"))
    .where("source", "=", "continuous")
    .execute();
}

/** Records the time up to which a continuous check has looked for ended episodes. Returns false if another process did meanwhile. */
export async function updateDrawn(
  transaction: Database,
  { id, drawn_until: before }: RealityChecksTable,
  until: Micros,
) {
  const { numUpdatedRows } = await transaction
    .updateTable("reality_checks")
    .set({ drawn_until: until })
    .where("id", "=", id)
    .where("status", "=", "running")
    .where("drawn_until", "=", before)
    .executeTakeFirstOrThrow();
  return Number(numUpdatedRows) > 0;
}

/** Completes a continuous check, unless some of its episodes are still to be replayed. */
export async function completeDrawn(database: Database, id: string) {
  await database
    .updateTable("reality_checks")
    .set({ status: "completed" })
    .where("id", "=", id)
    .where("status", "=", sql.lit("running"))
    .where((of) => of.not(waits(sql`${id}`)))
    .execute();
}

/** An environment in its latest revision, whose ended episodes are drawn. */
export type DrawnEnvironment = Awaited<ReturnType<typeof selectUncheckedEnvironments>>[number];

/** Environments that want continuous checks and whose latest revisions have none yet. */
export async function selectUncheckedEnvironments(database: Database) {
  return await latestRevisions(database)
    .where("revision.config", "like", '%"share":%')
    .where(
      sql<SqlBool>`not exists (select 1 from reality_checks as known
        where known.account_id = environment.account_id and known.environment_revision = revision.revision
        and known.environment_id = environment.id and known.source = 'continuous')`,
    )
    .execute();
}

/** Environments with a limit of false success; also those without checks, whose alarm must end. */
export async function selectWatchedEnvironments(database: Database): Promise<DrawnEnvironment[]> {
  return await latestRevisions(database)
    .where("revision.config", "like", '%"false_success_limit":%')
    .execute();
}

function latestRevisions(database: Database) {
  return database
    .selectFrom("environments as environment")
    .innerJoin("environment_revisions as revision", (join) =>
      join
        .onRef("revision.environment_id", "=", "environment.id")
        .onRef("revision.revision", "=", "environment.last_revision"),
    )
    .select([
      ...(["environment.id", "environment.account_id", "environment.name"] as const),
      ...(["revision.revision", "revision.config", "environment.created_by"] as const),
    ]);
}

/** Whether an episode of a check's revision can still continue. */
export async function hasOpenEpisodes(
  database: Database,
  { account_id, environment_id, environment_revision }: RealityChecksTable,
) {
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

/** The first ended episodes of a revision that were last active at `since` or later and that no replay of the check has. */
export async function selectEndedSince(
  database: Database,
  { id, environment_id, environment_revision }: RealityChecksTable,
  since: Micros,
  limit: number,
) {
  return await database
    .selectFrom("episodes")
    .select(["id", "last_active_at"])
    .where("environment_id", "=", environment_id)
    .where("revision", "=", environment_revision)
    .where("status", "=", sql.lit("finished"))
    .where("last_active_at", ">=", since)
    .where(isOfAgent("id"))
    // A subquery that is read once: no index finds an episode among the waiting ones, which may be thousands.
    .where(
      sql<SqlBool>`id not in (select episode_id from reality_replays
        where check_id = ${id} and episode_id is not null)`,
    )
    .where(
      sql<SqlBool>`not exists (select 1 from reality_episodes as known
        where known.check_id = ${id} and known.episode_id = episodes.id)`,
    )
    .orderBy("last_active_at")
    .limit(limit)
    .execute();
}

/** What to replay: an episode, or the one that is made from a trajectory. */
export type NewReplay = Pick<RealityReplaysTable, "episode_id" | "trajectory_id">;

/** Adds episodes to replay to a check, after those that it has. */
export async function insertReplays(transaction: Database, checkId: string, wanted: readonly NewReplay[]) {
  const last = await lastPosition(transaction, checkId);
  const rows = wanted.map((one, index) => ({
    check_id: checkId,
    position: last + 1 + index,
    error: null,
    ...one,
  }));
  await insertRows(transaction, "reality_replays", rows);
}

async function lastPosition(transaction: Database, checkId: string) {
  const { rows } = await sql<{ last: number | null }>`select max(position) as last from (
    select position from reality_replays where check_id = ${checkId}
    union all select position from reality_episodes where check_id = ${checkId}) as known`.execute(
    transaction,
  );
  return rows[0]?.last ?? 0;
}

/** Whether a check, given by its id, still has episodes to replay. */
const waits = (checkId: RawBuilder<string>) =>
  sql<SqlBool>`exists (select 1 from reality_replays as waiting where waiting.check_id = ${checkId} and waiting.error is null)`;

/** Running checks with work to do, some of them at random, so that none blocks the others. */
export async function selectRunningChecks(database: Database, limit: number): Promise<RealityChecksTable[]> {
  return await database
    .selectFrom("reality_checks")
    .selectAll()
    .where("status", "=", sql.lit("running"))
    .where((of) => of.or([of("source", "!=", "continuous"), waits(sql.ref("reality_checks.id"))]))
    .orderBy(sql`random()`)
    .limit(limit)
    .execute();
}

/** How an error begins if neither a real environment nor a world failed, so that retrying would not help. */
export const unplayable = "It cannot be replayed: ";

/** How many episodes of a check failed after the last replayed one. Unplayable episodes do not count. */
export async function countFailuresInARow(database: Database, checkId: string) {
  const { failed } = await database
    .selectFrom("reality_replays")
    .select(({ fn }) => fn.countAll<number>().as("failed"))
    .where("check_id", "=", checkId)
    .where("error", "not like", `${unplayable}%`)
    .where(
      "position",
      ">",
      sql<number>`(select coalesce(max(position), 0) from reality_episodes where check_id = ${checkId})`,
    )
    .executeTakeFirstOrThrow();
  return failed;
}

/** A check's replays that wait or that failed, after a position. */
export async function selectReplays(
  database: Database,
  checkId: string,
  which: "waiting" | "failed",
  { after, limit }: { after: number; limit: number },
): Promise<RealityReplaysTable[]> {
  return await database
    .selectFrom("reality_replays")
    .selectAll()
    .where("check_id", "=", checkId)
    .where("position", ">", after)
    .where("error", which === "waiting" ? "is" : "is not", null)
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
  return new Map(rows.map(({ check_id, all, failed }) => [check_id, { waiting: all - failed, failed }]));
}

/** An episode that was replayed, with what happened, or the reason why it could not be replayed. */
export type Replayed = Pick<RealityReplaysTable, "check_id" | "position"> &
  ({ episode: RealityEpisodesTable; steps: RealityStepsTable[] } | { error: string });

/** Ends all checks of an account. */
export async function cancelAllChecks(transaction: Database, accountId: string): Promise<void> {
  // The checks' rows first, as when replays are stored, so that the two cannot deadlock.
  await transaction
    .updateTable("reality_checks")
    .set({ status: "cancelled", reason: null })
    .where("account_id", "=", accountId)
    .where("status", "in", ["running", "paused"])
    .execute();
  const ofAccount = transaction.selectFrom("reality_checks").select("id").where("account_id", "=", accountId);
  await transaction.deleteFrom("reality_replays").where("check_id", "in", ofAccount).execute();
}

/** Stores the results of one check's replays. If the check was deleted or cancelled meanwhile, nothing is stored. */
export async function storeReplayed(database: Database, checkId: string, replayed: readonly Replayed[]) {
  await database.transaction().execute(async (transaction) => {
    // Lock the check's row first, as deleting and cancelling do, so that they cannot deadlock.
    if (!(await addEpisodes(transaction, checkId, 0))) return;
    let stored = 0;
    for (const one of replayed) {
      if ("error" in one) await markFailed(transaction, one);
      else stored += await insertOne(transaction, one);
    }
    await addEpisodes(transaction, checkId, stored);
  });
}

/** Returns whether the check still exists. */
async function addEpisodes(transaction: Database, checkId: string, count: number) {
  const { numUpdatedRows } = await transaction
    .updateTable("reality_checks")
    .set((of) => ({ episodes: of("episodes", "+", count) }))
    .where("id", "=", checkId)
    .executeTakeFirstOrThrow();
  return Number(numUpdatedRows) > 0;
}

async function markFailed(
  transaction: Database,
  { check_id, position, error }: Pick<RealityReplaysTable, "check_id" | "position" | "error">,
) {
  await transaction
    .updateTable("reality_replays")
    .set({ error })
    .where("check_id", "=", check_id)
    .where("position", "=", position)
    .execute();
}

/** Returns how many were stored: 0 if another process stored the replay before. */
async function insertOne(
  transaction: Database,
  { check_id, position, episode, steps }: Extract<Replayed, { episode: unknown }>,
) {
  const { numDeletedRows } = await transaction
    .deleteFrom("reality_replays")
    .where("check_id", "=", check_id)
    .where("position", "=", position)
    .executeTakeFirstOrThrow();
  if (Number(numDeletedRows) === 0) return 0;
  await insertRows(transaction, "reality_episodes", [episode]);
  // An episode that was deleted meanwhile keeps no texts.
  if (!(await isThere(transaction, episode.episode_id))) return 1;
  await insertRows(transaction, "reality_steps", steps);
  return 1;
}

async function isThere(transaction: Database, episodeId: string | null) {
  const found = await transaction
    .selectFrom("episodes")
    .select("id")
    .where("id", "=", episodeId)
    .executeTakeFirst();
  return found !== undefined;
}

/** Ends a running check, or pauses it with a reason. Returns whether it was running. */
export async function stopCheck(
  database: Database,
  id: string,
  to: { status: "paused"; reason: string } | { status: "completed" | "cancelled"; reason: null },
) {
  const { numUpdatedRows } = await database
    .updateTable("reality_checks")
    .set(to)
    .where("id", "=", id)
    .where("status", "in", to.status === "cancelled" ? ["running", "paused"] : ["running"])
    .executeTakeFirstOrThrow();
  return Number(numUpdatedRows) > 0;
}

/** Resumes a paused check, including the replays that failed. Returns whether it was paused. */
export async function resumeRows(transaction: Database, id: string) {
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

const lastOfAll = Number.MAX_SAFE_INTEGER;

/** Deletes at most about `limit` rows of a check, the texts first. */
export async function deleteSomeOfCheck(
  database: Database,
  checkId: string,
  limit: number,
): Promise<DeletedBatch<true>> {
  const { result: deleted, heldMs } = await inTimedTransaction(database, async (transaction) => {
    // Lock the check's row first, as storing its replays does, so that they cannot deadlock.
    await addEpisodes(transaction, checkId, 0);
    for (const table of ["reality_steps", "reality_replays", "reality_episodes"] as const) {
      const inOrder = sql`select position from ${sql.table(table)} where check_id = ${checkId} order by position`;
      const { numAffectedRows } = await sql`delete from ${sql.table(table)} where check_id = ${checkId}
        and position <= coalesce((${inOrder} limit 1 offset ${limit - 1}), ${sql.lit(lastOfAll)})`.execute(
        transaction,
      );
      if (Number(numAffectedRows) > 0) return Number(numAffectedRows);
    }
    return 0;
  });
  return { deleted, heldMs, next: deleted > 0 ? true : undefined };
}

/** Deletes the replays of a check that still wait. */
export async function deleteWaiting(transaction: Database, checkId: string) {
  await transaction
    .deleteFrom("reality_replays")
    .where("check_id", "=", checkId)
    .where("error", "is", null)
    .execute();
}
