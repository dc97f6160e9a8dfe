import {
  EpisodeCreateRequest,
  type EpisodeFigures,
  EpisodeFiguresQuery,
  EpisodeFiguresResponse,
  type EpisodeGrouping,
  EpisodeListQuery,
  EpisodeListResponse,
  EpisodePath,
  Episode as EpisodeSchema,
  EpisodeStart,
  type EpisodeStep,
  type EpisodeSummary,
  readInstant,
  StepRequest,
  StepResponse,
  type TaskSplitName,
  type Episode as WholeEpisode,
} from "@presage/contract";
import type { ZodOpenApiPathsObject } from "zod-openapi";
import type { Services } from "../../app/services.ts";
import { type CallWithCaller, keepOpen, requesterOf } from "../../http/call.ts";
import {
  body,
  errorResponse,
  idempotencyHeader,
  noSuch,
  operation,
  page,
  response,
} from "../../http/describe.ts";
import { admit, countUsage } from "../../http/exchange.ts";
import { reserveStored } from "../../http/memory.ts";
import {
  readBody,
  readIdempotencyKey,
  readKeysetPage,
  readKnownQuery,
  readOnce,
  readPath,
  toCursor,
} from "../../http/request.ts";
import { type Route, withCaller } from "../../http/route.ts";
import { InvalidRequestError, valueError } from "../../http/validate.ts";
import { clusteredError, rateInterval } from "../../platform/statistics/intervals.ts";
import { shownTokens } from "../../platform/storage/answer-columns.ts";
import { microsPerMs, toIsoInstant } from "../../platform/storage/columns.ts";
import { defined } from "../../platform/words.ts";
import { predictionFailures } from "../../predictions/predictions-openapi.ts";
import { environmentDefaults } from "../environment.ts";
import { askDeployment } from "./ask.ts";
import { deleteEpisode } from "./delete-episodes.ts";
import { type Episode, findEpisode, indexOf, listEpisodes, statusOf } from "./episode.ts";
import { countCharacters, type EpisodeRow, type StepRow, selectSteps } from "./episodes-store.ts";
import { countEpisodes, type EpisodeCounts } from "./figures.ts";
import { type NewEpisode, startEpisode } from "./start-episode.ts";
import { endOf, type StepResult, stepEpisode } from "./step-episode.ts";

function toEpisodeFigures(by: EpisodeGrouping, counts: EpisodeCounts): EpisodeFigures {
  const moments = {
    clusters: counts.tasks,
    count: counts.finished,
    sum: counts.successes,
    sumSquares: counts.success_squares,
    countSums: counts.count_successes,
    countSquares: counts.count_squares,
  };
  const { environment, part, episodes, open, finished, successes, failures, tasks, rewarded, rewards } =
    counts;
  return {
    environment,
    revision: by === "revision" ? Number(part) : null,
    deployment: by === "deployment" && part !== null ? String(part) : null,
    split: by === "split" ? (part as TaskSplitName) : null,
    episodes,
    open,
    expired: episodes - open - finished,
    finished,
    successes,
    failures,
    tasks,
    success_rate: finished === 0 ? null : successes / finished,
    // Episodes of one task are not independent.
    success_interval: rateInterval(moments, clusteredError(moments)),
    mean_steps: finished === 0 ? null : counts.finished_steps / finished,
    rewarded,
    mean_reward: rewarded === 0 || rewards === null ? null : rewards / rewarded,
    failed_steps: counts.failed_steps,
    last_started_at: toIsoInstant(counts.last_started_at),
  };
}

export function toEpisodeStart({ row, config, task }: Episode): EpisodeStart {
  return {
    episode_id: row.id,
    observation: task.initial_state,
    info: {
      environment: row.environment,
      revision: Number(row.revision),
      split: row.split,
      index: indexOf(row) ?? null,
      prompt: task.prompt ?? null,
      metadata: task.metadata ?? null,
      max_steps: config.max_steps ?? environmentDefaults.maxSteps,
    },
  };
}

export function toEpisodeSummary(row: EpisodeRow): EpisodeSummary {
  return {
    id: row.id,
    environment: row.environment,
    revision: Number(row.revision),
    split: row.split,
    index: indexOf(row) ?? null,
    seed: row.seed === null ? null : Number(row.seed),
    status: statusOf(row),
    outcome: row.outcome,
    stop_reason: row.stop_reason,
    steps_taken: Number(row.steps),
    reward: row.reward,
    failed_steps: Number(row.failed_steps),
    created_at: toIsoInstant(row.created_at),
    last_active_at: toIsoInstant(row.last_active_at),
  };
}

function toEpisode({ row, task }: Episode, steps: readonly StepRow[]): WholeEpisode {
  return {
    ...toEpisodeSummary(row),
    initial_state: task.initial_state,
    prompt: task.prompt ?? null,
    goal: task.goal ?? null,
    steps: steps.map((step) => toStep({ step, end: endOf(row, step) })),
  };
}

export function toStep({ step, end }: StepResult): EpisodeStep {
  const { prompt_tokens, cached_tokens, completion_tokens } = step;
  return {
    action: step.action,
    observation: step.observation,
    reward: step.reward,
    terminated: step.terminated === 1,
    truncated: step.truncated === 1,
    info: {
      step: Number(step.step),
      outcome: end?.outcome ?? null,
      stop_reason: end?.reason ?? null,
      prediction_id: step.prediction_id,
      reward_error: step.reward_error,
      deployment: step.deployment,
      model: step.model,
      finish_reason: step.finish_reason,
      ...shownTokens({ prompt_tokens, cached_tokens, completion_tokens }),
      latency_ms: step.latency_micros === null ? null : Number(step.latency_micros) / microsPerMs,
    },
  };
}

const path = "/v1/episodes";

export function episodeRoutes(services: Services): Route[] {
  const { environments, admission, settings, store } = services;
  const { maxShortBodyBytes } = settings;
  const idOf = (call: CallWithCaller) => readPath(call, EpisodePath).id;

  return [
    withCaller("GET", path, "read", async (call) => {
      const query = readKnownQuery(call, EpisodeListQuery);
      const page = readKeysetPage(query);
      const wanted = readFilter(query);
      const { rows, next } = await listEpisodes(environments, requesterOf(call), wanted, page);
      const response: EpisodeListResponse = { data: rows.map(toEpisodeSummary), next: toCursor(next) };
      return Response.json(response);
    }),
    withCaller("POST", path, "predict", async (call) => {
      const body = await readBody(call, EpisodeCreateRequest, maxShortBodyBytes);
      const { proof } = call.caller;
      const wanted = {
        environment: body.environment,
        ...readTask(body),
        seed: body.seed ?? undefined,
        apiKeyId: proof.kind === "key" ? proof.keyId : undefined,
      };
      const once = readOnce(call, "start episode", body);
      const episode = await startEpisode(environments, requesterOf(call), wanted, once);
      return Response.json(toEpisodeStart(episode), { status: 201 });
    }),
    withCaller("GET", `${path}/figures`, "read", async (call) => {
      const { by = "environment", environment, from, to } = readKnownQuery(call, EpisodeFiguresQuery);
      const wanted = {
        by,
        environment,
        from: from === undefined ? undefined : readInstant(from),
        to: to === undefined ? undefined : readInstant(to),
      };
      const counts = await countEpisodes(environments, requesterOf(call), wanted);
      const response: EpisodeFiguresResponse = { data: counts.map((one) => toEpisodeFigures(by, one)) };
      return Response.json(response);
    }),
    withCaller("GET", `${path}/:id`, "read", async (call) => {
      const episode = await findEpisode(environments, requesterOf(call), idOf(call));
      const { id, task, steps: taken } = episode.row;
      const reader = store.briefReader(requesterOf(call));
      const characters = await countCharacters(reader, id, { after: 0, upTo: Number(taken) });
      reserveStored(call.exchange, characters + task.length);
      const steps = await selectSteps(reader, id, 0);
      return Response.json(toEpisode(episode, steps));
    }),
    withCaller("DELETE", `${path}/:id`, "predict", async (call) => {
      await deleteEpisode(environments, requesterOf(call), idOf(call));
      return new Response(null, { status: 204 });
    }),
    withCaller("POST", `${path}/:id/step`, "predict", async (call) => {
      countUsage(call, "predict");
      await admit(admission, call);
      const { action } = await readBody(call, StepRequest, maxShortBodyBytes);
      keepOpen(call);
      const wanted = {
        episodeId: idOf(call),
        action,
        requestKey: readIdempotencyKey(call.request.headers),
      };
      const ask = askDeployment(services, call);
      const { action: _, ...step } = toStep(await stepEpisode(environments, requesterOf(call), wanted, ask));
      return Response.json(step satisfies StepResponse);
    }),
  ];
}

/** Which task of the environment, or which other one. */
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

function readFilter({ environment, revision, split, index, status, outcome, from, to }: EpisodeListQuery) {
  return defined({
    environment,
    revision: revision === undefined ? undefined : Number(revision),
    split,
    position: index === undefined ? undefined : Number(index),
    status,
    outcome,
    from: from === undefined ? undefined : readInstant(from),
    to: to === undefined ? undefined : readInstant(to),
  });
}

const tag = "environments";
const start =
  "This room is called the workshop. In it, you see: a lantern, which is deactivated. You also see: A door to the yard (that is closed)";
const step: StepResponse = {
  observation: "The lantern is now activated.",
  reward: 1,
  terminated: true,
  truncated: false,
  info: {
    step: 1,
    outcome: "success",
    stop_reason: "output_contains: {goal}",
    prediction_id: "019aa5f7-24b2-7000-a6c1-0d2f1f0a7b55",
    reward_error: null,
    deployment: "sandbox",
    model: "presage-sandbox",
    finish_reason: "stop",
    prompt_tokens: 209,
    cached_tokens: 0,
    completion_tokens: 5,
    latency_ms: 1.8,
  },
};
const summary: EpisodeSummary = {
  id: "019aa5f7-1d10-7000-9b2e-4f6f5a2d9c41",
  environment: "sandbox",
  revision: 1,
  split: "train",
  index: 0,
  seed: null,
  status: "finished",
  outcome: "success",
  stop_reason: "output_contains: {goal}",
  steps_taken: 1,
  reward: 1,
  failed_steps: 0,
  created_at: "2026-11-22T03:46:51.371Z",
  last_active_at: "2026-11-22T03:46:53.114Z",
};
const figures: EpisodeFigures = {
  environment: "sandbox",
  revision: null,
  deployment: null,
  split: null,
  episodes: 41,
  open: 1,
  expired: 0,
  finished: 40,
  successes: 31,
  failures: 0,
  tasks: 20,
  success_rate: 0.775,
  success_interval: { level: 0.95, lower: 0.619, upper: 0.879 },
  mean_steps: 6.2,
  rewarded: 40,
  mean_reward: 0.775,
  failed_steps: 0,
  last_started_at: "2026-11-22T03:46:51.371Z",
};
const requestParams = { path: EpisodePath };

export const episodePaths: ZodOpenApiPathsObject = {
  "/v1/episodes": {
    get: operation("listEpisodes", tag, "List episodes", {
      description: "Lists the account's episodes, newest first, without their steps.",
      requestParams: { query: EpisodeListQuery },
      responses: {
        "200": response("The episodes", EpisodeListResponse, page(summary)),
        ...noSuch("environment"),
      },
    }),
    post: operation("startEpisode", tag, "Start an episode", {
      description:
        "Starts an episode of an environment with one of its tasks. It expires when nothing happens for 15 minutes.",
      requestParams: { header: idempotencyHeader },
      requestBody: body(EpisodeCreateRequest, { environment: "sandbox", index: 0 }),
      responses: {
        "201": response("What the agent sees first", EpisodeStart, {
          episode_id: summary.id,
          observation: start,
          info: {
            environment: "sandbox",
            revision: 1,
            split: "train",
            index: 0,
            prompt: "Turn on the lantern.",
            metadata: null,
            max_steps: 20,
          },
        }),
        "404": errorResponse(
          "The account has no such environment, or it has no such task",
          "The environment kitchen has no tasks in the split train.",
        ),
      },
    }),
  },
  "/v1/episodes/figures": {
    get: operation("countEpisodes", tag, "Count episodes and their successes", {
      description:
        "Summarises the account's episodes by environment and, optionally, by one more field. Intervals are clustered by task, as episodes of one task depend on each other. An environment without episodes has no group.",
      requestParams: { query: EpisodeFiguresQuery },
      responses: {
        "200": response("The groups", EpisodeFiguresResponse, { data: [figures] }),
        ...noSuch("environment"),
      },
    }),
  },
  "/v1/episodes/{id}": {
    get: operation("getEpisode", tag, "Show an episode", {
      description: "Returns an episode with all its steps.",
      requestParams,
      responses: {
        "200": response("The episode", EpisodeSchema, {
          ...summary,
          initial_state: start,
          prompt: "Turn on the lantern.",
          goal: "The lantern is now activated.",
          steps: [{ action: "activate lantern", ...step }],
        }),
        ...noSuch("episode"),
      },
    }),
    delete: operation("deleteEpisode", tag, "Delete an episode", {
      description: "Deletes an episode with its steps.",
      requestParams,
      responses: { "204": { description: "It is deleted." }, ...noSuch("episode") },
    }),
  },
  "/v1/episodes/{id}/step": {
    post: operation("stepEpisode", tag, "Take a step", {
      description:
        "Predicts what the agent sees after its action, and says whether the episode ended and what the reward is. If the prediction fails, the episode is unchanged and the step can be sent again. With an `Idempotency-Key` a step is taken once, however often it is sent.",
      requestParams: { ...requestParams, header: idempotencyHeader },
      requestBody: body(StepRequest, { action: "activate lantern" }),
      responses: {
        "200": response("The step", StepResponse, step),
        "409": errorResponse(
          "The episode has ended or expired, or another step was taken at the same time",
          "The episode has expired: nothing happened for 15 minutes. Start a new one.",
        ),
        ...noSuch("episode"),
        ...predictionFailures,
      },
    }),
  },
};
