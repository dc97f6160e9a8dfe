import { z } from "zod";
import { list } from "../custom-schemas.ts";
import { EvaluatorReference } from "../evaluation/evaluate.ts";
import { maxRunEvaluators } from "../evaluation/run.ts";
import { listOf, numberedPageQuery, pageQuery, queryInteger, queryNumber } from "../query.ts";
import {
  count,
  countOrNull,
  dateTime,
  figure,
  instant,
  number,
  shortText,
  storableText,
  string,
  stringOrNull,
} from "../text.ts";
import { TaskSplitName } from "./environment.ts";
import { describedFilter, EpisodeEnding, policyDescription, policyLabel } from "./episode.ts";
import { RealityFigures, RealityState } from "./reality-figures.ts";

const RealFailure = z.object({
  at: instant.meta({ description: "When it happened." }),
  category: z.enum(["unavailable", "timeout", "refused", "invalid", "too_large"]).meta({
    description:
      "`refused`: it refused a message or the key. `invalid`: its answer broke the protocol. `too_large`: it sent more than 1 MiB at once.",
  }),
  message: string("What happened, without texts from the other side."),
});

/** A real environment that the operator has declared. */
export const RealEnvironmentStatus = z
  .object({
    name: string("Its name in the file."),
    protocol: z.enum(["openenv", "ors", "http"]).meta({
      description: "OpenEnv, the Open Reward Standard, or Presage's own episodes.",
    }),
    in_flight: count("Episodes that the answering process plays there now."),
    max_in_flight: count("The most episodes that it plays there at once."),
    last_failure: RealFailure.nullable().meta({ description: "Null if it has not failed." }),
  })
  .meta({ id: "RealEnvironmentStatus" });
export type RealEnvironmentStatus = z.infer<typeof RealEnvironmentStatus>;

/** Response of `GET /v1/real-environments`. */
export const RealEnvironmentListResponse = z
  .object({ data: z.array(RealEnvironmentStatus).meta({ description: "In the order of the file." }) })
  .meta({ id: "RealEnvironmentListResponse" });
export type RealEnvironmentListResponse = z.infer<typeof RealEnvironmentListResponse>;

/** How an episode ended in simulation, and in the real environment. */
export const RealityPair = z
  .strictObject({
    task_id: shortText(200).meta({ description: "The task. Intervals are clustered by it." }),
    episode_id: shortText(200).nullish().meta({ description: "The episode's id." }),
    policy: policyLabel.nullish().meta({ description: policyDescription }),
    simulated: z.boolean().meta({ description: "Whether it succeeded in simulation." }),
    real: z.boolean().meta({ description: "Whether it succeeded in the real environment." }),
    replayed: z.boolean().nullish().meta({
      description:
        "Whether its simulated actions succeeded when they were sent to the real environment, if `real` is the outcome of an agent that acted there.",
    }),
  })
  .meta({ id: "RealityPair" });
export type RealityPair = z.infer<typeof RealityPair>;

/** The most pairs of one reality check. */
export const maxRealityPairs = 10_000;

/** The first pair that repeats the task, episode and policy of an earlier one, and the earlier one, by their places. */
export function findRepeatedPair(
  pairs: readonly RealityPair[],
): { index: number; before: number } | undefined {
  const seen = new Map<string, number>();
  for (const [index, { task_id, episode_id, policy }] of pairs.entries()) {
    const key = JSON.stringify([task_id, episode_id ?? null, policy ?? null]);
    const before = seen.get(key);
    if (before !== undefined) return { index, before };
    seen.set(key, index);
  }
  return undefined;
}

const checkName = shortText(200).meta({ description: "A name for people." });
const falseSuccessLimit = z.number().gt(0).lt(1).nullish().meta({
  description: "The share of simulated successes that may fail in reality.",
});

/** Which ended episodes of an environment are replayed in the real one. */
export const RealityEpisodeSelection = z
  .strictObject({
    ids: list(shortText(64)).min(1).max(1_000).nullish().meta({ description: "Only these episodes." }),
    outcome: EpisodeEnding.nullish().meta({ description: describedFilter.outcome }),
    policy: policyLabel.nullish().meta({ description: describedFilter.policy }),
    split: TaskSplitName.nullish().meta({ description: describedFilter.split }),
    from: dateTime().nullish().meta({ description: describedFilter.from }),
    to: dateTime().nullish().meta({ description: describedFilter.to }),
  })
  .meta({ id: "RealityEpisodeSelection" });

const sources = ["pairs", "episodes", "dataset_id"] as const;

/** Body of `POST /v1/reality-checks`. */
export const RealityCheckRequest = z
  .strictObject({
    name: checkName
      .nullish()
      .meta({ description: "A name for people; made from what is compared if not given." }),
    environment: shortText(200).nullish().meta({
      description: "The environment that simulates, by its name. Required except with `pairs`.",
    }),
    environment_revision: z.int().min(1).nullish().meta({
      description:
        "The revision whose episodes are drawn, or that plays recordings. The latest if not given.",
    }),
    false_success_limit: falseSuccessLimit,
    pairs: z.array(RealityPair).min(1).max(maxRealityPairs).nullish().meta({
      description: "Episodes whose two outcomes are known. No two with the same task, episode and policy.",
    }),
    episodes: RealityEpisodeSelection.nullish().meta({
      description:
        "Ended episodes, drawn from those that match every field: their actions are sent to the real environment. Without pairs and dataset_id, those of the whole environment.",
    }),
    dataset_id: shortText(200).nullish().meta({
      description:
        "A dataset of recorded transitions: the environment plays the actions of each trajectory from its first state.",
    }),
    revision: z
      .int()
      .min(1)
      .nullish()
      .meta({ description: "The dataset's revision; the latest if not given." }),
    success_reward: z.number().nullish().meta({
      default: 1,
      description:
        "A recorded trajectory, and the episode that plays it, succeeded if its last reward is at least this, unless the environment has a rule of success.",
    }),
    limit: z.int().min(1).max(maxRealityPairs).nullish().meta({
      default: 1_000,
      description: "The most episodes or trajectories to draw.",
    }),
    seed: z.int().min(0).max(Number.MAX_SAFE_INTEGER).nullish().meta({
      default: 0,
      description: "The same seed draws the same ones.",
    }),
  })
  .refine((body) => sources.filter((name) => body[name]).length <= 1, {
    error: "Give one of pairs, episodes and dataset_id",
  })
  .refine(({ environment, environment_revision: revision }) => environment || !revision, {
    path: ["environment"],
    error: "Name the environment that has this revision",
  })
  .check(({ value, issues }) => {
    const drawn = value.pairs ? (["limit", "seed"] as const) : [];
    const recorded = value.dataset_id ? [] : (["revision", "success_reward"] as const);
    for (const name of [...drawn, ...recorded]) {
      if (typeof value[name] !== "number") continue;
      const message = name === "limit" || name === "seed" ? "All pairs are taken" : "It is for a dataset_id";
      issues.push({ code: "custom", path: [name], message, input: value[name] });
    }
  })
  .refine(({ pairs, name }) => !pairs || name, { path: ["name"], error: "Pairs need a name" })
  .refine(({ pairs, environment }) => pairs || environment, {
    path: ["environment"],
    error: "Name the environment that simulates",
  })
  .meta({ id: "RealityCheckRequest" });
export type RealityCheckRequest = z.infer<typeof RealityCheckRequest>;

/** Where the two outcomes of a check's episodes come from. */
export const RealityCheckSource = z.enum(["pairs", "episodes", "recordings", "continuous"]);
export type RealityCheckSource = z.infer<typeof RealityCheckSource>;

export const RealityCheckStatus = z.enum(["running", "paused", "cancelled", "completed"]);
export type RealityCheckStatus = z.infer<typeof RealityCheckStatus>;

/** Query of `POST /v1/reality-checks` if its body has one pair per line: everything except the pairs. */
export const RealityPairsQuery = z.object({
  name: checkName.optional().meta({ description: "A name for people." }),
  environment: storableText().optional().meta({ description: "The environment that simulated." }),
  environment_revision: queryInteger({ minimum: 1 }).optional().meta({ description: "Its revision." }),
  false_success_limit: queryNumber().optional().meta({
    description: "The share of simulated successes that may fail in reality.",
  }),
});

/** A comparison of simulated episodes with the real environment. */
export const RealityCheck = z
  .object({
    id: z.uuid().meta({ description: "The reality check's id." }),
    name: checkName,
    environment: stringOrNull("The environment that simulated, if known."),
    environment_revision: countOrNull("Its revision; null for any."),
    source: RealityCheckSource.meta({
      description:
        "`pairs`: known before. `episodes`: replayed in a real environment. `recordings`: recorded trajectories that the environment plays. `continuous`: its episodes are drawn as they end.",
    }),
    real: stringOrNull("The real environment that episodes are replayed in."),
    status: RealityCheckStatus.meta({
      description: "A continuous check runs until its environment is revised.",
    }),
    reason: stringOrNull("Why it is paused."),
    false_success_limit: figure("As given."),
    episodes: count("Episodes whose two outcomes are known."),
    waiting: count("Episodes that are still to be replayed."),
    failed: count("Episodes that could not be replayed. No figure includes them."),
    created_by: z.uuid().meta({ description: "The id of the user who made it." }),
    created_at: instant.meta({ description: "When it was made." }),
  })
  .meta({ id: "RealityCheck" });
export type RealityCheck = z.infer<typeof RealityCheck>;

/** Response of `GET /v1/reality-checks/{id}`. */
export const RealityCheckDetail = RealityCheck.extend({
  figures: RealityFigures.meta({ description: "Its figures." }),
}).meta({ id: "RealityCheckDetail" });
export type RealityCheckDetail = z.infer<typeof RealityCheckDetail>;

/** Path of `/v1/reality-checks/{id}`. */
export const RealityCheckPath = z.object({
  id: storableText().meta({
    description: "The reality check's id.",
    examples: ["019aa5f6-7d10-7000-8c3e-0b6f5a2d9c42"],
  }),
});

/** Query of `GET /v1/reality-checks`. */
export const RealityCheckListQuery = z.object({
  environment: storableText().optional().meta({ description: "Only those of this environment." }),
  status: RealityCheckStatus.optional().meta({ description: "Only those with this status." }),
  ...pageQuery(),
});

/** Response of `GET /v1/reality-checks`. */
export const RealityCheckListResponse = listOf(
  "RealityCheckListResponse",
  RealityCheck,
  "The account's reality checks, newest first.",
);

/** Body of `POST /v1/reality-checks/{id}/run`. */
export const RealityCheckRunRequest = z
  .strictObject({
    after_divergence: z.boolean().nullish().meta({
      default: false,
      description:
        "Whether the run includes steps after the first that differs: there, the two are in different states. That is a separate run.",
    }),
    evaluators: list(EvaluatorReference)
      .min(1)
      .max(maxRunEvaluators)
      .nullish()
      .meta({
        default: [{ evaluator: "exact-match" }],
        description: "What judges when the run is made. More evaluators can be added to the run later.",
      }),
  })
  .meta({ id: "RealityCheckRunRequest" });
export type RealityCheckRunRequest = z.infer<typeof RealityCheckRunRequest>;

/** Body of `POST /v1/datasets/{id}/revisions?from=reality-checks`. */
export const RealityCheckSelection = z
  .strictObject({
    ids: list(shortText(64)).min(1).max(100).meta({
      description:
        "These reality checks. An episode that several of them have replayed is taken from the first.",
    }),
    until_divergence: z.boolean().nullish().meta({
      default: false,
      description: "Whether an episode ends with the first step whose observation differs.",
    }),
  })
  .meta({ id: "RealityCheckSelection" });
export type RealityCheckSelection = z.infer<typeof RealityCheckSelection>;

const known = z.boolean().nullable();

/** One episode of a reality check. */
export const RealityEpisode = z
  .object({
    position: count("Its place in the check, from 1."),
    episode_id: stringOrNull("The simulated episode."),
    task_id: stringOrNull("Its task. Null until it was replayed."),
    policy: stringOrNull("The label of its agent."),
    simulated: known.meta({ description: "Whether it succeeded in simulation. Null until it was replayed." }),
    real: known.meta({ description: "Whether it succeeded in reality. Null until it was replayed." }),
    simulated_reward: figure("The sum of its simulated rewards."),
    real_reward: figure("The sum of its real rewards."),
    steps: countOrNull("Steps that were compared. Null for pairs."),
    diverged_at: countOrNull(
      "The first step, from 1, whose observation differs. Null if none does, or if it is not known.",
    ),
    error: stringOrNull("Why it could not be replayed."),
  })
  .meta({ id: "RealityEpisode" });
export type RealityEpisode = z.infer<typeof RealityEpisode>;

/** Query of `GET /v1/reality-checks/{id}/episodes`. */
export const RealityEpisodeListQuery = z.object({
  show: z.enum(["all", "false-successes", "failed"]).optional().meta({
    default: "all",
    description:
      "`all`: those that were checked. `false-successes`: of them, those that succeeded in simulation alone. `failed`: those that could not be replayed.",
  }),
  ...numberedPageQuery({ noun: "episodes", first: 1 }),
});
export type RealityEpisodeListQuery = z.infer<typeof RealityEpisodeListQuery>;

/** Response of `GET /v1/reality-checks/{id}/episodes`. */
export const RealityEpisodeListResponse = listOf(
  "RealityEpisodeListResponse",
  RealityEpisode,
  "The episodes, by position.",
);

/** Response of `GET /v1/episodes/{id}/reality`. */
export const EpisodeReality = RealityEpisode.omit({ error: true })
  .extend({
    check_id: z.uuid().meta({ description: "The newest reality check that has replayed it." }),
    real_environment: stringOrNull("Null for a recorded trajectory."),
    first_observation: stringOrNull("What is seen in reality before any action."),
    real_steps: z
      .array(
        z.object({
          step: count("Counts from 1."),
          action: string("What was sent."),
          observation: string("What was seen."),
          reward: figure("Null without one."),
          done: z.boolean().meta({ description: "Whether the real episode ended with it." }),
          latency_ms: figure("From the action to its observation."),
        }),
      )
      .meta({ description: "What happened in the real environment." }),
  })
  .meta({ id: "EpisodeReality" });
export type EpisodeReality = z.infer<typeof EpisodeReality>;

/** Response of `GET /v1/environments/{name}/reality`. */
export const EnvironmentReality = RealityFigures.extend({
  state: RealityState.nullable().meta({
    description: "Whether there is an alarm for the latest revision alone. Null without a limit.",
  }),
  limited_check: z
    .object({
      ...RealityCheck.pick({ id: true, name: true }).shape,
      false_success_limit: number("The check's limit."),
      outcome: z.enum(["above", "below", "undecided"]).meta({ description: "As in its figures." }),
      sentence: RealityFigures.shape.sentence,
    })
    .nullable()
    .meta({
      description:
        "The newest completed reality check with a limit other than the environment's, and what it says. Null if there is none.",
    }),
}).meta({ id: "EnvironmentReality" });
export type EnvironmentReality = z.infer<typeof EnvironmentReality>;

/** Query of `GET /v1/environments/{name}/reality`. */
export const EnvironmentRealityQuery = z.object({
  policy: storableText().optional().meta({ description: "Only episodes of this policy." }),
  from: dateTime().optional().meta({ description: "Only those that were checked at this time or later." }),
});
export type EnvironmentRealityQuery = z.infer<typeof EnvironmentRealityQuery>;
