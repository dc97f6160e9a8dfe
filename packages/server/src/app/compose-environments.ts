import { type EpisodeSelection, lateReservedNames } from "@presage/contract";
import type { Config } from "../config/config.ts";
import { selectUsedNames } from "../environments/environments-store.ts";
import { createKnownEpisodes, progressReader } from "../environments/episodes/episode.ts";
import { readEpisodeLines } from "../environments/episodes/episode-lines.ts";
import { applyWrites, type EpisodeWrite } from "../environments/episodes/episode-writes-store.ts";
import { createStartTurns, type StartServices } from "../environments/episodes/start-episode.ts";
import { createKnownSessions, createSessionIds, sweepSessions } from "../environments/ors/ors-sessions.ts";
import type { Delivery } from "../environments/ors/ors-sessions-store.ts";
import type { CallServices } from "../environments/ors/take-call.ts";
import type { Log } from "../platform/observability/logger.ts";
import { doTogether, usualIntervalMs } from "../platform/storage/batches.ts";
import { startLooking } from "../platform/storage/leases.ts";
import type { Requester, Store } from "../platform/storage/store.ts";
import { logFailure, type OpenedStore } from "./storage.ts";

export interface ComposedEnvironments
  extends Pick<StartServices, "startTurns" | "writeStart">,
    Pick<CallServices, "knownEpisodes" | "readProgress" | "writeStep"> {
  /** The lines of a dataset in which each of the selected episodes is a trajectory. */
  episodeLines(requester: Requester, selection: EpisodeSelection): AsyncIterable<Uint8Array>;
  ors: CallServices["ors"] & {
    /** Notes that results were sent whole; notes of many sessions share a commit. */
    markDelivered(delivery: Delivery): Promise<unknown>;
  };
  dispose(): Promise<void>;
}

const sweepIntervalMs = 3_600_000;

/** The services for episodes and sessions while the server runs. `sessionSecret` is for the ids of sessions; all processes on the database share it. */
export function composeEnvironments(
  { patience }: Pick<Config, "patience">,
  log: Log,
  store: Store & Pick<OpenedStore, "writers">,
  sessionSecret: string,
): ComposedEnvironments {
  const { database, writers } = store;
  const write = doTogether<EpisodeWrite, boolean>(
    (writes) => writers?.live.send("episodes", JSON.stringify(writes)) ?? applyWrites(database, writes),
  );
  const stopping = new AbortController();
  const known = createKnownSessions({
    intervalMs: usualIntervalMs * patience,
    async write(uses) {
      await write({ uses });
    },
    onFailure: (error, isFirst) =>
      logFailure(log, error, "could not write last uses of sessions; will retry", isFirst),
  });
  const sweeper = startLooking({
    look: (signal) => sweepSessions(database, signal),
    intervalMs: sweepIntervalMs,
    onFailure: (error) => logFailure(log, error, "could not delete old sessions; will retry"),
  });
  return {
    knownEpisodes: createKnownEpisodes(),
    startTurns: createStartTurns(),
    readProgress: progressReader(database),
    ors: {
      ids: createSessionIds(sessionSecret),
      known,
      running: new Map(),
      storeSession: (session) => write({ session }),
      startSession: (start) => write({ start }),
      markDelivered: (delivery) => write({ delivery }),
      signal: stopping.signal,
    },
    writeStart: (episode) => write({ episode }),
    writeStep: (step) => write({ step }),
    episodeLines: (requester, selection) => readEpisodeLines({ store }, requester, selection),
    async dispose() {
      stopping.abort();
      await sweeper.stop();
      await known.stop();
    },
  };
}

/** Warns of environments that clients can no longer reach at their old paths. */
export async function warnOfReservedNames(
  { database }: Pick<Store, "database">,
  { logger }: Pick<Log, "logger">,
): Promise<void> {
  const environments = await selectUsedNames(database, lateReservedNames);
  if (environments.length > 0)
    logger.warn(
      { environments },
      "Presage now uses paths that begin with these names itself: the environments exist, but not for ORS at /NAME",
    );
}
