import { z } from "zod";
import { listOf, pageQuery } from "../query.ts";
import { instant, shortText, storableText, string } from "../text.ts";

const described = {
  evaluator: "An evaluator, by its id or its family's name.",
  profile_name: "Its profile; the first of this evaluator that a run has if null.",
  pass_rate: "The pass rate that runs of this name are to reach, as a share from 0 to 1.",
};

/** Body of `PUT /v1/goals/{run_name}`. */
export const GoalRequest = z
  .strictObject({
    evaluator: shortText(200).meta({ description: described.evaluator, examples: ["exact-match"] }),
    profile_name: shortText(200).nullish().meta({ description: described.profile_name }),
    pass_rate: z
      .number()
      .min(0)
      .max(1)
      .meta({ description: described.pass_rate, examples: [0.8] }),
  })
  .meta({ id: "GoalRequest" });
export type GoalRequest = z.infer<typeof GoalRequest>;

/** Path of `/v1/goals/{run_name}`. */
export const GoalPath = z.object({
  run_name: storableText().meta({ description: "The name of runs.", examples: ["nightly"] }),
});

const goal = {
  evaluator: z.string().meta({ description: described.evaluator }),
  profile_name: z.string().nullable().meta({ description: described.profile_name }),
  pass_rate: z.number().meta({ description: described.pass_rate }),
};

/** The goal of the runs of a name. */
export const Goal = z
  .object({
    run_name: string("The name of the runs."),
    ...goal,
    set_by: z.uuid().meta({ description: "The id of the user who set it." }),
    set_at: instant.meta({ description: "When it was set." }),
  })
  .meta({ id: "Goal" });
export type Goal = z.infer<typeof Goal>;

/** Query of `GET /v1/goals`. */
export const GoalListQuery = z.object(pageQuery());

/** Response of `GET /v1/goals`. */
export const GoalListResponse = listOf("GoalListResponse", Goal, "The latest first.");

/** The goal of a run's name, and whether the run reaches it. */
export const RunGoal = z
  .object({
    run_name: string("The name of the runs that it is set for."),
    ...goal,
    state: z.enum(["met", "missed", "undecided"]).meta({
      description:
        "`met`: the lower end of the pass rate's interval is at least the goal, and so is the rate if failures do not pass. `missed`: the upper end is below the goal.",
    }),
    why: z
      .enum(["not_ended", "no_figure", "no_interval", "within_interval", "failures", "leaky", "pilot"])
      .nullable()
      .meta({
        description:
          "Why it is undecided. `no_figure`: the run has no verdict of this evaluator. `failures`: without them it would be met. `leaky`: its world was calibrated on samples of this dataset. `pilot`: a pilot of some samples would meet it. Null if it is decided.",
      }),
  })
  .meta({ id: "RunGoal" });
export type RunGoal = z.infer<typeof RunGoal>;
