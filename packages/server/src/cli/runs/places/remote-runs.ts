import { connectToServer, type ServerConnection } from "../../connect-to-server.ts";
import type { RunPlace } from "./run-place.ts";

/** The runs of the Presage at `server`. */
export function remoteRuns(server: string, apiKey: string | undefined): RunPlace {
  return runsBehind(connectToServer(server, apiKey));
}

export function runsBehind({ call, origin }: ServerConnection): RunPlace {
  return {
    list: (name) => call(({ runs }) => runs.list({ name })),
    get: (id) => call(({ runs }) => runs.get(id)),
    cancel: (id) => call(({ runs }) => runs.cancel(id)),
    pause: (id) => call(({ runs }) => runs.pause(id)),
    resume: (id) => call(({ runs }) => runs.resume(id)),
    delete: (id) => call(({ runs }) => runs.delete(id)),
    report: (id) => call(({ runs }) => runs.report(id)),
    reportAs: (id, format) => call(({ runs }) => runs.reportAs(id, format)),
    compare: (ids) => call(({ comparisons }) => comparisons.get(ids)),
    findOrigin: async () => origin,
  };
}
