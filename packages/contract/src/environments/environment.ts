import { z } from "zod";
import { list } from "../custom-schemas.ts";
import { defaultProfileName } from "../defaults.ts";
import { Context, Params } from "../prediction/prediction.ts";
import { WorldReference } from "../prediction/through-world.ts";
import { defaultRevisionLimit, listOf, numberedPageQuery, pageQuery, queryBoolean } from "../query.ts";
import {
  boundedObject,
  boundedText,
  count,
  instant,
  maxDescriptionCharacters,
  shortText,
  storableText,
  string,
  stringOrNull,
} from "../text.ts";
import { RealityState } from "./reality-figures.ts";
import { EpisodeStop, maxStops } from "./stop.ts";

/** How many steps an episode may have unless its environment says otherwise. */
export const defaultMaxSteps = 30;
/** The most steps of an episode. Its prompt may contain all of them. */
const mostSteps = 1_000;
/** A name is part of an address and of a tool's name. */
const namePattern = /^[a-z0-9][a-z0-9-]{0,62}$/;

/** A name of an environment, in a path or a body. */
const environmentName = z
  .string()
  .regex(
    namePattern,
    "Names have 1 to 63 lower-case letters, digits and hyphens, and do not begin with a hyphen",
  );

/** How the model is asked: with one state and action, or with the conversation so far. */
export const PromptForm = z.enum(["state-action", "chat"]);

const limit = z.int().min(1).max(mostSteps);

/** Limits that truncate an episode that no longer gets anywhere. */
export const EpisodeGuards = z
  .strictObject({
    repeat_limit: limit.nullish().meta({ description: "The same action this often in a row." }),
    unchanged_limit: limit.nullish().meta({
      description: "This many observations in a row that are the same as the state before.",
    }),
  })
  .meta({ id: "EpisodeGuards" });

/** How the steps of an episode are rewarded. */
export const EpisodeReward = z
  .strictObject({
    evaluator: shortText(200).meta({
      description:
        "An evaluator, as in `POST /v1/evaluate`. It sees the step as input, the observation as output and the task's goal as gold answer. Its score is the reward.",
    }),
    profile_name: shortText(200).nullish().meta({
      default: defaultProfileName,
      description: "A profile of the evaluator's family.",
    }),
    when: z.enum(["last", "every-step"]).meta({
      description: "`last`: the last step has the reward, and those before it null.",
    }),
  })
  .meta({ id: "EpisodeReward" });
export type EpisodeReward = z.infer<typeof EpisodeReward>;

/** The tool that agents act with, for protocols that have tools. */
export const EnvironmentTool = z
  .strictObject({
    name: z
      .string()
      .regex(/^[A-Za-z0-9_-]{1,64}$/)
      .meta({ description: "The tool's name." }),
    description: boundedText(maxDescriptionCharacters).meta({
      description: "What agents are told about it.",
    }),
    argument: z
      .string()
      .regex(/^[A-Za-z0-9_-]{1,64}$/)
      .meta({ description: "The argument with the action." }),
  })
  .meta({ id: "EnvironmentTool" });
export type EnvironmentTool = z.infer<typeof EnvironmentTool>;

/** The real environment that an environment simulates. */
export const RealTarget = z
  .strictObject({
    name: shortText(64).meta({
      description: "A real environment that the operator declares, as `GET /v1/real-environments` names it.",
    }),
    share: z.number().min(0).max(1).nullish().meta({
      default: 0,
      description:
        "Each ended episode is replayed there with this probability. A hash of its id decides, never how it ended.",
    }),
    false_success_limit: z.number().gt(0).lt(1).nullish().meta({
      description: "The share of simulated successes that may fail in reality. Above it, there is an alarm.",
    }),
    on_alarm: z.enum(["warn", "refuse"]).nullish().meta({
      default: "warn",
      description: "`refuse`: no new episodes start while there is an alarm. Running ones continue.",
    }),
  })
  .meta({ id: "RealTarget" });

const configFields = {
  description: boundedText(maxDescriptionCharacters)
    .nullish()
    .meta({ description: "What the environment is." }),
  world: WorldReference.nullish().meta({
    description:
      "A world that predicts in the environment, in place of `deployment`, `context` and `params`, or one of its revisions as NAME@NUMBER; without a number, the latest when this is set. The trajectory that a task was made from is never an example in the task's episodes.",
  }),
  deployment: shortText(200).nullish().meta({
    description: "The name of the deployment that predicts; the default deployment if not given.",
  }),
  on_abstain: z.enum(["truncate", "answer", "fail"]).nullish().meta({
    default: "truncate",
    description:
      "What happens to a step whose world is less sure than it has to be. `truncate`: the step is the episode's last, as nobody should learn from a guess. `answer`: the episode goes on. `fail`: the step fails, and the episode is unchanged.",
  }),
  context: Context.nullish().meta({ description: "Background for the world model, in every step." }),
  params: Params.nullish().meta({
    description:
      "Sampling and decoding. `temperature` is 0 unless it is given, so that the same action meets the same world.",
  }),
  prompt_form: PromptForm.nullish().meta({
    default: "state-action",
    description:
      "`state-action`: each step is composed as in `POST /v1/predict`, with the observation before it as the state. `chat`: the whole episode is one conversation.",
  }),
  truncated_output: z.enum(["fail", "accept"]).nullish().meta({
    default: "fail",
    description:
      "What happens to a step whose observation was cut off at `max_tokens`. `fail`: the step fails, and the episode is unchanged. `accept`: the observation is the part before the cut.",
  }),
  max_steps: limit.nullish().meta({ default: defaultMaxSteps, description: "Truncates longer episodes." }),
  stop: list(EpisodeStop).max(maxStops).nullish().meta({
    description: "Rules that end an episode, in the order in which they are tried.",
  }),
  guards: EpisodeGuards.nullish().meta({ description: "Limits that truncate an episode." }),
  reward: EpisodeReward.nullish().meta({
    description:
      "How steps are rewarded; if not given, as the world says. Without either, and if a rule of `stop` leads to success, the last step's reward is 1 for success, otherwise 0.",
  }),
  tool: EnvironmentTool.nullish().meta({
    description: "The tool that agents act with; `act(action)` if not given.",
  }),
  real: RealTarget.nullish().meta({ description: "The real environment that it is checked against." }),
};

/** The configuration of an environment. */
export const EnvironmentConfig = z.strictObject(configFields).meta({ id: "EnvironmentConfig" });
export type EnvironmentConfig = z.infer<typeof EnvironmentConfig>;

/** Body of `POST /v1/environments`. */
export const EnvironmentCreateRequest = z
  .strictObject({
    name: environmentName.meta({ description: "No other environment of the account may have this name." }),
    ...configFields,
  })
  .meta({ id: "EnvironmentCreateRequest" });
export type EnvironmentCreateRequest = z.infer<typeof EnvironmentCreateRequest>;

/** The splits of an environment's tasks. */
export const TaskSplitName = z.enum(["train", "validation", "test"]);
export type TaskSplitName = z.infer<typeof TaskSplitName>;

/** An environment that a world model plays. */
export const Environment = z
  .object({
    name: string("Unique in the account."),
    revision: count("Counts its changes from 1. An episode keeps the one that it was started with."),
    config: EnvironmentConfig.meta({ description: "Its configuration, as given." }),
    tasks: z.record(z.string(), z.int()).meta({ description: "The number of tasks of each split." }),
    is_built_in: z.boolean().meta({ description: "Whether it comes with Presage and cannot be changed." }),
    created_at: instant.nullable().meta({ description: "When it was created. Null if it is built in." }),
    revised_at: instant
      .nullable()
      .meta({ description: "When this revision was made. Null if it is built in." }),
  })
  .meta({ id: "Environment" });
export type Environment = z.infer<typeof Environment>;

/** Response of `GET /v1/environments/{name}`. */
export const EnvironmentDetail = Environment.extend({
  reality: RealityState.nullable().meta({
    description: "How often successes in this revision are real. Null without a limit.",
  }),
}).meta({ id: "EnvironmentDetail" });
export type EnvironmentDetail = z.infer<typeof EnvironmentDetail>;

/** Path of `/v1/environments/{name}`. */
export const EnvironmentPath = z.object({
  name: storableText().meta({ description: "The environment's name.", examples: ["sandbox"] }),
});

/** Query of `GET /v1/environments`. */
export const EnvironmentListQuery = z.object(pageQuery());

/** Response of `GET /v1/environments`. */
export const EnvironmentListResponse = listOf(
  "EnvironmentListResponse",
  Environment,
  "The account's own, newest first, then the built-in one.",
);

/** Query of `DELETE /v1/environments/{name}`. */
export const EnvironmentDeleteQuery = z.object({
  with_episodes: queryBoolean().optional().meta({
    default: false,
    description:
      "Deletes the environment's episodes as well. Otherwise an environment with episodes is not deleted.",
  }),
});

/** One line of an upload of tasks. */
export const TaskLine = z
  .strictObject({
    split: TaskSplitName.nullish().meta({ default: "train", description: "What the task is for." }),
    initial_state: z.string().min(1).meta({ description: "The first observation." }),
    prompt: z.string().nullish().meta({ description: "What the agent is told to do." }),
    context: Context.nullish().meta({
      description: "Background for the world model. Its sections override the environment's.",
    }),
    goal: z.string().min(1).nullish().meta({
      description: "What success is: `{goal}` in rules of `stop`, and the gold answer of an evaluator.",
    }),
    metadata: boundedObject(10_000, "Metadata")
      .nullish()
      .meta({ description: "Anything that clients want to find again." }),
  })
  .meta({ id: "TaskLine" });
export type TaskLine = z.infer<typeof TaskLine>;

/** Body of `POST /v1/environments/{name}/tasks` as JSON, in place of lines. */
export const TasksFromDataset = z
  .strictObject({
    dataset_id: shortText(200).meta({
      description: "A dataset: each trajectory's first state becomes a task.",
    }),
    revision: z.int().min(1).nullish().meta({ description: "A number; the latest if not given." }),
    split: TaskSplitName.nullish().meta({ default: "train", description: "What the tasks are for." }),
  })
  .meta({ id: "TasksFromDataset" });
export type TasksFromDataset = z.infer<typeof TasksFromDataset>;

/** A task of an environment. */
export const EnvironmentTask = z
  .object({
    split: TaskSplitName.meta({ description: "What the task is for." }),
    index: count("Its place in the split, from 0."),
    initial_state: string("The first observation."),
    prompt: stringOrNull("What the agent is told to do."),
    context: Context.nullable().meta({ description: "Background for the world model." }),
    goal: stringOrNull("What success is."),
    metadata: z.record(z.string(), z.unknown()).nullable().meta({ description: "As given." }),
  })
  .meta({ id: "EnvironmentTask" });
export type EnvironmentTask = z.infer<typeof EnvironmentTask>;

/** Response of `POST /v1/environments/{name}/tasks`. */
export const TasksAdded = z
  .object({
    added: z.record(z.string(), z.int()).meta({ description: "How many tasks each split got." }),
    tasks: z.record(z.string(), z.int()).meta({ description: "How many each split has now." }),
  })
  .meta({ id: "TasksAdded" });
export type TasksAdded = z.infer<typeof TasksAdded>;

/** How many tasks a page has unless its query says otherwise. */
export const defaultTaskLimit = 100;

/** Query of `GET /v1/environments/{name}/tasks`. */
export const TaskListQuery = z.object({
  split: TaskSplitName.optional().meta({ default: "train", description: "Only tasks of this split." }),
  ...numberedPageQuery({ noun: "tasks", default: defaultTaskLimit, first: 0 }),
});

/** Response of `GET /v1/environments/{name}/tasks`. */
export const TaskListResponse = listOf("TaskListResponse", EnvironmentTask, "Tasks of one split, by index.");
export type TaskListResponse = z.infer<typeof TaskListResponse>;

/** A revision of an environment. */
export const EnvironmentRevision = z
  .object({
    revision: count("Counts the environment's changes from 1."),
    config: EnvironmentConfig.meta({ description: "Its configuration." }),
    created_at: instant.nullable().meta({ description: "When it was made. Null if it is built in." }),
  })
  .meta({ id: "EnvironmentRevision" });
export type EnvironmentRevision = z.infer<typeof EnvironmentRevision>;

/** Query of `GET /v1/environments/{name}/revisions`. */
export const EnvironmentRevisionListQuery = z.object(
  numberedPageQuery({ noun: "revisions", default: defaultRevisionLimit, first: 1 }),
);

/** Response of `GET /v1/environments/{name}/revisions`. */
export const EnvironmentRevisionListResponse = listOf(
  "EnvironmentRevisionListResponse",
  EnvironmentRevision,
  "The revisions, the highest number first.",
);

/** Names reserved only after environments could already have them: such environments stay, without paths at the root. */
export const lateReservedNames: readonly string[] = ["worlds", "log", "share"];

/**
 * First segments of paths that are Presage's own, or may become so: the API, pages, probes, and the paths of the Open Reward Standard
 * without an environment. That protocol has `/{environment}/…` at the root, so no environment has one of these names.
 */
const reserved: ReadonlySet<string> = new Set([
  ...lateReservedNames,
  ...`v1 v2 v3 api health ready live metrics status docs openapi assets static favicon robots well-known
    auth sign-in sign-out sign-up login logout oauth account settings admin
    overview playground play predictions deployments models runs compare reports datasets evaluations evaluators
    error-taxonomies review environments episodes projects experiments apps usage api-keys users teams
    ors openenv mcp ws create ping delete tools splits tasks task prompt messages call version`.split(/\s+/),
]);

/** Whether no environment may have this name, because paths of Presage's own begin with it. */
export function isReservedName(name: string): boolean {
  return reserved.has(name);
}
