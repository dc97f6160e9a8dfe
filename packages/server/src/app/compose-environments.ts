import { type EpisodeSelection, lateReservedNames } from "@presage/contract";
import type { Config } from "../config/config.ts";
import { parseRealEnvironments } from "../config/real-environments.ts";
import { readSettingsFile } from "../config/yaml-file.ts";
import { selectUsedNames } from "../environments/environments-store.ts";
import { createKnownEpisodes, progressReader } from "../environments/episodes/episode.ts";
import { readEpisodeLines } from "../environments/episodes/episode-lines.ts";
import { applyWrites, type EpisodeWrite } from "../environments/episodes/episode-writes-store.ts";
import { createStartTurns, type StartServices } from "../environments/episodes/start-episode.ts";
import { type JudgeServices, matches } from "../environments/judge.ts";
import { createKnownSessions, createSessionIds, sweepSessions } from "../environments/ors/ors-sessions.ts";
import type { Delivery } from "../environments/ors/ors-sessions-store.ts";
import type { CallServices } from "../environments/ors/take-call.ts";
import type { Log, Logger } from "../platform/observability/logger.ts";
import { doTogether } from "../platform/storage/batches.ts";
import { startSweeper } from "../platform/storage/leases.ts";
import type { Requester, Store } from "../platform/storage/store.ts";
import type { RealEnvironmentSettings, RealEnvironments } from "../reality/real/real-environment.ts";
import { createRealEnvironments } from "../reality/real/real-environments.ts";
import { readAgain } from "./compose-deployments.ts";
import { logFailure, type Writers } from "./storage.ts";
import { shareOf } from "./workers.ts";

export interface ComposedEnvironments
  extends Pick<StartServices, "startTurns" | "writeStart">,
    Pick<CallServices, "knownEpisodes" | "readProgress" | "writeStep"> {
  /** The lines of a dataset in which each of some episodes is a trajectory. */
  episodeLines(requester: Requester, selection: EpisodeSelection): AsyncIterable<Uint8Array>;
  ors: CallServices["ors"] & {
    /** Notes that results were sent whole; those of many sessions share a commit. */
    markDelivered(delivery: Delivery): Promise<unknown>;
  };
  dispose(): Promise<void>;
}

const sweepIntervalMs = 3_600_000;

/** What episodes and sessions need while the server runs. `sessionSecret` is of the ids of sessions; all processes on the database share it. */
export function composeEnvironments(
  log: Log,
  store: Store & { writers: Writers | undefined },
  sessionSecret: string,
): ComposedEnvironments {
  const { database, writers } = store;
  const write = doTogether<EpisodeWrite, boolean>(
    (writes) => writers?.live.send("episodes", JSON.stringify(writes)) ?? applyWrites(database, writes),
  );
  const stopping = new AbortController();
  const known = createKnownSessions(
    async (uses) => {
      await write({ uses });
    },
    (error, isFirst) => logFailure(log, error, "could not write last uses of sessions; will retry", isFirst),
  );
  const sweeper = startSweeper({
    sweep: (signal) => sweepSessions(database, signal),
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

export interface ComposedRealEnvironments {
  realEnvironments: RealEnvironments;
  /** Reads the file again. A file with an issue changes nothing and is logged. */
  reread(): Promise<void>;
}

/** The real environments of the file; none without one. */
export async function composeRealEnvironments(
  config: Config,
  logger: Pick<Logger, "info" | "error">,
  { runEvaluator }: Pick<JudgeServices, "runEvaluator">,
): Promise<ComposedRealEnvironments> {
  // Texts of real environments share the threads as if they were of one more account.
  const requester = { accountId: "real environments", signal: new AbortController().signal };
  const realEnvironments = createRealEnvironments(await readRealEnvironments(config), (pattern, text) =>
    matches({ runEvaluator }, requester, pattern, text),
  );
  return {
    realEnvironments,
    reread: () =>
      readAgain(logger, "real environments", async () => {
        realEnvironments.replace(await readRealEnvironments(config));
        return { realEnvironments: realEnvironments.all().map(({ name }) => name) };
      }),
  };
}

export async function readRealEnvironments({
  realEnvironments: file,
  workers,
}: Pick<Config, "realEnvironments" | "workers">): Promise<RealEnvironmentSettings[]> {
  if (file === undefined) return [];
  const text = await readSettingsFile("PRESAGE_REAL_ENVIRONMENTS", file.path);
  return parseRealEnvironments(file.path, text, file.environment).map((settings) => ({
    ...settings,
    maxInFlight: shareOf(settings.maxInFlight, workers),
  }));
}

/** Warns of environments whose clients do not find them where they did. */
export async function warnOfReservedNames(
  { database }: Pick<Store, "database">,
  { logger }: Pick<Log, "logger">,
): Promise<void> {
  const environments = await selectUsedNames(database, lateReservedNames);
  if (environments.length > 0)
    logger.warn(
      { environments },
      "paths that begin with these names are Presage's own now: the environments are there, but not for ORS at /NAME",
    );
}
