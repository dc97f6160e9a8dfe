import {
  EpisodeCreateRequest,
  EpisodeFiguresQuery,
  EpisodeFiguresResponse,
  EpisodeListQuery,
  EpisodeListResponse,
  EpisodePath,
  Episode as EpisodeSchema,
  EpisodeStart,
  episodeIdleMinutes,
  StepRequest,
  StepResponse,
} from "@presage/contract";
import { keepOpen } from "../../http/call.ts";
import { keyIdOf } from "../../http/caller.ts";
import { body, errorResponse, idempotencyHeader, noSuch, page, response } from "../../http/describe.ts";
import { admit, countUsage } from "../../http/exchange.ts";
import { reserveStored } from "../../http/memory.ts";
import { readBody, readIdempotencyKey, readKeysetPage, readPath, toCursor } from "../../http/request.ts";
import { reply, route } from "../../http/route.ts";
import { InvalidRequestError, valueError } from "../../http/validate.ts";
import type { Admission } from "../../platform/limits/admission.ts";
import type { Store } from "../../platform/storage/store.ts";
import { predictionFailures } from "../../predictions/predictions-openapi.ts";
import examples from "../examples.json" with { type: "json" };
import { type AskServices, askForRequest } from "./ask.ts";
import { deleteEpisode, hasExpired, listEpisodes, type WantedEpisodes } from "./episode.ts";
import { toWantedEpisodes } from "./episode-lines.ts";
import {
  countByGroup,
  selectInstructions,
  showEpisode,
  toEpisodeStart,
  toEpisodeSummary,
  toStep,
} from "./show-episode.ts";
import { type NewEpisode, type StartServices, startEpisode } from "./start-episode.ts";
import { type StepServices, stepEpisode } from "./step-episode.ts";

const listEpisodesRoute = route("GET", "/v1/episodes", {
  needs: "read",
  id: "listEpisodes",
  summary: "List episodes",
  description: "Lists the account's episodes, newest first, without their steps.",
  query: EpisodeListQuery,
  responses: {
    "200": response(
      "The episodes",
      EpisodeListResponse,
      page({ ...examples.episode, instruction: "Turn on the lantern." }),
    ),
    ...noSuch("environment"),
  },
  async handle(services: { store: Store }, { requester, query }) {
    const page = readKeysetPage(query);
    const { rows, next } = await listEpisodes(services, requester, readEpisodeFilter(query), page);
    const ids = rows.map(({ id }) => id);
    const instructions = await selectInstructions(services.store.briefReader(requester), ids);
    const data = rows.map((row) => ({
      ...toEpisodeSummary(row),
      instruction: instructions.get(row.id) ?? null,
    }));
    return reply(200, { data, next: toCursor(next) });
  },
});

const startEpisodeRoute = route("POST", "/v1/episodes", {
  needs: "predict",
  id: "startEpisode",
  summary: "Start an episode",
  description: `Starts an episode of an environment with one of its tasks. It expires when nothing happens for ${episodeIdleMinutes} minutes.`,
  body: EpisodeCreateRequest,
  bodyExample: { environment: "sandbox", index: 0 },
  once: "start episode",
  responses: {
    "201": response("What the agent sees first", EpisodeStart, examples.started),
    "409": errorResponse(
      "Successes in the environment are false too often, so it refuses new episodes",
      "The environment kitchen refuses new episodes: its false success rate is above the limit of 0.1.",
      { category: "reality_alarm" },
    ),
    "404": errorResponse(
      "The account has no such environment, or it has no such task",
      "The environment kitchen has no tasks in the split train.",
    ),
  },
  async handle(services: StartServices, { call, requester, body, once }) {
    const wanted = {
      environment: body.environment,
      ...readTask(body),
      seed: body.seed ?? undefined,
      policy: body.policy ?? undefined,
      apiKeyId: keyIdOf(call.caller),
    };
    return reply(201, toEpisodeStart(await startEpisode(services, requester, wanted, once)));
  },
});

const countEpisodesRoute = route("GET", "/v1/episodes/figures", {
  needs: "read",
  id: "countEpisodes",
  summary: "Count episodes and their successes",
  description:
    "Summarises the account's episodes by environment and, optionally, by one more field. Intervals are clustered by task, as episodes of one task depend on each other. An environment without episodes has no group.",
  query: EpisodeFiguresQuery,
  responses: {
    "200": response("The groups", EpisodeFiguresResponse, { data: [examples.figures] }),
    ...noSuch("environment"),
  },
  async handle(services: { store: Store }, { requester, query }) {
    return reply(200, { data: await countByGroup(services, requester, query) });
  },
});

const getEpisode = route("GET", "/v1/episodes/:id", {
  needs: "read",
  id: "getEpisode",
  summary: "Show an episode",
  description: "Returns an episode with all its steps.",
  params: EpisodePath,
  responses: {
    "200": response("The episode", EpisodeSchema, {
      ...examples.episode,
      ...examples.played,
      steps: [{ action: "activate lantern", ...examples.step }],
    }),
    ...noSuch("episode"),
  },
  async handle(services: { store: Store }, { call, requester, params }) {
    const reserve = (characters: number) => reserveStored(call.exchange, characters);
    return reply(200, await showEpisode(services, requester, params.id, reserve));
  },
});

const deleteEpisodeRoute = route("DELETE", "/v1/episodes/:id", {
  needs: "predict",
  id: "deleteEpisode",
  summary: "Delete an episode",
  description:
    "Deletes an episode with its steps. Evaluators' verdicts on its steps stay, as results of the app `episodes` with the tag `episode`.",
  params: EpisodePath,
  responses: { "204": { description: "It is deleted." }, ...noSuch("episode") },
  async handle(services: Parameters<typeof deleteEpisode>[0], { requester, params }) {
    await deleteEpisode(services, requester, params.id);
    return reply(204, undefined);
  },
});

interface StepRouteServices extends StepServices, AskServices {
  admission: Admission;
  settings: { maxShortBodyBytes: number };
}

const stepEpisodeRoute = route("POST", "/v1/episodes/:id/step", {
  needs: "predict",
  id: "stepEpisode",
  summary: "Take a step",
  description:
    "Predicts what the agent sees after its action, and says whether the episode ended and what the reward is. If the prediction fails, the episode is unchanged and the step can be sent again. With an `Idempotency-Key` a step is taken once, however often it is sent.",
  more: {
    requestParams: { path: EpisodePath, header: idempotencyHeader },
    requestBody: body(StepRequest, { action: "activate lantern" }),
  },
  responses: {
    "200": response("The step", StepResponse, examples.step),
    ...predictionFailures,
    "409": errorResponse(
      "The episode has ended or expired, its world can no longer be asked, or another step was taken at the same time",
      `${hasExpired} Start a new one.`,
    ),
    ...noSuch("episode"),
  },
  // The request is counted and admitted before its body is read.
  async handle(services: StepRouteServices, { call, requester }) {
    countUsage(call, "predict");
    await admit(services.admission, call);
    const { action } = await readBody(call, StepRequest, services.settings.maxShortBodyBytes);
    keepOpen(call);
    const wanted = {
      episodeId: readPath(call, EpisodePath).id,
      action,
      requestKey: readIdempotencyKey(call.request.headers),
    };
    const taken = await stepEpisode(services, requester, wanted, askForRequest(services, call));
    const { action: _, ...step } = toStep(taken);
    return Response.json(step satisfies StepResponse);
  },
});

export const episodeRoutes = [
  listEpisodesRoute,
  startEpisodeRoute,
  countEpisodesRoute,
  getEpisode,
  deleteEpisodeRoute,
  stepEpisodeRoute,
];

/** The task that a request names by split and index, or that it contains. */
function readTask({
  split,
  index,
  task,
}: EpisodeCreateRequest): Pick<NewEpisode, "split" | "index" | "task"> {
  if (!task) return { split: split ?? "train", index: index ?? undefined };
  const named = split ? "split" : "index";
  if (split || typeof index === "number")
    throw new InvalidRequestError([
      valueError(["body", named], "Give either a task, or its split and index"),
    ]);
  const { split: splitOfTask, ...rest } = task;
  return { split: splitOfTask ?? "train", index: undefined, task: rest };
}

export function readEpisodeFilter({
  revision,
  index,
  ...query
}: Omit<EpisodeListQuery, "limit" | "after">): WantedEpisodes {
  const numberOf = (text: string | undefined) => (text === undefined ? undefined : Number(text));
  return toWantedEpisodes({ ...query, revision: numberOf(revision), index: numberOf(index) });
}
