import { type SqlBool, sql } from "kysely";
import { expiredBefore } from "../../environments/episodes/episode.ts";
import type { Micros } from "../../platform/storage/columns.ts";
import type { RealityChecksTable } from "../../platform/storage/schema/reality.ts";
import type { Database } from "../../platform/storage/schema/tables.ts";
import { waits } from "./replays-store.ts";

/** Checks that draw episodes as they end. */
export async function selectContinuousChecks(database: Database): Promise<RealityChecksTable[]> {
  return await database
    .selectFrom("reality_checks")
    .selectAll()
    .where("status", "=", sql.lit("running"))
    .where("source", "=", "continuous")
    .execute();
}

/** Notes until when a continuous check has looked for ended episodes. Returns false if another process did so meanwhile. */
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

/** An environment in its latest revision, of which ended episodes are drawn. */
export type DrawnEnvironment = Awaited<ReturnType<typeof selectUncheckedEnvironments>>[number];

/** Environments with a real one whose latest revisions have no continuous check yet. */
export async function selectUncheckedEnvironments(database: Database) {
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
        and known.account_id = environment.account_id and known.environment_revision = revision.revision
        and known.source = 'continuous')`,
    )
    .execute();
}

/** Whether an episode of a check's revision can go on. */
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

/** Ended episodes of a revision that were last used at a time or later and are in no replay of the check. */
export async function selectEndedSince(
  database: Database,
  { id, environment_id, environment_revision }: RealityChecksTable,
  since: Micros,
) {
  return await database
    .selectFrom("episodes")
    .select("id")
    .where("environment_id", "=", environment_id)
    .where("revision", "=", environment_revision)
    .where("status", "=", sql.lit("finished"))
    .where("last_active_at", ">=", since)
    // Read once: no index finds an episode among those that wait, which may be thousands.
    .where(
      sql<SqlBool>`id not in (select episode_id from reality_replays
        where check_id = ${id} and episode_id is not null)`,
    )
    .where(
      sql<SqlBool>`not exists (select 1 from reality_episodes as known
        where known.check_id = ${id} and known.episode_id = episodes.id)`,
    )
    .execute();
}
