import { z } from "zod";
import { dateTime } from "../date-time.ts";
import { intervalOf } from "../evaluation/runs/run-report.ts";
import { storableText } from "../text.ts";
import { TaskSplitName } from "./environment.ts";
import { describedFilter } from "./episode.ts";

const count = (description: string) => z.int().meta({ description });
const figure = (description: string) => z.number().nullable().meta({ description });

/** What episodes are grouped by, beside their environment. */
export const EpisodeGrouping = z.enum(["environment", "revision", "deployment", "split"]);
export type EpisodeGrouping = z.infer<typeof EpisodeGrouping>;

/** Query of `GET /v1/episodes/figures`. */
export const EpisodeFiguresQuery = z.object({
  by: EpisodeGrouping.optional().meta({
    default: "environment",
    description:
      "What is counted apart, beside environments: their revisions, the deployments that answered the first step, or the splits of the tasks.",
  }),
  environment: storableText().optional().meta({ description: describedFilter.environment }),
  from: dateTime().optional().meta({ description: describedFilter.from }),
  to: dateTime().optional().meta({ description: describedFilter.to }),
});
export type EpisodeFiguresQuery = z.infer<typeof EpisodeFiguresQuery>;

/** How the episodes of one group went. */
export const EpisodeFigures = z
  .object({
    environment: z.string().meta({ description: "The environment's name." }),
    revision: z.int().nullable().meta({ description: "Null unless grouped by it." }),
    deployment: z
      .string()
      .nullable()
      .meta({ description: "Null unless grouped by it, or if no step was taken." }),
    split: TaskSplitName.nullable().meta({ description: "Null unless grouped by it." }),
    episodes: count("All of them."),
    open: count("That can be continued."),
    expired: count("That were idle for 15 minutes."),
    finished: count("That have ended."),
    successes: count("That ended with success."),
    failures: count("That ended with failure. Other ended ones were cut short."),
    tasks: count("Tasks of the ended ones: the clusters of the interval."),
    success_rate: figure("Successes among the ended ones. Null if none has ended."),
    success_interval: intervalOf(
      "Of the success rate, at 95 %, clustered by task. Null for fewer than two tasks.",
    ),
    mean_steps: figure("Of the ended ones. Null if none has ended."),
    rewarded: count("Ended ones with a reward."),
    mean_reward: figure("Their mean sum of rewards. Null without any."),
    failed_steps: count("How often a step could not be predicted. None of them is part of an episode."),
    last_started_at: z.iso
      .datetime({ offset: true })
      .meta({ description: "When the newest of them was started." }),
  })
  .meta({ id: "EpisodeFigures" });
export type EpisodeFigures = z.infer<typeof EpisodeFigures>;

/** Response of `GET /v1/episodes/figures`. */
export const EpisodeFiguresResponse = z
  .object({
    data: z
      .array(EpisodeFigures)
      .meta({ description: "A group each, by environment and what else is apart." }),
  })
  .meta({ id: "EpisodeFiguresResponse" });
export type EpisodeFiguresResponse = z.infer<typeof EpisodeFiguresResponse>;
