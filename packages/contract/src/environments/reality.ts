import { z } from "zod";
import { defaultPageLimit, nextCursor, pageQuery } from "../query.ts";
import { instant, shortText, storableText } from "../text.ts";
import { RealityFigures } from "./reality-figures.ts";

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
