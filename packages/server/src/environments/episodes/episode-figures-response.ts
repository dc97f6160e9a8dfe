import type { EpisodeFigures, EpisodeGrouping, TaskSplitName } from "@presage/contract";
import { clusteredError, rateInterval } from "../../platform/statistics/clustered-interval.ts";
import { toIsoInstant } from "../../platform/storage/micros.ts";
import type { EpisodeCounts } from "./episode-figures-store.ts";

export function toEpisodeFigures(by: EpisodeGrouping, counts: EpisodeCounts): EpisodeFigures {
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
