import { z } from "zod";
import { list } from "../custom-schemas.ts";
import { listOf, pageQuery, queryInteger } from "../query.ts";
import { intervalOf } from "../responses.ts";
import {
  count,
  countOrNull,
  dateTime,
  figure,
  instant,
  shortText,
  storableText,
  string,
  stringOrNull,
} from "../text.ts";
import { TaskLine, TaskSplitName } from "./environment.ts";
import { RealityState } from "./reality-figures.ts";
import { EpisodeOutcome } from "./stop.ts";

/** About the length of a web page, which is more than any action needs. */
const maxActionCharacters = 100_000;

/** An episode that nobody uses for this long has expired. */
export const episodeIdleMinutes = 15;
const expired = `\`expired\`: nothing happened for ${episodeIdleMinutes} minutes.`;

/** Whether an episode can be continued; one that no one continued in time is expired. */
export const EpisodeStatus = z.enum(["open", "finished", "expired"]);
export type EpisodeStatus = z.infer<typeof EpisodeStatus>;

/** A label of the agent that acts. */
export const policyLabel = shortText(200);
export const policyDescription =
  "A label of the agent that acts, such as `step-400`. Reality figures are grouped by it.";

/** Body of `POST /v1/episodes`. */
export const EpisodeCreateRequest = z
  .strictObject({
    environment: shortText(63).meta({ description: "The environment's name." }),
    split: TaskSplitName.nullish().meta({ default: "train", description: "The task's split." }),
    index: z.int().min(0).nullish().meta({
      description:
        "The task's place in the split, from 0. If neither it nor the seed is given, a task is drawn.",
    }),
    task: TaskLine.nullish().meta({
      description: "A task for this episode alone, instead of `split` and `index`.",
    }),
    seed: z.int().min(0).max(Number.MAX_SAFE_INTEGER).nullish().meta({
      description: "Draws the task if no index is given, and is sent to the deployment with every step.",
    }),
    policy: policyLabel.nullish().meta({ description: policyDescription }),
  })
  .meta({ id: "EpisodeCreateRequest" });
export type EpisodeCreateRequest = z.infer<typeof EpisodeCreateRequest>;

const described = {
  observation: "What the agent sees.",
  reward: "Null if the step has none.",
  terminated: "Whether the episode ended by a rule of the environment.",
  truncated: "Whether the episode was cut short, by its number of steps or a guard.",
  index: "The task's place in the split; null for a task that came with the request.",
};

/** What is known about a step besides what an agent learns from. */
export const StepInfo = z
  .object({
    step: count("Counts the episode's steps from 1."),
    outcome: EpisodeOutcome.nullable().meta({ description: "How the episode ended, if a rule says so." }),
    stop_reason: stringOrNull("Why the episode ended."),
    prediction_id: z.uuid().meta({
      description:
        "The step's prediction, which `GET /v1/predictions/{id}` returns with the prompt that was sent.",
    }),
    reward_error: stringOrNull(
      "Why there is no reward where there should be one: its evaluator failed, or the world abstained.",
    ),
    deployment: stringOrNull("The deployment that answered."),
    model: stringOrNull("The model, as the upstream named it."),
    finish_reason: stringOrNull("Why the completion ended, as the upstream reports it."),
    prompt_tokens: countOrNull("As the upstream counted them. These three are null if it counted none."),
    cached_tokens: countOrNull(
      "Prompt tokens that the upstream had in its own cache; or, for an observation from Presage's cache, all its tokens: then the other two are 0.",
    ),
    completion_tokens: countOrNull("As the upstream counted them."),
    latency_ms: figure("From the call to its response."),
  })
  .meta({ id: "StepInfo" });

/** Response of `POST /v1/episodes`. */
export const EpisodeStart = z
  .object({
    episode_id: z.uuid().meta({ description: "The episode's id." }),
    observation: string(described.observation),
    info: z
      .object({
        environment: string("The environment's name."),
        revision: count("The revision of the environment that the episode keeps."),
        split: TaskSplitName.meta({ description: "The task's split." }),
        index: countOrNull(described.index),
        prompt: stringOrNull("What the agent is told to do."),
        metadata: z.record(z.string(), z.unknown()).nullable().meta({ description: "The task's metadata." }),
        max_steps: count("After how many steps the episode is truncated."),
        reality: RealityState.omit({ policies: true })
          .extend({
            policy: RealityState.shape.policies.element.nullable().meta({
              description: "The same for the episode's policy alone; null if nothing is known about it.",
            }),
          })
          .nullable()
          .meta({
            description:
              "How often successes in the environment are real. Null without a limit, or if not known yet.",
          }),
      })
      .meta({ description: "What else is known at the start." }),
  })
  .meta({ id: "EpisodeStart" });
export type EpisodeStart = z.infer<typeof EpisodeStart>;

/** Body of `POST /v1/episodes/{id}/step`. */
export const StepRequest = z
  .strictObject({
    action: shortText(maxActionCharacters).meta({ description: "What the agent does." }),
  })
  .meta({ id: "StepRequest" });

const stepFields = {
  observation: string(described.observation),
  reward: figure(described.reward),
  terminated: z.boolean().meta({ description: described.terminated }),
  truncated: z.boolean().meta({ description: described.truncated }),
  info: StepInfo.meta({ description: "What else is known about the step." }),
};

/** Response of `POST /v1/episodes/{id}/step`. */
export const StepResponse = z.object(stepFields).meta({ id: "StepResponse" });
export type StepResponse = z.infer<typeof StepResponse>;

/** A step of an episode. */
export const EpisodeStep = z
  .object({ action: string("What the agent did."), ...stepFields })
  .meta({ id: "EpisodeStep" });
export type EpisodeStep = z.infer<typeof EpisodeStep>;

const episodeFields = {
  id: z.uuid().meta({ description: "The episode's id." }),
  environment: string("The environment's name."),
  revision: count("The environment's revision."),
  split: TaskSplitName.meta({ description: "The task's split." }),
  index: countOrNull(described.index),
  seed: countOrNull("As given."),
  policy: stringOrNull("As given."),
  status: EpisodeStatus.meta({ description: expired }),
  outcome: EpisodeOutcome.nullable().meta({ description: "How it ended, if a rule says so." }),
  stop_reason: stringOrNull("Why it ended."),
  steps_taken: count("The number of its steps."),
  reward: figure("The sum of its rewards; null without any."),
  failed_steps: count("How often a step could not be predicted. None of them is part of the episode."),
  created_at: instant.meta({ description: "When it was started." }),
  last_active_at: instant.meta({ description: "When it was last used." }),
};

/** An episode in a list. */
export const EpisodeSummary = z
  .object({
    ...episodeFields,
    instruction: stringOrNull(
      "The first 200 characters of what the agent is told to do; without that, of the task's goal or of its `task_context`. Null if the task has none of them in its first 65,536 characters.",
    ),
  })
  .meta({ id: "EpisodeSummary" });
export type EpisodeSummary = z.infer<typeof EpisodeSummary>;

/** An episode with its steps. */
export const Episode = z
  .object({
    ...episodeFields,
    initial_state: string("The first observation."),
    prompt: stringOrNull("What the agent is told to do."),
    goal: stringOrNull("What success is."),
    steps: z.array(EpisodeStep).meta({ description: "In their order." }),
  })
  .meta({ id: "Episode" });
export type Episode = z.infer<typeof Episode>;

/** Path of `/v1/episodes/{id}`. */
export const EpisodePath = z.object({
  id: storableText().meta({
    description: "The episode's id.",
    examples: ["019aa5f7-1d10-7000-9b2e-4f6f5a2d9c41"],
  }),
});

/** `none`: the episode ended without an outcome, because it was cut short. */
export const EpisodeEnding = z.enum(["success", "failure", "none"]);
export type EpisodeEnding = z.infer<typeof EpisodeEnding>;

/** Filters of episodes that queries and bodies share. */
export const describedFilter = {
  environment: "Only episodes of this environment.",
  revision: "Only episodes in this revision of the environment.",
  split: "Only episodes with tasks of this split.",
  index: "Only episodes with the task at this place in its split.",
  policy: "Only episodes of this policy.",
  status: `Only episodes in this state. ${expired}`,
  outcome:
    "Only episodes with this outcome. `none`: those that ended without one, because they were cut short.",
  from: "Only episodes that were started at this time or later.",
  to: "Only episodes that were started before this time.",
};

/** Query of `GET /v1/episodes`. */
export const EpisodeListQuery = z.object({
  environment: storableText().optional().meta({ description: describedFilter.environment }),
  revision: queryInteger({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })
    .optional()
    .meta({ description: describedFilter.revision }),
  split: TaskSplitName.optional().meta({ description: describedFilter.split }),
  index: queryInteger({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })
    .optional()
    .meta({ description: describedFilter.index }),
  policy: storableText().optional().meta({ description: describedFilter.policy }),
  status: EpisodeStatus.optional().meta({ description: describedFilter.status }),
  outcome: EpisodeEnding.optional().meta({ description: describedFilter.outcome }),
  from: dateTime().optional().meta({ description: describedFilter.from }),
  to: dateTime().optional().meta({ description: describedFilter.to }),
  ...pageQuery(),
});
export type EpisodeListQuery = z.infer<typeof EpisodeListQuery>;

/** Response of `GET /v1/episodes`: the account's episodes, newest first. */
export const EpisodeListResponse = listOf(
  "EpisodeListResponse",
  EpisodeSummary,
  "The episodes, newest first.",
);
export type EpisodeListResponse = z.infer<typeof EpisodeListResponse>;

/** More than one would name by hand. */
const maxIds = 1_000;

/** Body of `POST /v1/datasets/{id}/revisions?from=episodes`: the episodes that match every field. */
export const EpisodeSelection = z
  .strictObject({
    environment: shortText(63).nullish().meta({ description: describedFilter.environment }),
    revision: z.int().min(1).nullish().meta({ description: describedFilter.revision }),
    split: TaskSplitName.nullish().meta({ description: describedFilter.split }),
    index: z.int().min(0).nullish().meta({ description: describedFilter.index }),
    policy: policyLabel.nullish().meta({ description: describedFilter.policy }),
    status: EpisodeStatus.nullish().meta({ description: describedFilter.status }),
    outcome: EpisodeEnding.nullish().meta({ description: describedFilter.outcome }),
    from: dateTime().nullish().meta({ description: describedFilter.from }),
    to: dateTime().nullish().meta({ description: describedFilter.to }),
    ids: list(shortText(64)).min(1).max(maxIds).nullish().meta({
      description: "Only these episodes. Needed without an environment.",
    }),
  })
  .refine(({ environment, ids }) => Boolean(environment ?? ids), {
    path: ["environment"],
    error: "Name an environment, or the ids of episodes",
  })
  .meta({ id: "EpisodeSelection" });
export type EpisodeSelection = z.infer<typeof EpisodeSelection>;

/** What episodes are grouped by, besides their environment. */
export const EpisodeGrouping = z.enum(["environment", "revision", "deployment", "split"]);
export type EpisodeGrouping = z.infer<typeof EpisodeGrouping>;

/** Query of `GET /v1/episodes/figures`. */
export const EpisodeFiguresQuery = z.object({
  by: EpisodeGrouping.optional().meta({
    default: "environment",
    description:
      "What is counted separately, besides environments: their revisions, the deployments that answered the first step, or the splits of the tasks.",
  }),
  environment: storableText().optional().meta({ description: describedFilter.environment }),
  from: dateTime().optional().meta({ description: describedFilter.from }),
  to: dateTime().optional().meta({ description: describedFilter.to }),
});
export type EpisodeFiguresQuery = z.infer<typeof EpisodeFiguresQuery>;

/** How the episodes of one group went. */
export const EpisodeFigures = z
  .object({
    environment: string("The environment's name."),
    revision: countOrNull("Null unless grouped by it."),
    deployment: stringOrNull("Null unless grouped by it, or if no step was taken."),
    split: TaskSplitName.nullable().meta({ description: "Null unless grouped by it." }),
    episodes: count("All episodes."),
    open: count("Episodes that can be continued."),
    expired: count(`Episodes that were idle for ${episodeIdleMinutes} minutes.`),
    finished: count("Episodes that have ended."),
    successes: count("Episodes that ended with success."),
    failures: count("Episodes that ended with failure. Other ended ones were cut short."),
    tasks: count("Tasks of the ended episodes: the clusters of the interval."),
    success_rate: figure("Successes among the ended episodes. Null if none has ended."),
    success_interval: intervalOf(
      "The success rate's, at 95 %, clustered by task. Null for fewer than two tasks.",
    ),
    mean_steps: figure("Mean number of steps of the ended episodes. Null if none has ended."),
    rewarded: count("Ended episodes with a reward."),
    mean_reward: figure("Their mean sum of rewards. Null without any."),
    failed_steps: count("How often a step could not be predicted. None of them is part of an episode."),
    last_started_at: instant.meta({ description: "When the newest of them was started." }),
  })
  .meta({ id: "EpisodeFigures" });
export type EpisodeFigures = z.infer<typeof EpisodeFigures>;

/** Response of `GET /v1/episodes/figures`. */
export const EpisodeFiguresResponse = z
  .object({
    data: z
      .array(EpisodeFigures)
      .meta({ description: "One item per group: by environment, and by what else is counted separately." }),
  })
  .meta({ id: "EpisodeFiguresResponse" });
export type EpisodeFiguresResponse = z.infer<typeof EpisodeFiguresResponse>;
