import { CommandError } from "./command-error.ts";
import type { ServerConnection } from "./connect-to-server.ts";
import { checkEvaluatorsRemotely, toReference } from "./evaluate-remotely.ts";
import { remotePlace } from "./remote-place.ts";
import type { Workplace } from "./workplace.ts";

/** The runs of another server, which works on them. */
export function openRemoteWorkplace(connection: ServerConnection): Workplace {
  const { call, origin } = connection;
  return {
    name: `the server at ${origin}`,
    ...remotePlace(connection),
    checkEvaluators: (evaluators) => checkEvaluatorsRemotely(call, evaluators),
    async findDefaultDeployment() {
      const found = (await call(({ deployments }) => deployments.list())).find((one) => one.is_default);
      if (found === undefined) throw new CommandError("The server has no deployment; name a target");
      return found.name;
    },
    create: (wanted, evaluators) =>
      call(({ runs }) => runs.create({ ...wanted, evaluators: evaluators.map(toReference) })),
    async uploadPredictions(id, { path, isGzip }) {
      return await call(({ runs }) => runs.uploadPredictions(id, Bun.file(path), { isGzip }));
    },
    start() {},
    waitUntilEnded: (id, onProgress, signal) =>
      call(({ runs }) => runs.waitUntilEnded(id, { onProgress, signal })),
    async close() {},
  };
}
