import { HeadlineFigures, type ListedRun, type RunFigures, type RunReport } from "@presage/contract";
import { exampleEvaluator, exampleFinishedRun, exampleProvenance } from "../run.ts";

const figures: RunFigures = {
  samples: 394,
  count: 388,
  without_verdict: 6,
  verdicts: 388,
  graded: 388,
  failed: 6,
  not_applicable: 0,
  trajectories: 12,
  effective_trajectories: 11.2,
  mean: 0.8,
  standard_error: 0.04,
  interval: { level: 0.95, lower: 0.694, upper: 0.876 },
  pass_rate: 0.75,
  pass_standard_error: 0.05,
  pass_interval: { level: 0.95, lower: 0.624, upper: 0.844 },
  unseen_share: 0.221,
  lower_if_missing: 0.541,
  pass_lower_if_missing: 0.486,
  mean_failures_as_zero: 0.788,
  pass_rate_failures_as_zero: 0.739,
  no_change: { mean: 0.31, pass_rate: 0.3, count: 388 },
  note: "With 12 trajectories, a kind that makes up 22 % of all may be missing here.",
};
export const exampleReport = {
  run: exampleFinishedRun,
  evaluators: [
    {
      ...exampleEvaluator,
      ...figures,
      strata: {
        step: [{ key: 0, ...figures }],
        trajectory: [{ key: "kitchen-1", ...figures }],
        changed: [{ key: "changed", ...figures }],
        changes: [{ key: "1-2", ...figures }],
        verb: [{ key: "open", ...figures }],
        tag: [{ key: "split=test", ...figures }],
      },
      strata_left_out: { step: 0, trajectory: 0, tag: 0 },
    },
  ],
  goal: { evaluator: "exact-match", profile_name: null, pass_rate: 0.6, state: "met", why: null },
  previous: null,
  latency_ms: { p50: 812.1, p95: 1_907.4, p99: 2_511.9 },
  predictions_per_second: 2.6,
  tokens: { prompt: 185_400, cached: 61_000, completion: 20_600 },
  cost: {
    currency: "USD",
    total: 0.0321,
    unpriced_tokens: 0,
    models: [
      {
        model: "presage-sandbox",
        prompt_tokens: 185_400,
        cached_tokens: 61_000,
        completion_tokens: 20_600,
        cost: 0.0321,
      },
    ],
  },
  failures: { predictions: { timeout: 4 }, evaluations: { failed: 2 } },
  preliminary: false,
  provenance: { ...exampleProvenance, statistics: 2, warnings: [] },
} satisfies RunReport;

export const exampleListedRun: ListedRun = {
  ...exampleFinishedRun,
  headline: {
    ...exampleEvaluator,
    ...HeadlineFigures.parse(figures),
    cost: { currency: "USD", total: 0.0321, unpriced_tokens: 0, per_1000: 0.0823 },
  },
  goal: exampleReport.goal,
};
