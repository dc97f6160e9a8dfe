import { doTogether } from "../../platform/storage/do-together.ts";
import { isPostgres } from "../../platform/storage/is-postgres.ts";
import type { Database } from "../../platform/storage/schema/tables.ts";
import { statusOf } from "./episode.ts";
import { type EpisodeProgress, selectProgressOfOne, selectProgressOfSome } from "./progress-store.ts";

/** How far an episode is that this process knows; undefined: it was deleted. */
export type ReadProgress = (known: EpisodeProgress) => Promise<EpisodeProgress | undefined>;

/**
 * On PostgreSQL another process may have taken the last step, so the database is asked, for many episodes in one round trip. On SQLite
 * another process is there during a restart at most; if it took a step, the next one here cannot be stored, and is taken again.
 */
export function progressReader(database: Database): ReadProgress {
  if (isPostgres(database)) {
    const read = doTogether((ids: readonly string[]) => selectProgressOfSome(database, ids));
    return ({ id }) => read(id);
  }
  return async (known) => {
    // A session's pings keep its episode open.
    return statusOf(known) === "open" ? known : await selectProgressOfOne(database, known.id);
  };
}
