import type { ServerConnection } from "./connect-to-server.ts";
import type { Place } from "./place.ts";

/** What another server has of the key's account. */
export function remotePlace({ call, origin }: ServerConnection): Place {
  return {
    datasets: {
      list: () => call(({ datasets }) => datasets.list()),
      create: (name) => call(({ datasets }) => datasets.create({ name })),
      upload: (id, { path, ...options }) =>
        call(({ datasets }) => datasets.upload(id, Bun.file(path), options)),
      uploadEpisodes: (id, selection, append) =>
        call(({ datasets }) => datasets.uploadEpisodes(id, selection, { append })),
      listRevisions: (id) => call(({ datasets }) => datasets.listRevisions(id)),
      delete: (id) => call(({ datasets }) => datasets.delete(id)),
    },
    runs: {
      list: (name) => call(({ runs }) => runs.list({ name })),
      get: (id) => call(({ runs }) => runs.get(id)),
      cancel: (id) => call(({ runs }) => runs.cancel(id)),
      pause: (id) => call(({ runs }) => runs.pause(id)),
      resume: (id) => call(({ runs }) => runs.resume(id)),
      finish: (id) => call(({ runs }) => runs.finish(id)),
      delete: (id) => call(({ runs }) => runs.delete(id)),
      report: (id) => call(({ runs }) => runs.report(id)),
      reportAs: (id, format) => call(({ runs }) => runs.reportAs(id, format)),
      compare: (ids) => call(({ comparisons }) => comparisons.get(ids)),
      findOrigin: async () => origin,
    },
  };
}
