import {
  defaultPageLimit,
  EnvironmentPath,
  EnvironmentReality,
  EnvironmentRealityQuery,
  EpisodePath,
  EpisodeReality,
  RealityCheck,
  RealityCheckDetail,
  RealityCheckListQuery,
  RealityCheckListResponse,
  RealityCheckPath,
  RealityCheckRequest,
  RealityCheckRunRequest,
  type RealityEpisode,
  RealityEpisodeListQuery,
  RealityEpisodeListResponse,
  type RealityFigure,
  type RealityFigures,
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
import { ServiceError } from "../platform/errors.ts";
import type { Store } from "../platform/storage/store.ts";
import { exampleRun, toRun } from "../runs/run.ts";
import { toInvalidRequest } from "../runs/runs-route.ts";
import { type CheckRunServices, runOfCheck } from "./check-run.ts";
import { type CheckServices, createCheck, deleteCheck, endOrResume, findCheck } from "./checks.ts";
import { selectChecks, selectEpisodePage, selectRealSteps, selectReplayOf } from "./checks-store.ts";
import { readPairLines } from "./pairs.ts";
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

/** What reading takes. */
interface Services {
  store: Store;
}

const figure = (value: number, lower: number, upper: number, count = 40, tasks = 20): RealityFigure => ({
  ...{ value, interval: { level: 0.95, lower, upper }, count, tasks, effective_tasks: tasks, note: null },
});
const outcomes = {
  counts: { both: 31, only_simulated: 9, only_real: 3, neither: 17 },
  false_success_rate: figure(0.225, 0.116, 0.391),
  missed_success_rate: figure(0.15, 0.046, 0.39, 20),
  agreement: figure(0.8, 0.673, 0.886, 60),
  bias: figure(0.1, 0.017, 0.183, 60),
};
const exampleFigures: RealityFigures = {
  sentence:
    "Of 40 episodes in 20 tasks that succeeded in simulation, 9 failed in reality: 22.5 % (95 % interval 11.6 % to 39.1 %).",
  outcome: "above",
  ...outcomes,
  phi: figure(0.6, 0.38, 0.82, 60),
  cohen_kappa: figure(0.59, 0.37, 0.81, 60),
  reward: { absolute_error: figure(0.14, 0.08, 0.2, 60), spearman: figure(0.71, 0.52, 0.9, 60) },
  divergence: {
    sentence:
      "Of 60 episodes in 20 tasks, 31 saw something that reality does not show. Half of all do by step 9.",
    ...{ count: 60, tasks: 20, diverged: 31, median: 9 },
    steps: [
      {
        ...{ step: 9, at_risk: 52, diverged: 23, censored: 0, survival: 0.48 },
        interval: { level: 0.95, lower: 0.33, upper: 0.63 },
      },
    ],
  },
  exploits: {
    sentence: '"force" is in 8 of the 9 false successes and in 1 of the 31 true ones.',
    ...{ false_successes: 9, true_successes: 31, tasks: 20, tested: 12 },
    verbs: [
      {
        ...{ verb: "force", false_successes: 8, true_successes: 1, log_odds_ratio: figure(4.8, 2.6, 6.9) },
        ...{ p_value: 0.0002, p_adjusted: 0.0024 },
        examples: [
          {
            ...{ episode_id: "019aa5f6-7d10-7000-8c3e-0b6f5a2d9c42", check_id: null, position: 4 },
          },
        ],
      },
    ],
  },
  consistency: null,
  policies: [{ policy: "step-400", ...outcomes }],
  policy_order: { kendall_tau: null, policies: 1, note: "To rank policies takes at least three." },
};
const example: RealityCheck = {
  id: "019aa5f6-7d10-7000-8c3e-0b6f5a2d9c42",
  name: "step 400 in the lab",
  environment: "sandbox",
  environment_revision: 1,
  ...{ source: "pairs", real: null, status: "completed", reason: null },
  false_success_limit: 0.1,
  ...{ episodes: 60, waiting: 0, failed: 0 },
  created_by: "019aa5f0-3a52-7000-8d1c-5b1f3f6a2e10",
  created_at: "2026-11-28T09:12:44.120Z",
};
const pair = { task_id: "boil-water-3", policy: "step-400", simulated: true, real: false };

const createRealityCheck = route("POST", "/v1/reality-checks", {
  needs: "evaluate",
  id: "createRealityCheck",
  summary: "Compare simulated with real outcomes",
  description:
    "Says how often success in simulation is real. The two outcomes of episodes are known (`pairs`), or they are found out in the background: `episodes` sends the actions of ended episodes to the real environment that their environment names, reset to the same task; `dataset_id` lets the environment play the actions of recorded trajectories. A real environment that ends earlier than the actions, or goes on after them, is an outcome; one that fails is none, and its episodes are counted apart.",
  query: RealityPairsQuery,
  more: {
    requestParams: { query: RealityPairsQuery, header: idempotencyHeader },
    requestBody: {
      required: true,
      description: "Or a pair a line, with what is beside the pairs in the query; these may be gzip.",
      content: {
        "application/json": {
          schema: RealityCheckRequest,
          example: { name: example.name, environment: "sandbox", false_success_limit: 0.1, pairs: [pair] },
        },
        "application/x-ndjson": { schema: RealityPair, example: pair },
      },
    },
  },
  responses: { "201": response("The reality check", RealityCheck, { ...example, episodes: 1 }) },
  async handle(services: CheckServices & Pick<HttpServices, "settings">, { call, requester, query }) {
    const body =
      (await readPairLines(call, query)) ??
      (await readBody(call, RealityCheckRequest, services.settings.maxShortBodyBytes));
    const once = readOnce(call, "create reality check", body);
    const check = await createCheck(services, requester, { ...body, userId: call.caller.userId }, once);
    return reply(201, await countedCheck(services, requester, check));
  },
});

const listRealityChecks = route("GET", "/v1/reality-checks", {
  needs: "read",
  id: "listRealityChecks",
  summary: "List reality checks",
  description: "Lists the account's reality checks, newest first.",
  query: RealityCheckListQuery,
  responses: { "200": response("The reality checks", RealityCheckListResponse, page(example)) },
  async handle({ store }: Services, { requester, query }) {
    const reader = store.briefReader(requester);
    const { accountId } = requester;
    const { rows, next } = await selectChecks(reader, accountId, query.environment, readKeysetPage(query));
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
    "Returns a reality check and what it says: how often success in simulation is success in reality, with intervals that are clustered by task.",
  params: RealityCheckPath,
  responses: {
    "200": response("The reality check", RealityCheckDetail, { ...example, figures: exampleFigures }),
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
    "Deletes a reality check. The episodes that it is of stay. That of many is deleted step by step: after a time-out, send the request again.",
  params: RealityCheckPath,
  responses: {
    "204": { description: "It is deleted" },
    "409": errorResponse(
      "It draws the episodes of its environment's latest revision",
      "It draws from the latest revision of its environment, and would begin anew. Cancel it; once the environment has another revision it can be deleted.",
    ),
    ...noSuch("reality check"),
  },
  async handle(services: Services, { requester, params: { id } }) {
    await deleteCheck(services, requester, id);
    return reply(204, undefined);
  },
});

/** Ends a check, or goes on with it. */
const changeRoute = (
  verb: "cancel" | "resume",
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
        ...{ ...example, status: verb === "cancel" ? "cancelled" : "running" },
      }),
      "409": errorResponse(...refusal),
      ...noSuch("reality check"),
    },
    async handle(services: CheckServices, { requester, params: { id } }) {
      const changed = await countedCheck(
        services,
        requester,
        await endOrResume(services, requester, id, verb),
      );
      services.replays.wake();
      return reply(200, changed);
    },
  });

const cancelRealityCheck = changeRoute(
  "cancel",
  "Ends a reality check before its time. What was replayed stays.",
  ["It has ended", "The reality check has ended."],
);
const resumeRealityCheck = changeRoute(
  "resume",
  "Goes on with a paused reality check. What could not be replayed is tried again.",
  ["It is not paused", "Only a paused reality check can be resumed; this one is completed."],
);

const replayed = {
  ...{ position: 1, episode_id: "019aa5f7-1d10-7000-9b2e-4f6f5a2d9c41", task_id: "train/3" },
  ...{ policy: "step-400", simulated: true, real: false, simulated_reward: 1, real_reward: 0 },
  ...{ steps: 6, diverged_at: 4 },
};
const exampleEpisode: RealityEpisode = { ...replayed, error: null };

const listRealityEpisodes = route("GET", "/v1/reality-checks/:id/episodes", {
  needs: "read",
  id: "listRealityEpisodes",
  summary: "List the episodes of a reality check",
  description:
    "Lists a reality check's episodes with how each ended in simulation and in reality, by position.",
  params: RealityCheckPath,
  query: RealityEpisodeListQuery,
  responses: {
    "200": response("The episodes", RealityEpisodeListResponse, page(exampleEpisode)),
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

/** As many characters a real observation may have take this many bytes at most while a response is written. */
const bytesPerRealStep = 10_000;

const getEpisodeReality = route("GET", "/v1/episodes/:id/reality", {
  needs: "read",
  id: "getEpisodeReality",
  summary: "Show what really happened to an episode's actions",
  description:
    "Returns what the real environment, or a recording, said to the actions of an episode, as its newest reality check has it.",
  params: EpisodePath,
  responses: {
    "200": response("What really happened", EpisodeReality, {
      ...replayed,
      ...{
        check_id: example.id,
        real_environment: "lab",
        first_observation: "This room is called the workshop.",
      },
      real_steps: [
        ...[
          {
            step: 1,
            action: "open chest",
            observation: "It is locked.",
            reward: 0,
            done: false,
            latency_ms: 8,
          },
        ],
      ],
    }),
    ...noSuch("replay"),
  },
  async handle({ store }: Services, { reserve, requester, params: { id } }) {
    const reader = store.briefReader(requester);
    const found = await selectReplayOf(reader, requester.accountId, id);
    if (found === undefined)
      throw new ServiceError("not_found", "No reality check has replayed the episode.");
    reserve(Number(found.steps) * bytesPerRealStep);
    return reply(200, toEpisodeReality(found, await selectRealSteps(reader, found)));
  },
});

const getEnvironmentReality = route("GET", "/v1/environments/:name/reality", {
  needs: "read",
  id: "getEnvironmentReality",
  summary: "How real an environment's successes are",
  description:
    "The figures of all reality checks of an environment together; of more than 100,000 episodes the newest, of one that was checked again the last. The state is counted from the first.",
  params: EnvironmentPath,
  query: EnvironmentRealityQuery,
  responses: {
    "200": response("The figures", EnvironmentReality, { ...exampleFigures, state: null }),
    ...noSuch("environment"),
  },
  async handle(services: RealityServices, { reserve, requester, params: { name }, query }) {
    return reply(200, await describeEnvironment(services, requester, name, query, reserve));
  },
});

const exactMatch = { evaluator: "exact-match" };
const exampleOfRun = {
  ...exampleRun,
  name: "step 400 in the lab",
  target: { predictions: "imported" as const },
};

const runRealityCheck = route("POST", "/v1/reality-checks/:id/run", {
  needs: "evaluate",
  id: "runRealityCheck",
  summary: "Get a reality check as a run",
  description:
    "Returns the run whose dataset is what really happened and whose predictions are what the simulation said to the same actions, so that a check's steps have the reports, comparisons and exports of runs. It is made when it is first asked for, and anew if it was deleted.",
  params: RealityCheckPath,
  body: RealityCheckRunRequest,
  bodyExample: { evaluators: [exactMatch] },
  responses: {
    "200": response("The run that was made before", Run, exampleOfRun),
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
