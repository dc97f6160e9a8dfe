import { z } from "zod";
import { intervalOf } from "../responses.ts";
import { boolean, count, countOrNull, figure, number, string, stringOrNull } from "../text.ts";
import { RunGoal } from "./goal.ts";
import { ReportEvaluator, Run, RunEvaluator } from "./run.ts";
import { RunEndsReport } from "./run-ends.ts";

/** Part of the descriptions of figures of verdicts. */
export const noVerdicts = "Null without verdicts.";

/** Which formulas the figures are computed by, so that saved reports can be told apart. */
export function statisticsOf(kind: "report" | "comparison") {
  return z.literal(2).meta({
    description: `The formulas of its figures (docs/statistics.md). A ${kind} that was saved without it has figures by the first formulas, whose intervals are often too narrow.`,
  });
}

const noChange = z
  .object({
    mean: number("Mean score."),
    pass_rate: number("Share of the samples that pass."),
    count: count("Samples for which it is known."),
  })
  .nullable()
  .meta({
    description:
      "The same evaluator's verdicts on the state before the action, on the samples that have a verdict. Null if there are none, for example because a model judges, and for free-running runs, which are not told that state.",
  });

/** A baseline that a model has to beat. */
export const RunBaseline = z
  .object({
    kind: z.enum(["no-change", "most-frequent", "retrieval"]).meta({ description: "What it predicts." }),
    run_id: z.uuid().nullable().meta({
      description: "The baseline's run. Null for verdicts on the state before the action in the run itself.",
    }),
    pass_rate: number("The pass rate by the same evaluator."),
    interval: intervalOf("The interval of the pass rate, at 95 %. Null if `run_id` is."),
    count: count("Samples with a verdict."),
  })
  .meta({ id: "RunBaseline" });
export type RunBaseline = z.infer<typeof RunBaseline>;

/** The field with the best baseline. */
export const bestBaseline = RunBaseline.nullable().meta({
  description: "The highest pass rate of a baseline on the same revision. Null if there is none.",
});

const figures = {
  samples: count("Samples of the group, with or without verdicts."),
  count: count("Samples with a verdict. With repeats, a sample's value is the mean of its repeats."),
  without_verdict: count("Samples without a verdict: `samples` − `count`."),
  verdicts: count("Predictions with a verdict. Each repeat of a sample is a prediction."),
  graded: count("Predictions whose verdict has a score."),
  failed: count("Predictions without a verdict, because the prediction or the evaluator failed."),
  not_applicable: count(
    "Predictions about which this evaluator has nothing to say, whatever they are. They count nowhere else.",
  ),
  trajectories: count("Trajectories with a verdict: the clusters of the intervals."),
  effective_trajectories: figure(
    "The number of equally long trajectories that would carry as much information: N² / Σ n_g², over samples with a verdict. Null without one.",
  ),
  mean: figure("Mean score of the verdicts that have one. Null without any."),
  standard_error: figure(
    "Standard error of the mean, by leaving out one trajectory at a time. Null for fewer than two trajectories.",
  ),
  interval: intervalOf(
    "The interval of the mean, at 95 %, clustered by trajectory. The same as `pass_interval` where every score is its verdict, 0 or 1. Null for fewer than two trajectories.",
  ),
  pass_rate: figure(`Share of the samples that pass. ${noVerdicts}`),
  pass_standard_error: figure("Standard error of the pass rate. Null for fewer than two trajectories."),
  pass_interval: intervalOf(
    "The interval of the pass rate, at 95 %, clustered by trajectory. Null for fewer than two.",
  ),
  unseen_share: figure(
    "The share of all trajectories that a kind can have and still be missing here with a probability of 5 %: 1 − 0.05^(1/trajectories).",
  ),
  lower_if_missing: figure(
    "The lower end of `interval` if a kind that large is missing and all of it fails: lower · (1 − `unseen_share`).",
  ),
  pass_lower_if_missing: figure("The same for `pass_interval`."),
  mean_failures_as_zero: figure(
    "Mean score if failures score 0. Null if there are neither verdicts nor failures, and if no verdict has a score.",
  ),
  pass_rate_failures_as_zero: figure("Pass rate if failures do not pass."),
  no_change: noChange,
  note: stringOrNull("A warning, for example of what so few trajectories cannot show."),
};

/** Figures of some of a run's samples. */
export const RunFigures = z.object(figures).meta({ id: "RunFigures" });
export type RunFigures = z.infer<typeof RunFigures>;

/** Figures of one group of a run's samples. */
export const RunStratum = z
  .object({
    key: z.union([z.int(), z.string()]).meta({ description: "What the samples have in common." }),
    ...figures,
  })
  .meta({ id: "RunStratum" });
export type RunStratum = z.infer<typeof RunStratum>;

const strata = (description: string) => z.array(RunStratum).meta({ description });

const RunStrata = z
  .object({
    step: strata("By place in the trajectory, the first 1,000."),
    trajectory: strata(
      "By trajectory, the 200 with the lowest mean with failures as zero, the lowest first.",
    ),
    changed: strata("`changed`, `unchanged`, and `unknown` where states cannot be compared."),
    changes: strata(
      "By number of changes from the state to the next one: `0`, `1-2`, `3-6`, `7+`, `unknown`.",
    ),
    verb: strata("By the action's first word: the 50 most frequent, then `other`."),
    tag: strata("By tag, as `name=value`, the 200 most frequent."),
  })
  .meta({ id: "RunStrata" });

const StrataLeftOut = z
  .object({
    step: count("Later steps."),
    trajectory: count("Trajectories with a higher mean."),
    tag: count("Rarer tags."),
  })
  .meta({ id: "RunStrataLeftOut" });

/** The pass rate that people would give, by their labels and all verdicts. */
export const CorrectedRate = z
  .object({
    pass_rate: figure("Null without a label that counts."),
    interval: intervalOf("At 95 %, clustered by trajectory. Null with fewer than 6 labelled trajectories."),
    raw: number("The evaluator's own pass rate on the same verdicts."),
    labels: count("Labelled verdicts that it is computed from."),
    drawn: boolean("Whether they were drawn, and are weighted accordingly."),
    lambda: number("How much the verdicts without labels count, from 0 to 1."),
    gain: figure("How many times as many labels would be needed without them."),
    note: stringOrNull("What qualifies it."),
    sentence: string("The same in words."),
  })
  .meta({ id: "CorrectedRate" });
export type CorrectedRate = z.infer<typeof CorrectedRate>;

/** A run's figures by one of its evaluators. */
export const RunEvaluatorReport = z
  .object({
    ...ReportEvaluator.shape,
    ...figures,
    baseline: bestBaseline,
    corrected: CorrectedRate.optional().meta({
      description: "The pass rate that people would give, where some have labelled verdicts.",
    }),
    strata: RunStrata.meta({ description: "The same figures for groups of samples." }),
    strata_left_out: StrataLeftOut.meta({ description: "How many groups `strata` does not show." }),
  })
  .meta({ id: "RunEvaluatorReport" });
export type RunEvaluatorReport = z.infer<typeof RunEvaluatorReport>;

/** A step of a survival curve. */
export const SurvivalStep = z
  .object({
    step: count("A step at which a trajectory diverged, or after which nothing is known about one."),
    at_risk: count("Trajectories with a verdict at this step that had not diverged before it."),
    diverged: count("How many of them diverged at this step."),
    censored: count("How many of them are unknown after this step."),
    survival: number("Estimated share of trajectories that have not diverged after this step."),
    interval: intervalOf("At 95 %. Null where the share is 0 or 1."),
  })
  .meta({ id: "SurvivalStep" });

const curve = {
  steps: z.array(SurvivalStep).meta({ description: "By step. In between, nothing changes." }),
  median: countOrNull("The first step after which at most half have not diverged; null if there is none."),
};
const SurvivalCurve = z.object(curve).meta({ id: "SurvivalCurve" });

/** The first divergence of free-running trajectories, by one evaluator. */
export const RunSurvival = z
  .object({
    ...RunEvaluator.shape,
    trajectories: count("Trajectories that were begun, each repeat counted."),
    endings: z
      .object({
        diverged: count("A step that does not pass."),
        recording_ended: count("The end of the recording, or of what the run has done so far."),
        prediction_failed: count("A prediction that failed."),
        evaluator_failed: count("An evaluator that failed."),
      })
      .meta({ id: "SurvivalEndings", description: "How they ended. All but the first are censored." }),
    ...curve,
    failures_as_divergence: SurvivalCurve.meta({
      description: "The bound: the same if each failure is a divergence.",
    }),
    seed: countOrNull(
      "The seed of the bootstrap that makes the intervals if there are repeats; otherwise null.",
    ),
  })
  .meta({ id: "RunSurvival" });
export type RunSurvival = z.infer<typeof RunSurvival>;

const TeacherForcedEvaluator = z
  .object({
    ...RunEvaluator.shape,
    ...figures,
    step: strata("By place in the trajectory, the first 1,000."),
  })
  .meta({ id: "TeacherForcedEvaluator" });

/** The newest finished teacher-forced run of the same revision, target and params. */
export const TeacherForced = z
  .object({
    run_id: z.uuid().meta({ description: "The run's id." }),
    name: string("The run's name."),
    evaluators: z.array(TeacherForcedEvaluator).meta({
      description:
        "Its figures by those evaluators that both runs have, at the same revision of the profile.",
    }),
  })
  .meta({ id: "TeacherForced" });
export type TeacherForced = z.infer<typeof TeacherForced>;

const RunTokens = z
  .object({
    prompt: countOrNull("Tokens of the prompts."),
    cached: countOrNull("How many of these the upstream had in its cache."),
    completion: countOrNull("Tokens of the completions."),
  })
  .meta({ id: "RunTokens" });

/** What a run's predictions cost. */
export const RunCost = z
  .object({
    currency: string("An ISO 4217 code."),
    total: figure(
      "What the tokens of models with a price cost at today's prices. Null if none of the models has one.",
    ),
    unpriced_tokens: count(
      "Tokens that `total` leaves out, because their model has no price or is not known.",
    ),
    models: z
      .array(
        z.object({
          model: stringOrNull("The name that was sent to the deployment. Null where it is not known."),
          prompt_tokens: count("Tokens of the prompts."),
          cached_tokens: count("How many of these the upstream had in its cache."),
          completion_tokens: count("Tokens of the completions."),
          cost: figure("What they cost. Null if the model has no price."),
        }),
      )
      .meta({ description: "The tokens of each model." }),
  })
  .meta({ id: "RunCost" });

const RunLatency = z
  .object({ p50: number("The median."), p95: number("95th percentile."), p99: number("99th percentile.") })
  .meta({ id: "RunLatency" });

const RunFailures = z
  .object({
    predictions: z.record(z.string(), z.int()).meta({
      description:
        "Failed predictions by category, as in errors. `missing`: it was not uploaded, or the run was finished without it. `error`, `skipped`: its line says so. `not_reached`: its free-running trajectory had ended.",
    }),
    evaluations: z.record(z.string(), z.int()).meta({
      description:
        "Evaluations without a verdict, of all evaluators, by their status. `incomplete`: a client's result lacks what others by the same evaluator have.",
    }),
  })
  .meta({ id: "RunFailures" });

const ReportWorld = z
  .object({
    leaves_out: count(
      "Predictions for samples whose own trajectories are among the world's examples and were left out (leave one out).",
    ),
    near_duplicates: count(
      "Predictions for which an example of another trajectory has the same fields, to a similarity of 0.999, and the same next state.",
    ),
    answered_by: z.record(z.string(), z.int()).meta({
      description: "How many predictions each deployment made; `retrieval`: the records alone.",
    }),
  })
  .meta({ id: "ReportWorld" });

const ReportRecords = z
  .object({
    run_id: z.uuid().meta({ description: "The run's id." }),
    name: string("The run's name."),
    evaluators: z
      .array(
        z.object({
          ...ReportEvaluator.shape,
          difference: figure("As in `GET /v1/comparisons`: this run − the records' run."),
          interval: intervalOf("The interval of the difference, at 95 %, clustered by trajectory."),
          outcome: z.enum(["better", "worse", "undecided"]).meta({ description: "What the test says." }),
          sentence: string("The same in words."),
        }),
      )
      .meta({ description: "By the evaluators that both runs have." }),
  })
  .meta({ id: "ReportRecords" });

/** How a run differs from the previous one according to an evaluator. */
export const runDifference = {
  measure: z.enum(["score", "pass_rate"]).meta({ description: "What the difference compares." }),
  difference: figure("As in `GET /v1/comparisons`: this run − the previous one."),
  interval: intervalOf("The interval of the difference, at 95 %, clustered by trajectory."),
  outcome: z.enum(["better", "worse", "undecided"]).meta({ description: "What the test says." }),
  count: count("Samples that are compared."),
  trajectories: count("Trajectories that they are in."),
};

/** Which run was the previous one. */
export const previousFields = {
  run_id: z.uuid().meta({ description: "The previous run's id." }),
  name: string("Its name."),
  by: z.enum(["name", "target"]).meta({
    description:
      "What it has in common with this run besides the dataset: the name or, if no earlier run has that name, target and mode.",
  }),
};

/** The previous run, and what differs. */
export const RunPrevious = z
  .object({
    ...previousFields,
    changes: z
      .array(
        z.object({
          what: string("For example `model`, `prompt revision`, `world revision`."),
          before: stringOrNull("In the previous run. Null if it has none."),
          after: stringOrNull("In this run."),
        }),
      )
      .meta({ description: "What the runs were made with, where it differs." }),
    unchanged: z.array(z.string()).meta({ description: "What is the same." }),
    evaluators: z
      .array(z.object({ ...ReportEvaluator.shape, ...runDifference }))
      .meta({ description: "By the evaluators that both runs have." }),
  })
  .meta({ id: "RunPrevious" });
export type RunPrevious = z.infer<typeof RunPrevious>;

/** Response of `GET /v1/runs/{id}/report`. */
export const RunReport = z
  .object({
    run: Run.meta({ description: "The run." }),
    preliminary: boolean(
      "Whether the run has not ended, so that the figures cover what there is so far. False for external runs.",
    ),
    evaluators: z.array(RunEvaluatorReport).meta({
      description:
        "In the order of the run's evaluators. For an external run, those of its results, by name.",
    }),
    survival: z.array(RunSurvival).optional().meta({
      description: "For a free-running run: the time of the first divergence, for each evaluator.",
    }),
    teacher_forced: TeacherForced.nullish().meta({
      description:
        "For a free-running run: the newest finished teacher-forced run of the same revision, target and params. Null if there is none.",
    }),
    world: ReportWorld.optional().meta({ description: "For a run through a world: what it leaned on." }),
    records: ReportRecords.optional().meta({
      description:
        "For a run that asked a model: how it differs from the newest finished run of the same revision and mode that records alone answered, the baseline `retrieval` or a world of that kind. Absent if there is none.",
    }),
    ends: RunEndsReport.optional().meta({
      description: "Whether predictions end where the real environment ends. Absent for external runs.",
    }),
    goal: RunGoal.nullable().meta({ description: "The goal of the run's name. Null if none is set." }),
    previous: RunPrevious.nullable().meta({
      description:
        "The finished run before this one over the same dataset, by name or else by target. Null if there is none, before this run has finished, and for external runs.",
    }),
    latency_ms: RunLatency.nullable().meta({
      description:
        "Latency of a deployment's successful predictions, in milliseconds. Null if there are none.",
    }),
    predictions_per_second: figure(
      "Predictions of a deployment, from the run's start to its last prediction.",
    ),
    tokens: RunTokens.meta({
      description: "Tokens of all predictions, as the upstream counted them; nulls if it counted none.",
    }),
    cost: RunCost.nullish().meta({
      description:
        "What the predictions cost. Null if the server has no price list, or the run did not ask for them.",
    }),
    failures: RunFailures.meta({ description: "What failed, and how often." }),
    provenance: z
      .object({
        ...Run.shape.provenance.shape,
        statistics: statisticsOf("report"),
        warnings: z.array(z.string()).meta({
          description: "What makes the figures less certain, for example that the model changed.",
        }),
      })
      .meta({ id: "ReportProvenance", description: "What the run was made with." }),
  })
  .meta({ id: "RunReport" });
export type RunReport = z.infer<typeof RunReport>;

/** Query of `GET /v1/runs/{id}/report`. */
export const RunReportQuery = z.object({
  format: z.enum(["json", "html", "md"]).optional().meta({
    description:
      "As a page, or as Markdown. If not given, what the header `Accept` prefers of JSON and HTML.",
  }),
});
