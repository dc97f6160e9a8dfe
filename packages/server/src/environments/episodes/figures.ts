import type { EpisodeGrouping } from "@presage/contract";
import { doTogether } from "../../platform/storage/batches.ts";
import type { Micros } from "../../platform/storage/columns.ts";
import type { Database } from "../../platform/storage/schema/tables.ts";
import { isPostgres, type Requester, type Store } from "../../platform/storage/store.ts";
import { findEnvironment } from "../environments.ts";
import { expiredBefore, type StateServices, statusOf } from "./episode.ts";
import {
  type EpisodeCounts,
  selectEpisodeCounts,
  selectProgressOfOne,
  selectProgressOfSome,
} from "./figures-store.ts";

export interface WantedFigures {
  by: EpisodeGrouping;
  environment: string | undefined;
  from: Micros | undefined;
  to: Micros | undefined;
}

/** How an account's episodes went, by environment and one thing more. */
export async function countEpisodes(
  services: { store: Store },
  requester: Requester,
  { by, environment, ...times }: WantedFigures,
): Promise<EpisodeCounts[]> {
  const found =
    environment === undefined ? undefined : await findEnvironment(services, requester, environment);
  const counted = { ...times, environmentId: found?.id, expiredBefore: expiredBefore() };
  return await selectEpisodeCounts(services.store.reader(requester), requester.accountId, by, counted);
}

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
