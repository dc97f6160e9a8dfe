import { connectToServer, type ServerConnection } from "../connect-to-server.ts";
import type { DatasetTarget } from "./dataset-target.ts";

/** The datasets of the Presage at `server`. */
export function remoteDatasets(server: string, apiKey: string | undefined): DatasetTarget {
  return datasetsBehind(connectToServer(server, apiKey));
}

export function datasetsBehind({ call }: Pick<ServerConnection, "call">): DatasetTarget {
  return {
    list: () => call(({ datasets }) => datasets.list()),
    create: (name) => call(({ datasets }) => datasets.create({ name })),
    upload: (id, { path, ...options }) =>
      call(({ datasets }) => datasets.upload(id, Bun.file(path), options)),
    uploadEpisodes: (id, selection, append) =>
      call(({ datasets }) => datasets.uploadEpisodes(id, selection, { append })),
    listRevisions: (id) => call(({ datasets }) => datasets.listRevisions(id)),
    delete: (id) => call(({ datasets }) => datasets.delete(id)),
  };
}
