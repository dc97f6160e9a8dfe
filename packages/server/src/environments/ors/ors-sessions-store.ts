import { selectClosed } from "../../platform/storage/closed-accounts-store.ts";
import type { Micros } from "../../platform/storage/columns.ts";
import { prepareStatement } from "../../platform/storage/rows.ts";
import type { EpisodesTable, OrsSessionsTable } from "../../platform/storage/schema/runs.ts";
import type { Database } from "../../platform/storage/schema/tables.ts";
import { isPostgres } from "../../platform/storage/store.ts";
import { holdEnvironment } from "../environments-store.ts";
import { insertEpisode } from "../episodes/episodes-store.ts";

/** A session, and its episode if the environment is known. */
export interface NewSession {
  row: OrsSessionsTable;
  episode: EpisodesTable | undefined;
}

/** Stores a session, unless it exists or existed, its account is closed or its environment deleted. Returns whether it was stored. */
export async function insertSession(transaction: Database, { row, episode }: NewSession) {
  if ((await selectClosed(transaction, [row.account_id])).size > 0) return false;
  const played = await transaction
    .selectFrom("episodes")
    .select("id")
    .where("id", "=", row.id)
    .executeTakeFirst();
  if (played !== undefined) return false;
  if (episode !== undefined && !(await holdEnvironment(transaction, episode.environment_id))) return false;
  const inserted = await transaction
    .insertInto("ors_sessions")
    .values(row)
    .onConflict((conflict) => conflict.column("id").doNothing())
    .returning("id")
    .executeTakeFirst();
  if (inserted === undefined) return false;
  if (episode !== undefined) await insertEpisode(transaction, episode);
  return true;
}

export async function selectSession(
  database: Database,
  accountId: string,
  id: string,
): Promise<OrsSessionsTable | undefined> {
  const [session] = await sessionOfId(database, [id, accountId]);
  return session;
}

const sessionOfId = prepareStatement((database) =>
  database.selectFrom("ors_sessions").selectAll().where("id", "=", "").where("account_id", "=", ""),
);

/** A session that has no environment yet, and the episode that starts in one. */
export interface SessionStart {
  environment: string;
  episode: EpisodesTable;
}

/** Starts a session's episode, unless it has one or its environment was deleted. Returns whether it was started. */
export async function startSession(transaction: Database, { environment, episode }: SessionStart) {
  if (!(await holdEnvironment(transaction, episode.environment_id))) return false;
  const named = await transaction
    .updateTable("ors_sessions")
    .set({ environment })
    .where("id", "=", episode.id)
    .where("environment", "is", null)
    .returning("id")
    .executeTakeFirst();
  if (named === undefined) return false;
  await insertEpisode(transaction, episode);
  return true;
}

export async function deleteSessionRow(database: Database, accountId: string, id: string) {
  await database
    .deleteFrom("ors_sessions")
    .where("id", "=", id)
    .where("account_id", "=", accountId)
    .execute();
}

/** Deletes some sessions that were last used before a time. Returns whether there may be more. */
export async function deleteOldSessions(database: Database, before: Micros, limit: number) {
  const deleted = await database
    .deleteFrom("ors_sessions")
    .where("id", "in", (of) =>
      of.selectFrom("ors_sessions").select("id").where("last_used_at", "<", before).limit(limit),
    )
    .returning("id")
    .execute();
  return deleted.length === limit;
}

/** How many of a session's steps have had their results sent in full. */
export interface Delivery {
  id: string;
  steps: number;
  at: Micros;
}

export async function markDelivered(transaction: Database, deliveries: readonly Delivery[]) {
  // Always in the same order, so that two transactions cannot deadlock.
  for (const { id, steps, at } of deliveries.toSorted((a, b) => (a.id < b.id ? -1 : 1)))
    await transaction
      .updateTable("ors_sessions")
      .set({ delivered_steps: steps, last_used_at: at })
      .where("id", "=", id)
      .where("delivered_steps", "<", steps)
      .execute();
}

/** Sessions that were used, and the time of use. */
export interface Uses {
  ids: readonly string[];
  at: Micros;
}

const idsAtOnce = 500;

/** Records uses of sessions and their episodes. Rows that another transaction locks are skipped: they are in use. */
export async function markUsed(transaction: Database, { ids, at }: Uses) {
  const skips = isPostgres(transaction);
  for (let from = 0; from < ids.length; from += idsAtOnce) {
    const some = ids.slice(from, from + idsAtOnce);
    await transaction
      .updateTable("ors_sessions")
      .set({ last_used_at: at })
      .where("id", "in", (of) =>
        of
          .selectFrom("ors_sessions")
          .select("id")
          .where("id", "in", some)
          .where("last_used_at", "<", at)
          .$if(skips, (query) => query.forUpdate().skipLocked()),
      )
      .execute();
    await transaction
      .updateTable("episodes")
      .set({ last_active_at: at })
      .where("id", "in", (of) =>
        of
          .selectFrom("episodes")
          .select("id")
          .where("id", "in", some)
          .where("status", "=", "open")
          .where("last_active_at", "<", at)
          .$if(skips, (query) => query.forUpdate().skipLocked()),
      )
      .execute();
  }
}
