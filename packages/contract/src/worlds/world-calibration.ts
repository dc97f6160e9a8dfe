import { z } from "zod";
import { ConfidenceMethod } from "../prediction/through-world.ts";
import { shortText } from "../text.ts";

const isRising = (numbers: number[]) => numbers.every((one, at) => at === 0 || one > (numbers[at - 1] ?? 0));

const logistic = {
  weights: z.array(z.number()).meta({ description: "The weight of the logit of each method's score." }),
  bias: z.number().meta({ description: "Added to their sum." }),
};

/** How scores become confidences: by isotonic or by logistic regression. */
export const CalibrationTable = z
  .union([
    z
      .object({
        kind: z.literal("isotonic").meta({ description: "Isotonic regression." }),
        x: z
          .array(z.number())
          .min(1)
          .refine(isRising, "Input should rise")
          .meta({ description: "Scores, in ascending order." }),
        y: z
          .array(z.number().gte(0).lte(1))
          .meta({ description: "The confidence at each score; linear in between." }),
        combined: z.object(logistic).optional().meta({
          description: "With several methods: how their scores are first combined into one.",
        }),
      })
      .refine(({ x, y }) => x.length === y.length, "There should be as many in x as in y"),
    z.object({
      kind: z.literal("logistic").meta({ description: "Logistic regression." }),
      ...logistic,
    }),
  ])
  .meta({ id: "CalibrationTable" });

/** What a world's confidence means, fitted on judged predictions of the world in a run. */
export const WorldCalibration = z
  .object({
    run_id: z.uuid().meta({ description: "The run." }),
    dataset_id: z
      .uuid()
      .meta({ description: "The dataset that it predicted: neither examples nor test samples." }),
    revision: z.int().meta({ description: "The number of its revision." }),
    split: z.string().nullable().meta({ description: "The tag `split` of its samples; null for all." }),
    evaluator: z.string().meta({ description: "The evaluator that a right answer passes." }),
    methods: z
      .array(ConfidenceMethod)
      .meta({ description: "The methods whose scores it uses, in this order." }),
    samples: z.int().meta({ description: "How many predictions it was fitted on." }),
    trajectories: z.int().meta({ description: "How many trajectories they belong to." }),
    table: CalibrationTable.meta({ description: "What was fitted." }),
  })
  .refine(({ methods, table }) => {
    const { weights } = (table.kind === "logistic" ? table : table.combined) ?? { weights: [1] };
    return weights.length === methods.length;
  }, "There should be as many weights as methods")
  .meta({ id: "WorldCalibration" });
export type WorldCalibration = z.infer<typeof WorldCalibration>;

/** Body of `POST /v1/worlds/{name}/calibrations`. */
export const WorldCalibrationRequest = z
  .strictObject({
    run_id: shortText(200).meta({
      description:
        "A finished run of the world's latest revision, on samples that are neither examples nor test samples.",
    }),
    split: shortText(200).nullish().meta({
      description: "Only samples of the run whose tag `split` is this; not `test`.",
    }),
    evaluator: shortText(200).nullish().meta({
      default: "exact-match",
      description: "The evaluator of the run whose pass makes an answer right.",
    }),
  })
  .meta({ id: "WorldCalibrationRequest" });
export type WorldCalibrationRequest = z.infer<typeof WorldCalibrationRequest>;
