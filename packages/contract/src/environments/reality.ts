import { z } from "zod";
import { defaultPageLimit, nextCursor, pageQuery } from "../query.ts";
import { intervalOf } from "../responses.ts";
import { instant, shortText, storableText } from "../text.ts";

const count = (description: string) => z.int().meta({ description });

/** How an episode ended in simulation, and in the real environment. */
export const RealityPair = z
  .strictObject({
    task_id: shortText(200).meta({ description: "The task. Intervals are clustered by it." }),
    episode_id: shortText(200).nullish().meta({ description: "The episode's id." }),
    policy: shortText(200).nullish().meta({ description: "A label of the agent, such as `step-400`." }),
    simulated: z.boolean().meta({ description: "Whether it succeeded in simulation." }),
    real: z.boolean().meta({ description: "Whether it succeeded in the real environment." }),
    replayed: z.boolean().nullish().meta({
      description:
        "Whether its simulated actions succeeded when they were sent to the real environment, where `real` is of an agent that acted there.",
    }),
  })
  .meta({ id: "RealityPair" });
export type RealityPair = z.infer<typeof RealityPair>;

/** The most pairs of one reality check. */
export const maxRealityPairs = 10_000;

const checkName = shortText(200).meta({ description: "A name for people." });
const falseSuccessLimit = z.number().gt(0).lt(1).nullish().meta({
  description: "The share of simulated successes that may fail in reality.",
});

/** Body of `POST /v1/reality-checks`. */
export const RealityCheckRequest = z
  .strictObject({
    name: checkName,
    environment: shortText(200).nullish().meta({
      description: "The environment that simulated the episodes, by its name.",
    }),
    false_success_limit: falseSuccessLimit,
    pairs: z
      .array(RealityPair)
      .min(1)
      .max(maxRealityPairs)
      .meta({ description: "Episodes whose two outcomes are known. No two of a task, episode and policy." }),
  })
  .meta({ id: "RealityCheckRequest" });
export type RealityCheckRequest = z.infer<typeof RealityCheckRequest>;

/** A figure of episodes. */
export const RealityFigure = z
  .object({
    value: z.number().nullable().meta({ description: "Null if it is not defined." }),
    interval: intervalOf("At 95 %, clustered by task. Null with the reason in `note`."),
    count: count("Episodes that it is made of."),
    tasks: count("Their tasks."),
    effective_tasks: z.number().nullable().meta({
      description: "The number of tasks with equally many episodes that would carry as much information.",
    }),
    note: z.string().nullable().meta({ description: "Why there is no value, or no interval." }),
  })
  .meta({ id: "RealityFigure" });
export type RealityFigure = z.infer<typeof RealityFigure>;

const outcomes = {
  counts: z
    .object({
      both: count("Succeeded in both."),
      only_simulated: count("Succeeded in simulation alone: false successes."),
      only_real: count("Succeeded in reality alone: missed successes."),
      neither: count("Failed in both."),
    })
    .meta({ description: "Episodes by their two outcomes." }),
  false_success_rate: RealityFigure.meta({
    description: "Of the episodes that succeeded in simulation, the share that fails in reality.",
  }),
  missed_success_rate: RealityFigure.meta({
    description: "Of the episodes that failed in simulation, the share that succeeds in reality.",
  }),
  agreement: RealityFigure.meta({ description: "The share of episodes that end alike." }),
  bias: RealityFigure.meta({
    description: "Simulated less real success rate, from −1 to 1; its interval is of flipped signs.",
  }),
};

/** What a reality check says. */
export const RealityFigures = z
  .object({
    sentence: z.string().meta({ description: "How often success in simulation is real." }),
    outcome: z.enum(["above", "below", "undecided"]).nullable().meta({
      description:
        "Whether the interval of `false_success_rate` is above `false_success_limit`, below it, or neither. Null without a limit.",
    }),
    ...outcomes,
    phi: RealityFigure.meta({ description: "The correlation of the two outcomes." }),
    cohen_kappa: RealityFigure.meta({ description: "Their agreement beyond chance." }),
    consistency: z
      .object({
        replayed: RealityFigure.meta({ description: "W2R: success of simulated actions in reality." }),
        real: RealityFigure.meta({ description: "Success of agents that act in reality." }),
        ratio: RealityFigure.meta({ description: "The consistency ratio, W2R by real success." }),
      })
      .nullable()
      .meta({ description: "Null without replays (Word2World, arXiv 2512.18832)." }),
    policies: z
      .array(z.object({ policy: z.string().meta({ description: "The label." }), ...outcomes }))
      .meta({ description: "The same for each policy, in the order in which they came; at most 200." }),
    policy_order: z
      .object({
        kendall_tau: z.number().nullable().meta({ description: "τ-b, from −1 to 1." }),
        policies: count("How many policies it is of."),
        note: z.string().nullable().meta({ description: "Why there is none." }),
      })
      .meta({ description: "Whether simulation ranks policies by success as reality does." }),
  })
  .meta({ id: "RealityFigures" });
export type RealityFigures = z.infer<typeof RealityFigures>;

/** A comparison of simulated episodes with the real environment. */
export const RealityCheck = z
  .object({
    id: z.uuid().meta({ description: "The reality check's id." }),
    name: checkName,
    environment: z.string().nullable().meta({ description: "The environment that simulated, if known." }),
    false_success_limit: z.number().nullable().meta({ description: "As given." }),
    episodes: count("The number of its episodes."),
    created_by: z.uuid().meta({ description: "The id of the user who made it." }),
    created_at: instant.meta({ description: "When it was made." }),
  })
  .meta({ id: "RealityCheck" });
export type RealityCheck = z.infer<typeof RealityCheck>;

/** Response of `GET /v1/reality-checks/{id}`. */
export const RealityCheckDetail = RealityCheck.extend({
  figures: RealityFigures.meta({ description: "What it says." }),
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
  ...pageQuery({ maximum: 1000, default: defaultPageLimit }),
});
export type RealityCheckListQuery = z.infer<typeof RealityCheckListQuery>;

/** Response of `GET /v1/reality-checks`. */
export const RealityCheckListResponse = z
  .object({
    data: z.array(RealityCheck).meta({ description: "The account's reality checks, newest first." }),
    next: nextCursor,
  })
  .meta({ id: "RealityCheckListResponse" });
export type RealityCheckListResponse = z.infer<typeof RealityCheckListResponse>;

/** Query of `GET /v1/environments/{name}/reality`. */
export const EnvironmentRealityQuery = z.object({
  policy: storableText().optional().meta({ description: "Only episodes of this policy." }),
});
export type EnvironmentRealityQuery = z.infer<typeof EnvironmentRealityQuery>;
