import {
  defaultPageLimit,
  EnvironmentPath,
  EnvironmentReality,
  EnvironmentRealityQuery,
  EpisodePath,
  EpisodeReality,
  RealEnvironmentListResponse,
  type RealEnvironmentStatus,
  RealityCheck,
  RealityCheckDetail,
  RealityCheckListQuery,
  RealityCheckListResponse,
  RealityCheckPath,
  RealityCheckRequest,
  RealityCheckRunRequest,
  RealityEpisodeListQuery,
  RealityEpisodeListResponse,
  RealityPair,
  RealityPairsQuery,
  Run,
} from "@presage/contract";
import { bytesOfEpisode } from "../datasets/upload/upload-route.ts";
import type { RealityServices } from "../environments/find-environment.ts";
import { readReferences } from "../evaluators/old-names.ts";
import { keepOpen } from "../http/call.ts";
import { errorResponse, idempotencyHeader, noSuch, page, response } from "../http/describe.ts";
import type { HttpServices } from "../http/exchange.ts";
import { reserveStored } from "../http/memory.ts";
import { readBody, readKeysetPage, readOnce, toCursor } from "../http/request.ts";
import { reply, route } from "../http/route.ts";
import { InvalidRequestError, valueError } from "../http/validate.ts";
import { InvalidFieldError, ServiceError } from "../platform/errors.ts";
import { toIsoInstant } from "../platform/storage/columns.ts";
import type { Store } from "../platform/storage/store.ts";
import runExamples from "../runs/examples.json" with { type: "json" };
import { toRun } from "../runs/run.ts";
import { toInvalidRequest } from "../runs/runs-route.ts";
import { type CheckRunServices, runOfCheck } from "./check-run.ts";
import {
  type CheckServices,
  cancelCheck,
  createCheck,
  deleteCheck,
  findCheck,
  readPairLines,
  resumeCheck,
} from "./checks.ts";
import {
  countRealCharacters,
  selectChecks,
  selectEpisodePage,
  selectRealSteps,
  selectReplayOf,
} from "./checks-store.ts";
import examples from "./examples.json" with { type: "json" };
import type { RealEnvironment, RealEnvironments } from "./real/real-environment.ts";
import { countReplays, selectReplays } from "./replays/replays-store.ts";
import {
  countedCheck,
  describeCheck,
  describeEnvironment,
  toCheck,
  toEpisodeReality,
  toFailedEpisode,
  toRealityEpisode,
} from "./show-check.ts";

const listRealEnvironments = route("GET", "/v1/real-environments", {
  needs: "read",
  id: "listRealEnvironments",
  summary: "List the real environments",
  description:
    "Lists the real environments that the operator of the server has declared, as the answering process sees them.",
  responses: {
    "200": response("The real environments", RealEnvironmentListResponse, examples.realEnvironments),
  },
  async handle({ realEnvironments }: { realEnvironments: RealEnvironments }) {
    return reply(200, { data: realEnvironments.all().map(toStatus) });
  },
});

export const realEnvironmentRoutes = [listRealEnvironments];

function toStatus(environment: RealEnvironment): RealEnvironmentStatus {
  const { name, protocol, maxInFlight } = environment;
  const failure = environment.lastFailure();
  return {
    name,
    protocol,
    in_flight: environment.inFlight(),
    max_in_flight: maxInFlight,
    last_failure: failure === undefined ? null : { ...failure, at: toIsoInstant(failure.at) },
  };
}

/** The services that reading needs. */
interface Services {
  store: Store;
}

const createRealityCheck = route("POST", "/v1/reality-checks", {
  needs: "evaluate",
  id: "createRealityCheck",
  summary: "Compare simulated with real outcomes",
  description:
    "Says how often success in simulation is real. The two outcomes of episodes are known (`pairs`), or they are determined in the background: `episodes` sends the actions of ended episodes to the real environment that their environment names, reset to the same task; `dataset_id` lets the environment play the actions of recorded trajectories. A real environment that ends earlier than the actions, or goes on after them, is an outcome; one that fails is not, and its episodes are counted separately.",
  query: RealityPairsQuery,
  more: {
    requestParams: { query: RealityPairsQuery, header: idempotencyHeader },
    requestBody: {
      required: true,
      description: "Or one pair per line, optionally gzip-compressed, with all other fields in the query.",
      content: {
        "application/json": {
          schema: RealityCheckRequest,
          example: examples.newCheck,
        },
        "application/x-ndjson": { schema: RealityPair, example: examples.pair },
      },
    },
  },
  responses: { "201": response("The reality check", RealityCheck, { ...examples.check, episodes: 1 }) },
  async handle(services: CheckServices & Pick<HttpServices, "settings">, { call, requester, query }) {
    const lines = await readPairLines(call, query);
    const body = lines ?? (await readBody(call, RealityCheckRequest, services.settings.maxBodyBytes));
    const once = readOnce(call, "create reality check", body);
    const wanted = { ...body, userId: call.caller.userId };
    const check = await createCheck(services, requester, wanted, once).catch((error: unknown) => {
      if (lines === undefined || !(error instanceof InvalidFieldError)) throw error;
      throw new InvalidRequestError([valueError(["query", ...error.path], error.message)]);
    });
    return reply(201, await countedCheck(services, requester, check));
  },
});

const listRealityChecks = route("GET", "/v1/reality-checks", {
  needs: "read",
  id: "listRealityChecks",
  summary: "List reality checks",
  description: "Lists the account's reality checks, newest first.",
  query: RealityCheckListQuery,
  responses: { "200": response("The reality checks", RealityCheckListResponse, page(examples.check)) },
  async handle({ store }: Services, { requester, query }) {
    const reader = store.briefReader(requester);
    const { accountId } = requester;
    const { rows, next } = await selectChecks(reader, accountId, query, readKeysetPage(query));
    const counts = await countReplays(
      reader,
      rows.map(({ id }) => id),
    );
    return reply(200, { data: rows.map((row) => toCheck(row, counts)), next: toCursor(next) });
  },
});

const getRealityCheck = route("GET", "/v1/reality-checks/:id", {
  needs: "read",
  id: "getRealityCheck",
  summary: "Show a reality check",
  description:
    "Returns a reality check with its figures: how often success in simulation is success in reality, with intervals that are clustered by task.",
  params: RealityCheckPath,
  responses: {
    "200": response("The reality check", RealityCheckDetail, {
      ...examples.check,
      figures: examples.figures,
    }),
    ...noSuch("reality check"),
  },
  async handle(services: Services, { reserve, requester, params: { id } }) {
    return reply(200, await describeCheck(services, requester, id, reserve));
  },
});

const deleteRealityCheck = route("DELETE", "/v1/reality-checks/:id", {
  needs: "evaluate",
  id: "deleteRealityCheck",
  summary: "Delete a reality check",
  description:
    "Deletes a reality check. Its episodes stay. A check of many episodes is deleted step by step: after a time-out, send the request again.",
  params: RealityCheckPath,
  responses: {
    "204": { description: "It is deleted" },
    "409": errorResponse(
      "It draws the episodes of its environment's latest revision",
      "It draws from the latest revision of its environment, and would be created again. Cancel it; once the environment has another revision it can be deleted.",
    ),
    ...noSuch("reality check"),
  },
  async handle(services: Services, { requester, params: { id } }) {
    await deleteCheck(services, requester, id);
    return reply(204, undefined);
  },
});

/** A route that cancels or resumes a check. */
const changeRoute = (
  verb: "cancel" | "resume",
  change: typeof cancelCheck,
  description: string,
  refusal: Parameters<typeof errorResponse>,
) =>
  route("POST", `/v1/reality-checks/:id/${verb}`, {
    needs: "evaluate",
    id: `${verb}RealityCheck`,
    summary: `${verb === "cancel" ? "Cancel" : "Resume"} a reality check`,
    description,
    params: RealityCheckPath,
    responses: {
      "200": response("The reality check", RealityCheck, {
        ...examples.check,
        status: verb === "cancel" ? "cancelled" : "running",
      }),
      "409": errorResponse(...refusal),
      ...noSuch("reality check"),
    },
    async handle(services: CheckServices, { requester, params: { id } }) {
      await change(services, requester, id);
      const changed = await countedCheck(services, requester, await findCheck(services, requester, id));
      services.replays.wake();
      return reply(200, changed);
    },
  });

const cancelRealityCheck = changeRoute(
  "cancel",
  cancelCheck,
  "Ends a reality check early. Replayed episodes stay.",
  ["It has ended", "The reality check has ended."],
);
const resumeRealityCheck = changeRoute(
  "resume",
  resumeCheck,
  "Resumes a paused reality check. Episodes that could not be replayed are tried again.",
  ["It is not paused", "Only a paused reality check can be resumed; this one is completed."],
);

const listRealityEpisodes = route("GET", "/v1/reality-checks/:id/episodes", {
  needs: "read",
  id: "listRealityEpisodes",
  summary: "List the episodes of a reality check",
  description:
    "Lists a reality check's episodes with how each ended in simulation and in reality, by position.",
  params: RealityCheckPath,
  query: RealityEpisodeListQuery,
  responses: {
    "200": response("The episodes", RealityEpisodeListResponse, page(examples.episode)),
    ...noSuch("reality check"),
  },
  async handle(services: Services, { requester, params: { id }, query }) {
    await findCheck(services, requester, id);
    const limit = Number(query.limit ?? defaultPageLimit);
    const wanted = { after: Number(query.after ?? 0), limit: limit + 1 };
    const reader = services.store.briefReader(requester);
    const falseSuccesses = query.show === "false-successes";
    const found =
      query.show === "failed"
        ? (await selectReplays(reader, id, "failed", wanted)).map(toFailedEpisode)
        : (await selectEpisodePage(reader, id, { ...wanted, falseSuccesses })).map(toRealityEpisode);
    const data = found.slice(0, limit);
    const next = found.length > limit ? String(data.at(-1)?.position) : null;
    return reply(200, { data, next });
  },
});

const getEpisodeReality = route("GET", "/v1/episodes/:id/reality", {
  needs: "read",
  id: "getEpisodeReality",
  summary: "Show what really happened to an episode's actions",
  description:
    "Returns the answers of the real environment, or of a recording, to the actions of an episode, from its newest reality check.",
  params: EpisodePath,
  responses: {
    "200": response("What really happened", EpisodeReality, examples.replayed),
    ...noSuch("replay"),
  },
  async handle({ store }: Services, { call, requester, params: { id } }) {
    const reader = store.briefReader(requester);
    const found = await selectReplayOf(reader, requester.accountId, id);
    if (found === undefined)
      throw new ServiceError("not_found", "No reality check has replayed the episode.");
    reserveStored(call.exchange, await countRealCharacters(reader, found));
    return reply(200, toEpisodeReality(found, await selectRealSteps(reader, found)));
  },
});

const getEnvironmentReality = route("GET", "/v1/environments/:name/reality", {
  needs: "read",
  id: "getEnvironmentReality",
  summary: "How real an environment's successes are",
  description:
    "The figures of all reality checks of an environment together, from its newest 100,000 episodes; if an episode was checked again, only the last check counts. The state is counted from the first check.",
  params: EnvironmentPath,
  query: EnvironmentRealityQuery,
  responses: {
    "200": response("The figures", EnvironmentReality, {
      ...examples.figures,
      state: null,
      limited_check: null,
    }),
    ...noSuch("environment"),
  },
  async handle(services: RealityServices, { reserve, requester, params: { name }, query }) {
    return reply(200, await describeEnvironment(services, requester, name, query, reserve));
  },
});

const exactMatch = { evaluator: "exact-match" };
const exampleOfRun = {
  ...runExamples.run,
  name: "step 400 in the lab",
  target: { predictions: "imported" },
};

const runRealityCheck = route("POST", "/v1/reality-checks/:id/run", {
  needs: "evaluate",
  id: "runRealityCheck",
  summary: "Get a reality check as a run",
  description:
    "Returns the run whose dataset is what really happened and whose predictions are the simulation's answers to the same actions, so that a check's steps have the reports, comparisons and exports of runs. It is made on the first request, and again if it was deleted.",
  params: RealityCheckPath,
  body: RealityCheckRunRequest,
  bodyExample: { evaluators: [exactMatch] },
  responses: {
    "200": response("The run that was made earlier", Run, exampleOfRun),
    "201": response("The run, which is judged soon", Run, exampleOfRun),
    "409": errorResponse(
      "The check has not ended, or no step was replayed",
      "The reality check is running. Its run is made once it has ended.",
    ),
    ...noSuch("reality check"),
  },
  async handle(services: CheckRunServices, { call, requester, params: { id }, body }) {
    const evaluators = readReferences({ evaluators: body.evaluators ?? [exactMatch] });
    keepOpen(call);
    reserveStored(call.exchange, bytesOfEpisode);
    const wanted = { checkId: id, isWhole: body.after_divergence === true, userId: call.caller.userId };
    const { run, isNew } = await runOfCheck(services, requester, { ...wanted, evaluators }).catch(
      (error: unknown) => {
        throw toInvalidRequest(error, evaluators);
      },
    );
    return isNew ? reply(201, toRun(run)) : reply(200, toRun(run));
  },
});

export const realityRoutes = [
  runRealityCheck,
  createRealityCheck,
  listRealityChecks,
  getRealityCheck,
  deleteRealityCheck,
  cancelRealityCheck,
  resumeRealityCheck,
  listRealityEpisodes,
  getEpisodeReality,
  getEnvironmentReality,
];
