import type {
  Comparison,
  Dataset,
  DatasetFormat,
  DatasetRevision,
  EpisodeSelection,
  Run,
  RunReport,
} from "@presage/contract";
import type { Config } from "../config/config.ts";
import { CommandError } from "./command-error.ts";
import { connectToServer } from "./connect-to-server.ts";
import { localDatasets } from "./local-datasets.ts";
import { localRuns } from "./local-runs.ts";
import { remotePlace } from "./remote-place.ts";
import { withDatabase } from "./with-database.ts";

/** What a command works on: another server, or what the owner has in the configured database. */
export interface Place {
  datasets: PlaceDatasets;
  runs: PlaceRuns;
}

export interface DatasetFile {
  path: string;
  /** Absent: the first line tells. */
  format: DatasetFormat | undefined;
  isGzip: boolean;
}

export interface PlaceDatasets {
  /** Newest first. */
  list(): Promise<Dataset[]>;
  create(name: string): Promise<Dataset>;
  upload(id: string, file: DatasetFile): Promise<DatasetRevision>;
  /** Makes a revision of episodes, behind the lines of the latest one if wanted. */
  uploadEpisodes(id: string, selection: EpisodeSelection, isAppended: boolean): Promise<DatasetRevision>;
  /** The highest number first. */
  listRevisions(id: string): Promise<DatasetRevision[]>;
  delete(id: string): Promise<void>;
}

export interface PlaceRuns {
  /** Newest first; of one name, or all. */
  list(name?: string): Promise<Run[]>;
  get(id: string): Promise<Run>;
  cancel(id: string): Promise<Run>;
  pause(id: string): Promise<Run>;
  resume(id: string): Promise<Run>;
  finish(id: string): Promise<Run>;
  delete(id: string): Promise<void>;
  report(id: string): Promise<RunReport>;
  reportAs(id: string, format: "html" | "md"): Promise<string>;
  /** The first is the reference. */
  compare(ids: readonly string[]): Promise<Comparison>;
  /** Where the dashboard is; undefined while no server runs. */
  findOrigin(): Promise<string | undefined>;
}

export interface PlaceOptions {
  server?: string | undefined;
}

export async function withPlace(
  config: Config,
  { server }: PlaceOptions,
  work: (place: Place) => Promise<void>,
): Promise<void> {
  if (server !== undefined) return await work(remotePlace(connectToServer(server, config.clientApiKey)));
  await withDatabase(config, (store) =>
    work({ datasets: localDatasets(store, config), runs: localRuns(store, config) }),
  );
}

/** A dataset by its name or id. */
export async function findDataset(
  { datasets }: Pick<Place, "datasets">,
  nameOrId: string,
): Promise<Dataset | undefined> {
  const all = await datasets.list();
  return all.find(({ name }) => name === nameOrId) ?? all.find(({ id }) => id === nameOrId.toLowerCase());
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const maxNamedIds = 5;

/** A run by its id, or by a name that no other run has. */
export async function findRun({ runs }: Pick<Place, "runs">, nameOrId: string): Promise<Run> {
  if (uuid.test(nameOrId)) return await runs.get(nameOrId.toLowerCase());
  const [run, ...others] = await runs.list(nameOrId);
  if (run === undefined) throw new CommandError(`There is no run ${nameOrId}.`);
  if (others.length === 0) return run;
  const ids = [run, ...others].slice(0, maxNamedIds).map(({ id }) => `  ${id}`);
  throw new CommandError(
    [`${others.length + 1} runs are named ${nameOrId}. Give an id; the newest are:`, ...ids].join("\n"),
  );
}
