import { z } from "zod";
import { SurvivalStep } from "../evaluation/run-report.ts";
import { intervalOf } from "../responses.ts";
import { count, countOrNull, figure, instant, number, string, stringOrNull } from "../text.ts";

/** A figure computed from episodes. */
export const RealityFigure = z
  .object({
    value: figure("Null if it is not defined."),
    interval: intervalOf("At 95 %, clustered by task. Null with the reason in `note`."),
    count: count("Episodes that it is computed from."),
    tasks: count("Their tasks."),
    effective_tasks: figure(
      "The number of tasks with equally many episodes that would carry as much information.",
    ),
    note: stringOrNull("Why there is no value, or no interval."),
  })
  .meta({ id: "RealityFigure" });
export type RealityFigure = z.infer<typeof RealityFigure>;

const sentence = (description: string) => z.string().meta({ description });

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
    description: "Simulated less real success rate, from −1 to 1; its interval comes from flipping signs.",
  }),
};

const consistency = z
  .object({
    replayed: RealityFigure.meta({ description: "W2R: success of simulated actions in reality." }),
    real: RealityFigure.meta({ description: "Success of agents that act in reality." }),
    ratio: RealityFigure.meta({ description: "The consistency ratio: W2R divided by real success." }),
  })
  .nullable()
  .meta({ description: "Null without replays (Word2World, arXiv 2512.18832)." });

/** Figures for all episodes and for each policy. */
const ofEach = {
  ...outcomes,
  phi: RealityFigure.meta({ description: "The correlation of the two outcomes." }),
  cohen_kappa: RealityFigure.meta({ description: "Their agreement beyond chance." }),
  consistency,
};

const Exploit = z
  .object({
    verb: string("The first word of an action, or the tool that it calls."),
    false_successes: count("False successes that have it."),
    true_successes: count("True successes that have it."),
    log_odds_ratio: RealityFigure.meta({
      description:
        "False against true successes: 0 if the verb is as common in both, more if it is more common in false ones. Half an episode is added to each of the four counts.",
    }),
    p_value: figure("For the hypothesis that the verb is as common in both. Null without an interval."),
    p_adjusted: figure("After Holm's correction for all verbs that were tested."),
    examples: z
      .array(
        z.object({
          episode_id: stringOrNull("The episode, if its id is known."),
          check_id: stringOrNull("Its reality check, if known."),
          position: count("Its place in the reality check."),
        }),
      )
      .meta({ description: "False successes that have it; at most three." }),
  })
  .meta({ id: "RealityExploit" });

const beyondOutcomes = {
  reward: z
    .object({
      absolute_error: RealityFigure.meta({ description: "How far the two rewards are apart, on average." }),
      spearman: RealityFigure.meta({ description: "Spearman's ρ: whether both rank episodes alike." }),
    })
    .meta({ description: "Figures for the episodes that have a reward both in simulation and in reality." }),
  divergence: z
    .object({
      sentence: sentence("How long observations match reality."),
      count: count("Episodes whose steps were compared."),
      tasks: count("Their tasks."),
      diverged: count("Episodes in which an observation differs."),
      steps: z.array(SurvivalStep).meta({
        description:
          "The share of episodes whose observations have not differed yet, by step. Intervals come from resampling tasks; there are none for fewer than 6 tasks.",
      }),
      median: countOrNull("The first step after which at most half are left."),
    })
    .nullable()
    .meta({
      description: "The steps until an observation first differs. Null where no steps were compared.",
    }),
  exploits: z
    .object({
      sentence: sentence("What false successes do that true ones do not."),
      false_successes: count("False successes whose actions are known."),
      true_successes: count("True successes whose actions are known."),
      tasks: count("Their tasks."),
      tested: count("Verbs that were compared: those of at least 5 successes, at most 1,000."),
      verbs: z.array(Exploit).meta({
        description:
          "Verbs that are more common in false successes, by the lower end of the interval, the highest first; at most 20.",
      }),
    })
    .meta({
      description: "Actions associated with false success. At least 5 false and 5 true successes are needed.",
    }),
};

/** The figures of a reality check. */
export const RealityFigures = z
  .object({
    sentence: sentence("How often success in simulation is real."),
    outcome: z.enum(["above", "below", "undecided"]).nullable().meta({
      description:
        "Whether the interval of `false_success_rate` is above `false_success_limit`, below it, or neither. Null without a limit, and of a check that has not ended.",
    }),
    ...ofEach,
    ...beyondOutcomes,
    macro_consistency: consistency.meta({
      description:
        "The consistency with equal weight for each policy: means over policies. Null if fewer than two have replays.",
    }),
    policies: z.array(z.object({ policy: string("The label."), ...ofEach })).meta({
      description: "The same for each policy, in the order in which they came; the latest 200.",
    }),
    policy_order: z
      .object({
        kendall_tau: figure("τ-b, from −1 to 1."),
        policies: count("Policies that were ranked."),
        note: stringOrNull("Why there is none."),
      })
      .meta({ description: "Whether simulation ranks policies by success as reality does." }),
  })
  .meta({ id: "RealityFigures" });
export type RealityFigures = z.infer<typeof RealityFigures>;

const state = {
  state: z.enum(["ok", "alarm", "too-few"]).meta({
    description:
      "`alarm` once the interval was above the limit, until it is below. `too-few`: fewer than 20 tasks with a simulated success.",
  }),
  since: instant.nullable().meta({ description: "When the alarm began." }),
  value: figure("Of the episodes that succeeded in simulation, the share that fails in reality."),
  interval: z
    .object({
      level: number("0.95; higher for policies, so that all of them together are wrong as rarely as one."),
      lower: number("Lower end."),
      upper: number("Upper end."),
      kind: z.literal("anytime-valid").meta({ description: "Valid however often one looks." }),
    })
    .nullable()
    .meta({ description: "Clustered by task. Null with too few tasks." }),
  count: count("Episodes that succeeded in simulation."),
  tasks: count("Their tasks."),
  sentence: sentence("The same in words."),
};

/** Whether an environment's successes are shown to be false too often. */
export const RealityState = z
  .object({
    false_success_limit: number("The share that may fail in reality."),
    ...state,
    policies: z
      .array(z.object({ policy: string("The label."), ...state }))
      .meta({ description: "The same for each policy alone; the latest 200." }),
  })
  .meta({ id: "RealityState" });
export type RealityState = z.infer<typeof RealityState>;
