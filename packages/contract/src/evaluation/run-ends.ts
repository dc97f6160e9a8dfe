import { z } from "zod";
import { list } from "../custom-schemas.ts";
import { EpisodeStop, maxStops } from "../environments/stop.ts";
import { intervalOf } from "../responses.ts";
import { count, figure, shortText, stringOrNull } from "../text.ts";

const fieldPath = z
  .string()
  .max(500)
  .regex(/^\$(\.[^.[\]'*\s]+|\[(\d+|'[^']*')\])+$/, "A path is like $.done or $['game state'][0]");

const said = {
  environment: "An environment, whose rules end an episode as in its latest revision.",
  stop: "Rules like those of environments, tried on each action and its prediction.",
  done: "Where a JSON answer says whether the episode ends, as a JSON path to true or false.",
  reward: "Where a JSON answer has the reward, as a JSON path to a number.",
};
const reward_field = fieldPath.nullish().meta({ description: said.reward });
const stop = list(EpisodeStop).min(1).max(maxStops);

/** How to tell from a run's predictions that the episode ends with them, and what the reward is. */
export const RunEnds = z
  .union([
    z.strictObject({
      environment: shortText(200).meta({ description: said.environment }),
      reward_field,
    }),
    z.strictObject({ stop: stop.meta({ description: said.stop }), reward_field }),
    z.strictObject({ done_field: fieldPath.meta({ description: said.done }), reward_field }),
    z.strictObject({ reward_field: fieldPath.meta({ description: said.reward }) }),
  ])
  .meta({ id: "RunEnds" });
export type RunEnds = z.infer<typeof RunEnds>;

/** A run's `ends`, as they were when the run was made. */
export const PinnedEnds = z
  .object({
    environment: z.string().optional().meta({ description: "The environment's name and revision." }),
    stop: z.array(EpisodeStop).optional().meta({ description: said.stop }),
    done_field: z.string().optional().meta({ description: said.done }),
    reward_field: z.string().optional().meta({ description: said.reward }),
    reward_evaluator: z.string().optional().meta({
      description:
        "The environment's rewards come from this evaluator, which judges by a task's goal: a run does not know them.",
    }),
  })
  .meta({ id: "PinnedEnds" });
export type PinnedEnds = z.infer<typeof PinnedEnds>;

const clusteredFigure = (description: string) =>
  z
    .object({
      value: figure("Null if it is not defined."),
      interval: intervalOf("At 95 %, clustered by trajectory. Null with the reason in `note`."),
      count: count("Predictions that it is computed from."),
      trajectories: count("Their trajectories."),
      effective_trajectories: figure(
        "The number of equally long trajectories that would carry as much information.",
      ),
      note: stringOrNull("Why there is no value, or no interval."),
    })
    .meta({ description });

const ends = {
  counts: z
    .object({
      both: count("Ends in both."),
      only_predicted: count("The world ends, and the real environment goes on."),
      only_recorded: count("The real environment ends, and the world goes on."),
      neither: count("Goes on in both."),
    })
    .meta({ id: "EndCounts", description: "Predictions by what the world and the recording say." }),
  agreement: clusteredFigure(
    "The share of predictions that end where the real environment ends, and only there.",
  ),
};
const absolute_error = clusteredFigure("The mean of |predicted − recorded|.");
const spearman = clusteredFigure("Spearman's rank correlation of predicted and recorded rewards.");
const key = count("The place in the trajectory.");
const without = count(
  "Predictions for samples that have it, which do not say it themselves: they failed, or the answer has no such field, or is too long for the patterns.",
);

/** Whether a run's predictions end where the real environment ends, and pay what it pays. */
export const RunEndsReport = z
  .object({
    sentence: stringOrNull("What it says about ends, in words."),
    done: z
      .object({
        ...ends,
        false_ends: clusteredFigure("The share of predicted ends that are not real."),
        missed_ends: clusteredFigure("The share of real ends that are not predicted."),
        without,
        step: z
          .array(z.object({ key, ...ends }))
          .meta({ description: "By place in the trajectory, the first 1,000." }),
      })
      .nullable()
      .meta({ id: "RunDoneReport", description: "Figures for samples that say whether the episode ended." }),
    reward: z
      .object({
        absolute_error,
        spearman,
        without,
        step: z
          .array(z.object({ key, absolute_error, spearman }))
          .meta({ description: "By place in the trajectory, the first 1,000." }),
      })
      .nullable()
      .meta({ id: "RunRewardReport", description: "Figures for samples with a reward." }),
    note: stringOrNull("Why `done` or `reward` is null."),
  })
  .meta({ id: "RunEndsReport" });
export type RunEndsReport = z.infer<typeof RunEndsReport>;
