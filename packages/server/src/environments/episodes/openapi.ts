import {
  Episode,
  EpisodeCreateRequest,
  type EpisodeFigures,
  EpisodeFiguresQuery,
  EpisodeFiguresResponse,
  EpisodeListQuery,
  EpisodeListResponse,
  EpisodePath,
  EpisodeStart,
  type EpisodeSummary,
  StepRequest,
  StepResponse,
} from "@presage/contract";
import type { ZodOpenApiPathsObject } from "zod-openapi";
import {
  body,
  errorResponse,
  idempotencyHeader,
  noSuch,
  operation,
  page,
  response,
} from "../../http/describe.ts";
import { predictionFailures } from "../../predictions/predictions-openapi.ts";

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
        "200": response("The episode", Episode, {
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
