import { z } from "zod";
import { listOf, pageQuery } from "../query.ts";
import { intervalOf } from "../responses.ts";
import {
  boolean,
  booleanOrNull,
  count,
  countOrNull,
  figure,
  number,
  storableText,
  string,
  stringOrNull,
} from "../text.ts";
import { ReportEvaluator, Run } from "./run.ts";
import { noVerdicts, RunReportQuery, statisticsOf } from "./run-report.ts";

/** The most runs of one comparison, the reference included. */
export const maxComparedRuns = 10;

const runId = z.uuid().meta({ description: "The run's id." });

/** Run ids separated by commas, without repetitions. */
function runList({ most }: { most: number }) {
  const expected = most === 2 ? "two different run ids" : `2 to ${most} different run ids`;
  return storableText().check(({ value, issues }) => {
    const ids = value.split(",");
    const isFine = ids.length >= 2 && ids.length <= most && new Set(ids).size === ids.length;
    if (isFine && !ids.includes("")) return;
    issues.push({
      code: "custom",
      message: `Input should be ${expected}, separated by commas`,
      input: value,
    });
  });
}

/** Query of `GET /v1/comparisons`. */
export const ComparisonQuery = z.object({
  runs: runList({ most: maxComparedRuns }).meta({
    description: `The ids of 2 to ${maxComparedRuns} runs, separated by commas. The first is the reference.`,
    examples: ["019aa5f6-7d10-7000-8c3e-0b6f5a2d9c41,019aa5f9-02b7-7000-a1f3-6b0d8f4e2c15"],
  }),
  ...RunReportQuery.shape,
});

const ComparedRun = z
  .object({
    ...Run.shape,
    left_out: count(
      "Samples of its revision that are left out, because another run's revision has no equal sample, or because a pilot does not predict it.",
    ),
  })
  .meta({ id: "ComparedRun" });

const paired = {
  difference: figure(`Mean difference of the scores, candidate − reference. ${noVerdicts}`),
  interval: intervalOf(
    "The interval of the difference, at 95 %, clustered by trajectory: every difference that flipping signs does not reject. Null for fewer than six trajectories, and if all differ alike.",
  ),
  p_value: figure(
    "From flipping signs: the share of all ways to exchange the two runs within trajectories in which they differ at least as much. Null without trajectories.",
  ),
};

const ComparisonStratum = z
  .object({
    key: z.union([z.int(), z.string()]).meta({ description: "What the samples have in common." }),
    count: count("Samples that are compared."),
    trajectories: count("Trajectories that they are in."),
    reference_mean: figure("The reference's mean score."),
    mean: figure("The candidate's mean score."),
    ...paired,
  })
  .meta({ id: "ComparisonStratum" });
/** A difference within one part of the samples. */
export type ComparisonStratum = z.infer<typeof ComparisonStratum>;

const strata = (description: string) => z.array(ComparisonStratum).meta({ description });

const ComparisonStrata = z
  .object({
    exploratory: z.literal(true).meta({
      description:
        "These p-values are not corrected for their number: they show where to look, and prove nothing.",
    }),
    step: strata("By place in the trajectory, the first 1,000."),
    changed: strata("`changed`, `unchanged`, and `unknown` where states cannot be compared."),
    changes: strata(
      "By number of changes from the state to the next one: `0`, `1-2`, `3-6`, `7+`, `unknown`.",
    ),
  })
  .meta({ id: "ComparisonStrata" });

const comparedRunFields = {
  run_id: runId,
  mean: figure(`Mean score of the samples that are compared. ${noVerdicts}`),
  pass_rate: figure("Share of them that pass."),
  count: count("Samples that are compared: those with what `measure` names in all runs."),
  mean_failures_as_zero: figure(
    "Mean score if failures score 0, of the samples with a score or a failure in all runs.",
  ),
};

const ComparisonReference = z.object(comparedRunFields).meta({ id: "ComparisonReference" });

const ComparisonCandidate = z
  .object({
    ...comparedRunFields,
    trajectories: count("Trajectories that the compared samples are in: the clusters."),
    ...paired,
    p_permutation: figure("The same number as `p_value`."),
    p_adjusted: figure("`p_value` with Holm's correction, over all evaluators and candidates here."),
    measure: z.enum(["score", "pass_rate"]).meta({
      description:
        "What `difference` compares: mean scores, or pass rates where no verdict of one of the runs has a score.",
    }),
    outcome: z.enum(["better", "worse", "undecided"]).meta({
      description: "Whether the candidate differs from the reference: `p_adjusted` is under 0.05.",
    }),
    why: z.enum(["few_trajectories", "few_differ", "within_noise"]).nullable().meta({
      description:
        "Why it is undecided. `few_trajectories`: fewer than six, so that no result could decide. `few_differ`: the runs differ in fewer than six. Null if it is decided.",
    }),
    survives_one_failure: booleanOrNull(
      "Whether the difference would keep its sign and a `p_value` under 0.05 with one more trajectory, of the mean length, in which the better run scores 0 and the other its mean. Null if undecided.",
    ),
    unseen_share: figure(
      "The share of all trajectories that a kind can have and still be missing here with a probability of 5 %: 1 − 0.05^(1/trajectories).",
    ),
    wins: count("Samples with a higher score than the reference's."),
    losses: count("Samples with a lower one."),
    ties: count("Samples with the same score."),
    only_in_reference: count("Samples with a verdict in the reference, but not in this run."),
    only_in_candidate: count("Samples with a verdict in this run, but not in the reference."),
    difference_failures_as_zero: figure("Mean difference if failures score 0."),
    min_detectable: figure(
      "The true difference that a test of such data finds in 80 % of the cases. 1 or more: no difference could be found with so few trajectories, as scores differ by 1 at most. Null if nothing varies.",
    ),
    trajectories_for_1_point: countOrNull(
      "How many such trajectories it takes to find a difference of 0.01 as often.",
    ),
    strata: ComparisonStrata.meta({ description: "Differences in groups of samples." }),
    corrected: z
      .object({
        difference: figure("Candidate − reference, for the whole runs. Null without a label that counts."),
        interval: intervalOf("At 95 %, clustered by trajectory. Null with the reason in `note`."),
        raw: number("The same for the evaluator's own pass rates."),
        labels: z
          .object({
            reference: count("Those of the reference."),
            candidate: count("Those of the candidate."),
          })
          .meta({ description: "Labelled verdicts that it is computed from." }),
        note: stringOrNull("Why there is no interval."),
        sentence: string("The same in words."),
      })
      .optional()
      .meta({
        id: "CorrectedDifference",
        description:
          "The difference of the pass rates that people would give, where verdicts of both have labels.",
      }),
    note: stringOrNull("A warning, for example that too few trajectories were compared to decide."),
  })
  .meta({ id: "ComparisonCandidate" });
/** A run, and how it differs from the reference according to one evaluator. */
export type ComparisonCandidate = z.infer<typeof ComparisonCandidate>;

const ComparisonEvaluator = z
  .object({
    ...ReportEvaluator.shape,
    reference: ComparisonReference.meta({ description: "The figures of the first run." }),
    candidates: z.array(ComparisonCandidate).meta({
      description: "The other runs that have this evaluator, in their order.",
    }),
  })
  .meta({ id: "ComparisonEvaluator" });

/** Response of `GET /v1/comparisons`. */
export const Comparison = z
  .object({
    runs: z
      .array(ComparedRun)
      .meta({ description: "In the order of the query; the first is the reference." }),
    preliminary: boolean("Whether a run that is not external has not ended."),
    evaluators: z.array(ComparisonEvaluator).meta({
      description:
        "Evaluators that the reference and another run share, at the same revision of the same profile.",
    }),
    evaluators_left_out: z.array(z.object({ run_id: runId, ...ReportEvaluator.shape })).meta({
      description: "Evaluators that cannot be compared, because only the reference has them or does not.",
    }),
    seed: count("The seed of the random signs, used where there are too many to try all."),
    provenance: z
      .object({ statistics: statisticsOf("comparison") })
      .meta({ id: "ComparisonProvenance", description: "What the comparison was made with." }),
  })
  .meta({ id: "Comparison" });
export type Comparison = z.infer<typeof Comparison>;

/** A distance, a dot and a position. */
const cursor = /^\d{1,13}\.\d{1,15}$/;

/** Query of `GET /v1/comparisons/samples`. */
export const ComparedSampleListQuery = z.object({
  runs: runList({ most: 2 }).meta({
    description: "The ids of two runs, separated by a comma: the reference and the candidate.",
    examples: ["019aa5f6-7d10-7000-8c3e-0b6f5a2d9c41,019aa5f9-02b7-7000-a1f3-6b0d8f4e2c15"],
  }),
  evaluator: storableText().meta({
    description: "An evaluator that both have, by its id.",
    examples: ["exact-match-2026-11-21"],
  }),
  profile_name: storableText().optional().meta({
    description: "Its profile, if the runs have several of this evaluator.",
  }),
  direction: z.enum(["worse", "better"]).meta({
    description: "Whether the candidate's score is lower or higher.",
  }),
  ...pageQuery({ next: cursor }),
});
export type ComparedSampleListQuery = z.infer<typeof ComparedSampleListQuery>;

const ComparedSide = z
  .object({
    position: count("The sample's place in the run's revision, from 1."),
    score: figure("The mean score of its repeats. Null if no verdict of them has one."),
    pass_rate: number("The share of its repeats that pass."),
    evaluation_result_id: stringOrNull(
      "The evaluation result of the first of these repeats, which has the texts.",
    ),
  })
  .meta({ id: "ComparedSide" });

/** A sample with different scores in two runs. */
export const ComparedSample = z
  .object({
    dataset_sample_id: string("The sample's id in the dataset."),
    trajectory_id: string("The trajectory that the step belongs to."),
    step: count("The place in the trajectory."),
    difference: number(
      "The candidate's score − the reference's; the difference of pass rates where one has no score.",
    ),
    reference: ComparedSide.meta({ description: "In the first run." }),
    candidate: ComparedSide.meta({ description: "In the second run." }),
  })
  .meta({ id: "ComparedSample" });
export type ComparedSample = z.infer<typeof ComparedSample>;

/** Response of `GET /v1/comparisons/samples`. */
export const ComparedSampleListResponse = listOf(
  "ComparedSampleListResponse",
  ComparedSample,
  "The most different first.",
);
export type ComparedSampleListResponse = z.infer<typeof ComparedSampleListResponse>;
