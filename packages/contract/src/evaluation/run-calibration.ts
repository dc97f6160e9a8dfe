import { z } from "zod";
import { intervalOf } from "../responses.ts";
import { boolean, count, figure, number, storableText, string, stringOrNull } from "../text.ts";
import { ReportEvaluator } from "./run.ts";

/** A figure of predictions whose trajectories are clusters. */
const ConfidenceFigure = z
  .object({
    value: figure("Null if it is not defined, or computed from fewer than 50 predictions."),
    interval: intervalOf(
      "At 95 %, by leaving out one trajectory at a time. Null with fewer than 6 trajectories.",
    ),
    count: count("Predictions that it is computed from."),
    trajectories: count("Their trajectories."),
    effective_trajectories: figure(
      "The number of equally long trajectories that would carry as much information. Null without predictions.",
    ),
    note: stringOrNull("Why there is no value, or no interval."),
  })
  .meta({ id: "ConfidenceFigure" });

const RiskPoint = z
  .object({
    threshold: number("The lowest confidence that is kept."),
    coverage: number("The share of predictions that is kept."),
    risk: number("The share of these that is wrong."),
    interval: intervalOf("The interval of the risk, made as for a pass rate. Null for a single trajectory."),
  })
  .meta({ id: "RiskPoint" });

const ReliabilityBin = z
  .object({
    lower: number("The lowest confidence."),
    upper: number("The highest confidence."),
    count: count("Predictions."),
    confidence: number("Their mean confidence."),
    pass_rate: number("The share of them that pass."),
    interval: intervalOf("The interval of the pass rate. Null for a single trajectory."),
  })
  .meta({ id: "ReliabilityBin" });

/** Response of `GET /v1/runs/{id}/calibration`: whether the confidences of a run may be trusted. */
export const RunCalibration = ReportEvaluator.extend({
  preliminary: boolean("Whether the run has not ended, so that figures may change."),
  of: z.enum(["confidence", "score"]).meta({
    description:
      "What the figures describe: calibrated confidences, if any prediction has one; otherwise raw scores.",
  }),
  without_confidence: count("Predictions with a verdict but no confidence; they do not count."),
  fitted_on_it: boolean(
    "Whether the world's confidences were fitted on a revision of this dataset, which may flatter the figures; if so, the sentence says it.",
  ),
  left_out: count(
    "Predictions with a verdict on the split that the world was calibrated on; they do not count.",
  ),
  sentence: string("What can be kept, in words."),
  brier: ConfidenceFigure.extend({
    parts: z
      .object({
        reliability: number("Σ n_b/N · (mean confidence − pass rate)², over bins; 0 is best."),
        resolution: number("Σ n_b/N · (pass rate − overall pass rate)², over bins; the higher, the better."),
        uncertainty: number("Pass rate · (1 − pass rate): the score without any confidence."),
        within_bins: number("What confidences that differ within a bin add."),
      })
      .nullable()
      .meta({
        id: "BrierParts",
        description:
          "Murphy's decomposition: the score is reliability − resolution + uncertainty + within_bins.",
      }),
  }).meta({ id: "BrierScore", description: "The mean squared difference between confidence and verdict." }),
  ece: ConfidenceFigure.extend({
    expected: figure("What a perfectly calibrated model would have here on average: it is never 0."),
  }).meta({
    id: "CalibrationError",
    description:
      "The expected calibration error: Σ n_b/N · |pass rate − mean confidence| over 15 bins of equal count.",
  }),
  auroc: ConfidenceFigure.meta({
    description:
      "How often a right prediction has a higher confidence than a wrong one; ties count half. Null if all are right, or all wrong.",
  }),
  reliability: z.array(ReliabilityBin).meta({
    description:
      "At most 15 bins of equal count, by confidence. Predictions of one confidence are in one bin.",
  }),
  risk_coverage: z.array(RiskPoint).meta({
    description: "About one point for each hundredth of coverage, the most confident first.",
  }),
  aurc: ConfidenceFigure.meta({
    description: "The area under the curve of risk by coverage; the lower, the better.",
  }),
  coverage_at_risk: ConfidenceFigure.extend({
    risk: number("The share of wrong predictions that is allowed."),
    threshold: figure("The lowest confidence that is kept. Null if nothing is kept."),
  }).meta({
    id: "CoverageAtRisk",
    description: "The largest share to keep whose risk has the upper end of its interval at or below `risk`.",
  }),
}).meta({ id: "RunCalibration" });
export type RunCalibration = z.infer<typeof RunCalibration>;

/** Response of `GET /v1/worlds/{name}/calibration`. */
export const WorldCalibrationCard = RunCalibration.extend({
  run_id: z.uuid().meta({ description: "The run whose predictions these are." }),
}).meta({ id: "WorldCalibrationCard" });
export type WorldCalibrationCard = z.infer<typeof WorldCalibrationCard>;

/** Query of `GET /v1/runs/{id}/calibration` and `GET /v1/worlds/{name}/calibration`. */
export const RunCalibrationQuery = z.object({
  evaluator: storableText().optional().meta({
    description:
      "An evaluator of the run, by its id or family, whose pass means right. If not given, the run's first.",
  }),
  profile_name: storableText().optional().meta({
    description: "The evaluator's profile, where the run has several of the same evaluator.",
  }),
});
export type RunCalibrationQuery = z.infer<typeof RunCalibrationQuery>;
