import type { Dataset, DatasetFormat, DatasetRevision, EpisodeSelection } from "@presage/contract";
import type { Config } from "../../config/config.ts";
import { localDatasets } from "./local-datasets.ts";
import { remoteDatasets } from "./remote-datasets.ts";

export interface DatasetFile {
  path: string;
  /** Absent: the first line tells. */
  format: DatasetFormat | undefined;
  isGzip: boolean;
}

/** The datasets of one place. */
export interface DatasetTarget {
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

export interface TargetOptions {
  server?: string;
}

/** Works on the datasets of another server, or on the owner's in the configured database. */
export async function withDatasets(
  config: Config,
  { server }: TargetOptions,
  work: (target: DatasetTarget) => Promise<void>,
): Promise<void> {
  if (server === undefined) await localDatasets(config, work);
  else await work(remoteDatasets(server, config.clientApiKey));
}

/** A dataset by its name or id. */
export async function findByName(target: DatasetTarget, nameOrId: string): Promise<Dataset | undefined> {
  const all = await target.list();
  return all.find(({ name }) => name === nameOrId) ?? all.find(({ id }) => id === nameOrId.toLowerCase());
}
