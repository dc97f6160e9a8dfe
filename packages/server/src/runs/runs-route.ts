import {
  Run,
  RunCreateRequest,
  RunEvaluatorsRequest,
  RunListQuery,
  RunListResponse,
  RunPath,
} from "@presage/contract";
import { type NamedReference, readReferences } from "../evaluators/old-names.ts";
import type { Registry } from "../evaluators/registry.ts";
import { InvalidEvaluatorsError, toEvaluatorIssues } from "../evaluators/resolve-evaluators.ts";
import { errorResponse, noSuch, page, response } from "../http/describe.ts";
import { readKeysetPage, toCursor } from "../http/request.ts";
import { reply, route } from "../http/route.ts";
import { InvalidRequestError } from "../http/validate.ts";
import type { PriceList } from "../platform/prices.ts";
import type { Store } from "../platform/storage/store.ts";
import type { Deployments } from "../upstream/deployments.ts";
import type { KnownWorlds } from "../worlds/find-world.ts";
import type { ClientCounts } from "./client/client-counts.ts";
import { createRun } from "./create-run.ts";
import examples from "./examples.json" with { type: "json" };
import { type RunQueue, toRun } from "./run.ts";
import {
  addEvaluators,
  cancelRun,
  deleteRun,
  findRun,
  finishRun,
  listRuns,
  pauseRun,
  resumeRun,
  toListedRuns,
} from "./runs.ts";

interface RunServices {
  store: Store;
  registry: Registry;
  deployments: Pick<Deployments, "find">;
  knownWorlds: KnownWorlds;
  clientCounts: ClientCounts;
  runs: RunQueue;
  prices: PriceList;
}

const listOwnRuns = route("GET", "/v1/runs", {
  needs: "read",
  id: "listRuns",
  summary: "List the account's runs",
  description:
    "Returns the runs of the account, newest first, each with the figures that matter most. The list includes experiments that clients make, with the target `external`.",
  query: RunListQuery,
  responses: {
    "200": response(
      "The runs, newest first",
      RunListResponse,
      page({ ...examples.finishedRun, ...examples.headlined }),
    ),
  },
  async handle(services: RunServices, { requester, query }) {
    const filter = { datasetId: query.dataset_id, status: query.status, name: query.name };
    const { rows, next } = await listRuns(services, requester, filter, readKeysetPage(query));
    const data = await toListedRuns(services, requester, rows, services.prices.current());
    return reply(200, { data, next: toCursor(next) });
  },
});

const createOwnRun = route("POST", "/v1/runs", {
  needs: "evaluate",
  id: "createRun",
  summary: "Predict and evaluate a dataset",
  description:
    "Has a deployment, a world or a baseline predict every sample of a dataset's revision, and evaluators judge the predictions. Each verdict is also an evaluation result.",
  body: RunCreateRequest,
  bodyExample: examples.newRun,
  once: "create run",
  responses: { "201": response("The run, which starts soon", Run, examples.run) },
  async handle(services: RunServices, { call, requester, body, once }) {
    const references = readReferences(body);
    const wanted = { ...body, evaluators: references, userId: call.caller.userId };
    const run = await createRun(services, requester, wanted, once).catch((error: unknown) => {
      throw toInvalidRequest(error, references);
    });
    return reply(201, toRun(run));
  },
});

const showRun = route("GET", "/v1/runs/:id", {
  needs: "read",
  id: "getRun",
  summary: "Get one run",
  description: "Returns the run with its progress.",
  params: RunPath,
  responses: { "200": response("The run", Run, examples.run), ...noSuch("run") },
  handle: async (services: RunServices, { requester, params }) =>
    reply(200, toRun(await findRun(services, requester, params.id))),
});

const removeRun = route("DELETE", "/v1/runs/:id", {
  needs: "evaluate",
  id: "deleteRun",
  summary: "Delete a run",
  description: "Deletes the run with its predictions. Its evaluation results stay.",
  params: RunPath,
  responses: { "204": { description: "Deleted" }, ...noSuch("run") },
  async handle(services: RunServices, { requester, params }) {
    await deleteRun(services, requester, params.id);
    return reply(204, undefined);
  },
});

const addRunEvaluators = route("POST", "/v1/runs/:id/evaluators", {
  needs: "evaluate",
  id: "addRunEvaluators",
  summary: "Have a run judged by more evaluators",
  description:
    "The new evaluators judge existing and future predictions. An evaluator that the run has already tries its failed verdicts again. No prediction is repeated.",
  params: RunPath,
  body: RunEvaluatorsRequest,
  bodyExample: { evaluators: [{ evaluator: "state-change" }] },
  responses: {
    "200": response(
      "The run. If it was finished and verdicts are missing now, it resumes",
      Run,
      examples.run,
    ),
    ...noSuch("run"),
    "409": errorResponse(
      "The run was cancelled or failed, its target is external, or it would have too many evaluators",
      "A run may have at most 20 evaluators.",
    ),
  },
  async handle(services: RunServices, { requester, params, body }) {
    const references = readReferences(body);
    const run = await addEvaluators(services, requester, params.id, references).catch((error: unknown) => {
      throw toInvalidRequest(error, references);
    });
    return reply(200, toRun(run));
  },
});

const cancel = changing(cancelRun, {
  path: "/v1/runs/:id/cancel",
  id: "cancelRun",
  summary: "Cancel a run",
  description:
    "Stops the run permanently and keeps its results. Cancelling again changes nothing. An external run is only marked.",
  refused: "The run is finished and cannot be cancelled.",
});
const pause = changing(pauseRun, {
  path: "/v1/runs/:id/pause",
  id: "pauseRun",
  summary: "Pause a run",
  description: "Stops the run until it is resumed.",
  refused: "The run is finished and cannot be paused.",
});
const resume = changing(resumeRun, {
  path: "/v1/runs/:id/resume",
  id: "resumeRun",
  summary: "Resume a run",
  description:
    "Continues a paused run where it stopped. If its deployment failed, it is tried again immediately.",
  refused: "The run is finished and cannot be resumed.",
});
const finish = changing(finishRun, {
  path: "/v1/runs/:id/finish",
  id: "finishRun",
  summary: "Finish a run without its missing predictions",
  description: "Ends a paused run: missing predictions count as failed, and existing ones are evaluated.",
  refused: "The run is cancelled and cannot be finished.",
});

export const runRoutes = [
  listOwnRuns,
  createOwnRun,
  showRun,
  removeRun,
  addRunEvaluators,
  cancel,
  pause,
  resume,
  finish,
];

interface Changing {
  path: string;
  id: string;
  summary: string;
  description: string;
  /** The error message for a run that cannot be changed in this way. */
  refused: string;
}

function changing(change: typeof cancelRun, { path, refused, ...declared }: Changing) {
  return route("POST", path, {
    ...declared,
    needs: "evaluate",
    params: RunPath,
    responses: {
      "200": response("The run", Run, examples.run),
      ...noSuch("run"),
      "409": errorResponse("The run has ended, or its target is external", refused),
    },
    handle: async (services: RunServices, { requester, params }) =>
      reply(200, toRun(await change(services, requester, params.id))),
  });
}

export function toInvalidRequest(error: unknown, references: readonly NamedReference[]): unknown {
  if (!(error instanceof InvalidEvaluatorsError)) return error;
  return new InvalidRequestError(toEvaluatorIssues(error.issues, references), error);
}
