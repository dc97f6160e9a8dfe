import { z } from "zod";
import { listOf } from "../query.ts";
import { figure, stringOrNull } from "../text.ts";
import { RunGoal } from "./goal.ts";
import { ReportEvaluator, Run } from "./run.ts";
import { bestBaseline, previousFields, RunCost, RunFigures, runDifference } from "./run-report.ts";

/** The figures of a report that a list shows. */
export const HeadlineFigures = RunFigures.pick({
  count: true,
  failed: true,
  trajectories: true,
  mean: true,
  interval: true,
  pass_rate: true,
  pass_interval: true,
  unseen_share: true,
  lower_if_missing: true,
  pass_lower_if_missing: true,
  pass_rate_failures_as_zero: true,
  no_change: true,
});
export type HeadlineFigures = z.infer<typeof HeadlineFigures>;

/** A run's figures by its main evaluator. */
export const RunHeadline = z
  .object({
    ...ReportEvaluator.shape,
    ...HeadlineFigures.shape,
    baseline: bestBaseline,
    baseline_outcome: runDifference.outcome.nullable().meta({
      description:
        "How it compares with the baseline's run, in pairs, as in `GET /v1/comparisons`. Null if they are not compared: the baseline has no run of its own, or no headline yet.",
    }),
    cost: RunCost.pick({ currency: true, total: true, unpriced_tokens: true })
      .extend({
        per_1000: figure("The cost of 1,000 predictions. Null if the price of some is not known."),
      })
      .nullable()
      .meta({ description: "The cost of the predictions, as in the report." }),
  })
  .meta({ id: "RunHeadline" });
export type RunHeadline = z.infer<typeof RunHeadline>;

/** A run in a list. */
export const ListedRun = z
  .object({
    ...Run.shape,
    headline: RunHeadline.nullable().meta({
      description:
        "Its report's figures by the evaluator of its goal, or else by the first one with verdicts. They are computed within seconds of its end. Null before, and for external runs.",
    }),
    goal: RunGoal.nullable().meta({
      description:
        "The goal of its name; for the latest figures, also the newest goal that is set for earlier runs of the same target, mode and dataset. Null if none is set.",
    }),
  })
  .meta({ id: "ListedRun" });
export type ListedRun = z.infer<typeof ListedRun>;

/** Response of `GET /v1/runs`: the account's runs, newest first. */
export const RunListResponse = listOf("RunListResponse", ListedRun, "The runs, newest first.");
export type RunListResponse = z.infer<typeof RunListResponse>;

/** The latest run of a target over a dataset, with what it is compared with. */
export const Headline = z
  .object({
    run: ListedRun.meta({ description: "The newest finished run of this target, mode and dataset." }),
    dataset_name: stringOrNull("Null if the dataset is gone."),
    baseline: bestBaseline,
    change: z
      .object({ ...previousFields, ...runDifference })
      .nullable()
      .meta({
        description: "The change since the previous run, by the headline's evaluator. Null if there is none.",
      }),
  })
  .meta({ id: "Headline" });
export type Headline = z.infer<typeof Headline>;

/** Response of `GET /v1/headlines`. */
export const HeadlineListResponse = z
  .object({ data: z.array(Headline).meta({ description: "The newest first." }) })
  .meta({ id: "HeadlineListResponse" });
export type HeadlineListResponse = z.infer<typeof HeadlineListResponse>;
