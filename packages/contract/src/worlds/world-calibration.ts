import { z } from "zod";
import { ConfidenceMethod } from "../prediction/through-world.ts";
import { shortText } from "../text.ts";

const isRising = (numbers: number[]) => numbers.every((one, at) => at === 0 || one > (numbers[at - 1] ?? 0));

const logistic = {
  weights: z.array(z.number()).meta({ description: "What the logit of each method's number counts." }),
  bias: z.number().meta({ description: "Added to their sum." }),
};

/** How numbers become confidences: by steps, or by their logits' weights. */
export const CalibrationTable = z
  .union([
    z
      .object({
        kind: z.literal("isotonic").meta({ description: "Isotonic regression." }),
        x: z
          .array(z.number())
          .min(1)
          .refine(isRising, "Input should rise")
          .meta({ description: "Numbers, rising." }),
        y: z
          .array(z.number().gte(0).lte(1))
          .meta({ description: "The confidence of each; between them it is linear." }),
        combined: z.object(logistic).optional().meta({
          description: "Of several methods: what makes one number of theirs first.",
        }),
      })
      .refine(({ x, y }) => x.length === y.length, "There should be as many in x as in y"),
    z.object({
      kind: z.literal("logistic").meta({ description: "Logistic regression." }),
      ...logistic,
    }),
  ])
  .meta({ id: "CalibrationTable" });

/** What a world's confidence means: fitted on predictions of the world that a run judged. */
export const WorldCalibration = z
  .object({
    run_id: z.uuid().meta({ description: "The run." }),
    dataset_id: z.uuid().meta({ description: "What it predicted: neither examples nor what is tested." }),
    revision: z.int().meta({ description: "The number of its revision." }),
    split: z.string().nullable().meta({ description: "The tag `split` of its samples; null: all." }),
    evaluator: z.string().meta({ description: "What a right answer passes." }),
    methods: z.array(ConfidenceMethod).meta({ description: "Whose numbers it takes, in this order." }),
    samples: z.int().meta({ description: "How many predictions it is fitted on." }),
    trajectories: z.int().meta({ description: "How many trajectories they are of." }),
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
        "A finished run of the world's latest revision, on samples that are neither examples nor tested.",
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
