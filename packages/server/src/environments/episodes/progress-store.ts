import { type SqlBool, sql } from "kysely";
import { doTogether } from "../../platform/storage/batches.ts";
import { prepareStatement } from "../../platform/storage/rows.ts";
import type { Database } from "../../platform/storage/schema/tables.ts";
import { isPostgres } from "../../platform/storage/store.ts";
import { type EpisodeProgress, type StateServices, statusOf } from "./episode.ts";

/**
 * On PostgreSQL another process may have taken the last step, so the database is asked, for many episodes in one round trip. On SQLite
 * another process is there during a restart at most; if it took a step, the next one here cannot be stored, and is taken again.
 */
export function progressReader(database: Database): StateServices["readProgress"] {
  if (isPostgres(database)) {
    const read = doTogether((ids: readonly string[]) => selectProgressOfSome(database, ids));
    return ({ id }) => read(id);
  }
  return async (known) => {
    // A session's pings keep its episode open.
    return statusOf(known) === "open" ? known : await selectProgressOfOne(database, known.id);
  };
}

/** How far an episode is; undefined: there is none. */
export async function selectProgressOfOne(
  database: Database,
  id: string,
): Promise<EpisodeProgress | undefined> {
  return (await progressOfOne(database, [id])).at(0);
}

/** How far each of these episodes is, in one statement; undefined: there is none. PostgreSQL only. */
export async function selectProgressOfSome(
  database: Database,
  ids: readonly string[],
): Promise<(EpisodeProgress | undefined)[]> {
  const found = await progressOfSome(database, [ids]);
  const byId = new Map(found.map((one) => [one.id, one]));
  return ids.map((id) => byId.get(id));
}

const progressColumns = ["id", "status", "steps", "created_at", "last_active_at"] as const;

const progressOfOne = prepareStatement((database) =>
  database.selectFrom("episodes").select(progressColumns).where("id", "=", ""),
);

const progressOfSome = prepareStatement((database) =>
  database.selectFrom("episodes").select(progressColumns).where(sql<SqlBool>`id = any(${""})`),
);
