import type { Run, RunCreateRequest, RunUpload } from "@presage/contract";
import type { Config } from "../config/config.ts";
import type { WantedEvaluator } from "../evaluators/resolve-evaluators.ts";
import { inMemoryUrl } from "../platform/storage/sqlite.ts";
import { NoDatabaseError } from "../platform/storage/store-error.ts";
import { connectToServer } from "./connect-to-server.ts";
import { openLocalWorkplace } from "./local-workplace.ts";
import type { Place } from "./place.ts";
import { openRemoteWorkplace } from "./remote-workplace.ts";
import { connectToRunningServer } from "./server-file.ts";

/** What a run is made with, besides its evaluators. */
export type WantedRun = Omit<RunCreateRequest, "evaluators">;

export interface PredictionsFile {
  path: string;
  isGzip: boolean;
}

/** A place where runs are made. */
export interface Workplace extends Place {
  /** Where runs are written, for people. */
  name: string;
  /** Refuses evaluators that cannot be used, before anything is stored. */
  checkEvaluators(evaluators: readonly WantedEvaluator[]): Promise<void>;
  findDefaultDeployment(): Promise<string>;
  create(wanted: WantedRun, evaluators: readonly WantedEvaluator[]): Promise<Run>;
  uploadPredictions(id: string, file: PredictionsFile): Promise<Pick<RunUpload, "warnings">>;
  /** Makes sure that a process works on a run. */
  start(id: string): void;
  /** Resolves once a run has ended. What `onProgress` throws ends the waiting. */
  waitUntilEnded(id: string, onProgress: (run: Run) => void, signal: AbortSignal): Promise<Run>;
  /** Stops the work of this process. */
  close(): Promise<void>;
}

interface OpenWorkplaceOptions {
  server: string | undefined;
  evaluators: readonly WantedEvaluator[];
  /** Whether a database may be created: the command needs nothing of it. */
  mayCreate: boolean;
}

/** Opens another server, the one that runs on the configured database, or that database. */
export async function openWorkplace(
  config: Config,
  { server, evaluators, mayCreate }: OpenWorkplaceOptions,
): Promise<Workplace> {
  if (server !== undefined) return openRemoteWorkplace(connectToServer(server, config.clientApiKey));
  const running = await connectToRunningServer(config);
  if (running !== undefined) return openRemoteWorkplace(running);
  try {
    return await openLocalWorkplace(config, { mustExist: true });
  } catch (error) {
    if (!(error instanceof NoDatabaseError && mayCreate)) throw error;
    // No database is created for a command that is refused: one in memory is as empty, and refuses the same.
    const empty = await openLocalWorkplace({ ...config, databaseUrl: inMemoryUrl });
    await empty.checkEvaluators(evaluators).finally(() => empty.close());
    return await openLocalWorkplace(config);
  }
}
