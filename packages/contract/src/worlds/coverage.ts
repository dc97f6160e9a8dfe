import { z } from "zod";
import { ReportEvaluator } from "../evaluation/run.ts";
import { count, figure } from "../text.ts";

const CoveredAction = z
  .object({
    verb: z.string().nullable().meta({ description: "The first word or the tool; null if there is none." }),
    predictions: count("Predictions of such actions."),
    without_example: count("Predictions for which no example was found."),
    nearest: figure("The median similarity of the nearest example; null if there was none for any of them."),
    judged: count("Predictions with a verdict."),
    right: count("Predictions that pass."),
  })
  .meta({ id: "CoveredAction" });

const MisleadingExample = z
  .object({
    dataset_sample_id: z.string().meta({ description: "The sample of the world's dataset." }),
    trajectory_id: z.string().meta({ description: "Its trajectory." }),
    chosen: count("Judged predictions that leaned on it: it was in the prompt, or the records' answer."),
    wrong: count("How many of them do not pass."),
    action: z.string().nullable().meta({
      description: "The first 200 characters of its action; null if the world's dataset is gone.",
    }),
    misled: z
      .object({
        dataset_sample_id: z.string().meta({ description: "The sample of the run's dataset." }),
        trajectory_id: z.string().meta({ description: "Its trajectory." }),
        step: z.int().meta({ description: "The place in the trajectory." }),
        action: z.string().nullable().meta({ description: "The first 200 characters of its action." }),
      })
      .nullable()
      .meta({
        description:
          "Of the samples whose wrong prediction leaned on it, the one it is the most similar to; null if the run's dataset is gone.",
      }),
  })
  .meta({ id: "MisleadingExample" });

/** Response of `GET /v1/worlds/{name}/coverage`. */
export const WorldCoverage = ReportEvaluator.extend({
  run_id: z.uuid().meta({ description: "The run whose predictions these are." }),
  predictions: count("Predictions through the world."),
  without_example: count("Predictions for which no example was found."),
  judged: count("Predictions with a verdict."),
  right: count("Predictions that pass."),
  actions: z.array(CoveredAction).meta({
    description: "By kind of action, the one with the least similar examples first; at most 50.",
  }),
  misleading: z.array(MisleadingExample).meta({
    description:
      "Examples that at least three predictions leaned on, with a larger share of wrong ones than among all predictions; at most 20, those with the most excess wrong ones first. An example may also be chosen where any answer would be wrong: look at it.",
  }),
}).meta({ id: "WorldCoverage" });
export type WorldCoverage = z.infer<typeof WorldCoverage>;
