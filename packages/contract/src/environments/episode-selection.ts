import { z } from "zod";
import { dateTime } from "../date-time.ts";
import { list } from "../list.ts";
import { shortText } from "../text.ts";
import { TaskSplitName } from "./environment.ts";
import { describedFilter, EpisodeEnding, EpisodeStatus } from "./episode.ts";

/** More than one would name by hand. */
const maxIds = 1_000;

/** Body of `POST /v1/datasets/{id}/revisions?from=episodes`: the episodes that satisfy all of it. */
export const EpisodeSelection = z
  .strictObject({
    environment: shortText(63).nullish().meta({ description: describedFilter.environment }),
    revision: z.int().min(1).nullish().meta({ description: describedFilter.revision }),
    split: TaskSplitName.nullish().meta({ description: describedFilter.split }),
    index: z.int().min(0).nullish().meta({ description: describedFilter.index }),
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
