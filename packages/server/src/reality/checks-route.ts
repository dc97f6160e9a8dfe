import {
  EnvironmentPath,
  EnvironmentRealityQuery,
  RealityCheck,
  RealityCheckDetail,
  RealityCheckListQuery,
  RealityCheckListResponse,
  RealityCheckPath,
  RealityCheckRequest,
  type RealityFigure,
  RealityFigures,
} from "@presage/contract";
import { findEnvironment } from "../environments/environments.ts";
import { noSuch, page, response } from "../http/describe.ts";
import { readKeysetPage, toCursor } from "../http/request.ts";
import { reply, route } from "../http/route.ts";
import { InvalidRequestError, valueError } from "../http/validate.ts";
import { reserveBytes } from "../platform/limits/memory.ts";
import { toIsoInstant } from "../platform/storage/columns.ts";
import type { RealityChecksTable } from "../platform/storage/schema/runs.ts";
import type { Requester, Store } from "../platform/storage/store.ts";
import { createCheck, deleteCheck, findCheck, InvalidPairError, toChecked } from "./checks.ts";
import {
  countEpisodes,
  selectChecks,
  selectEpisodesOf,
  selectEpisodesOfEnvironment,
} from "./checks-store.ts";
import { realityFigures } from "./figures.ts";

interface Services {
  store: Store;
}

const tag = "reality";

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
      "Of 60 episodes in 20 tasks, 31 see something that reality does not show. Half of all have by step 9.",
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
  policy_order: { kendall_tau: null, policies: 1, note: "An order takes three policies." },
};
const example: RealityCheck = {
  id: "019aa5f6-7d10-7000-8c3e-0b6f5a2d9c42",
  name: "step 400 in the lab",
  environment: "sandbox",
  false_success_limit: 0.1,
  episodes: 60,
  created_by: "019aa5f0-3a52-7000-8d1c-5b1f3f6a2e10",
  created_at: "2026-11-28T09:12:44.120Z",
};
const pair = { task_id: "boil-water-3", policy: "step-400", simulated: true, real: false };

const createRealityCheck = route({
  method: "POST",
  path: "/v1/reality-checks",
  needs: "evaluate",
  id: "createRealityCheck",
  tag,
  summary: "Compare simulated with real outcomes",
  description:
    "Stores how episodes ended in simulation and in the real environment, and says how often success in simulation is real.",
  body: RealityCheckRequest,
  bodyExample: { name: example.name, environment: "sandbox", false_success_limit: 0.1, pairs: [pair] },
  once: "create reality check",
  responses: { "201": response("The reality check", RealityCheck, { ...example, episodes: 1 }) },
  async handle(services: Services, { call, requester, body, once }) {
    if (body.environment) await findEnvironment(services, requester, body.environment).catch(refuseField);
    const wanted = { ...body, userId: call.caller.userId };
    const check = await createCheck(services, requester, wanted, once).catch(refusePair);
    return reply(201, toCheck(check));
  },
});

const listRealityChecks = route({
  method: "GET",
  path: "/v1/reality-checks",
  needs: "read",
  id: "listRealityChecks",
  tag,
  summary: "List reality checks",
  description: "Lists the account's reality checks, newest first.",
  query: RealityCheckListQuery,
  refusesUnknown: true,
  responses: { "200": response("The reality checks", RealityCheckListResponse, page(example)) },
  async handle({ store }: Services, { requester, query }) {
    const reader = store.briefReader(requester);
    const { accountId } = requester;
    const { rows, next } = await selectChecks(reader, accountId, query.environment, readKeysetPage(query));
    return reply(200, { data: rows.map(toCheck), next: toCursor(next) });
  },
});

const getRealityCheck = route({
  method: "GET",
  path: "/v1/reality-checks/:id",
  needs: "read",
  id: "getRealityCheck",
  tag,
  summary: "Show a reality check",
  description:
    "Returns a reality check and what it says: how often success in simulation is success in reality, with intervals that are clustered by task.",
  params: RealityCheckPath,
  responses: {
    "200": response("The reality check", RealityCheckDetail, { ...example, figures: exampleFigures }),
    ...noSuch("reality check"),
  },
  async handle(services: Services, { call, requester, params: { id } }) {
    const reserve = (bytes: number) => reserveBytes(call.exchange, bytes);
    return reply(200, await describeCheck(services, requester, id, reserve));
  },
});

const deleteRealityCheck = route({
  method: "DELETE",
  path: "/v1/reality-checks/:id",
  needs: "evaluate",
  id: "deleteRealityCheck",
  tag,
  summary: "Delete a reality check",
  description: "Deletes a reality check. The episodes that it is of stay.",
  params: RealityCheckPath,
  responses: { "204": { description: "It is deleted" }, ...noSuch("reality check") },
  async handle(services: Services, { requester, params: { id } }) {
    await deleteCheck(services, requester, id);
    return reply(204, undefined);
  },
});

/** As many episodes of an environment are read at most. */
const mostEpisodes = 100_000;
/** Of an episode while figures are made of it. */
const bytesPerEpisode = 600;

const getEnvironmentReality = route({
  method: "GET",
  path: "/v1/environments/:name/reality",
  needs: "read",
  id: "getEnvironmentReality",
  tag,
  summary: "How real an environment's successes are",
  description:
    "The figures of all reality checks of an environment together; of more than 100,000 episodes the newest.",
  params: EnvironmentPath,
  query: EnvironmentRealityQuery,
  refusesUnknown: true,
  responses: { "200": response("The figures", RealityFigures, exampleFigures), ...noSuch("environment") },
  async handle(services: Services, { call, requester, params: { name }, query }) {
    const reserve = (bytes: number) => reserveBytes(call.exchange, bytes);
    return reply(200, await describeEnvironment(services, requester, name, query, reserve));
  },
});

export const realityRoutes = [
  createRealityCheck,
  listRealityChecks,
  getRealityCheck,
  deleteRealityCheck,
  getEnvironmentReality,
];

/** A reality check with what it says. */
export async function describeCheck(
  services: Services,
  requester: Requester,
  id: string,
  reserve: (bytes: number) => void,
): Promise<RealityCheckDetail> {
  const check = await findCheck(services, requester, id);
  reserve(Number(check.episodes) * bytesPerEpisode);
  const episodes = await selectEpisodesOf(services.store.reader(requester), id);
  const figures = await realityFigures(episodes.map(toChecked), check.false_success_limit);
  return { ...toCheck(check), figures };
}

/** What all reality checks of an environment say together. */
export async function describeEnvironment(
  services: Services,
  requester: Requester,
  name: string,
  { policy }: EnvironmentRealityQuery,
  reserve: (bytes: number) => void,
): Promise<RealityFigures> {
  await findEnvironment(services, requester, name);
  const reader = services.store.reader(requester);
  const episodes = await countEpisodes(reader, requester.accountId, name);
  reserve(Math.min(episodes, mostEpisodes) * bytesPerEpisode);
  const wanted = { environment: name, policy };
  const found = await selectEpisodesOfEnvironment(reader, requester.accountId, wanted, mostEpisodes);
  return await realityFigures(found.map(toChecked), null);
}

export function toCheck({ account_id: _, created_at, episodes, ...check }: RealityChecksTable): RealityCheck {
  return { ...check, episodes: Number(episodes), created_at: toIsoInstant(Number(created_at)) };
}

function refuseField(): never {
  throw new InvalidRequestError([
    valueError(["body", "environment"], "There is no environment of this name"),
  ]);
}

function refusePair(error: unknown): never {
  if (!(error instanceof InvalidPairError)) throw error;
  throw new InvalidRequestError([valueError(["body", "pairs", error.index], error.message)]);
}
