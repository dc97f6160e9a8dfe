import type { HeadlineFigures, ListedRun, ReportEvaluator, RunHeadline } from "@presage/contract";
import { isMeant } from "@presage/contract/describe-runs";
import { type Prices, withoutNoise } from "../../platform/prices.ts";
import type { Requester, Store } from "../../platform/storage/store.ts";
import { comparisonMemoryBytes } from "../compare/compare-runs.ts";
import { judgeGoal, type StoredGoal } from "../goals.ts";
import { selectGoalsOf } from "../goals-store.ts";
import { readOutcomes, runCost, totalPredictions } from "../report/outcomes.ts";
import { overallFigures, reportMemoryBytes } from "../report/report-run.ts";
import { readRunSamples } from "../report/samples.ts";
import { isPreliminary, type Run, toEvaluatorNames, toRun } from "../run.ts";
import type { HeadedRun, StoredHeadline } from "./headlines-store.ts";
import { compareWithPrevious } from "./previous.ts";

/** The memory that a headline takes while it is made. */
export function headlineMemoryBytes(run: Run): number {
  return Math.max(reportMemoryBytes(run), comparisonMemoryBytes([run, run]));
}

/** Makes the headline of a run over a dataset, of the same figures as its report. */
export async function makeHeadline(
  { store }: { store: Store },
  requester: Requester,
  run: Run,
): Promise<StoredHeadline> {
  const reader = store.reader(requester);
  const samples = await readRunSamples(reader, run);
  const predictions = await totalPredictions(reader, run, samples.count);
  const evaluators: (ReportEvaluator & HeadlineFigures)[] = [];
  for (const [place, evaluator] of run.evaluators.entries()) {
    const outcomes = await readOutcomes(reader, run, place, predictions.failed);
    const figures = await overallFigures(samples, outcomes);
    evaluators.push({ ...toEvaluatorNames(evaluator), ...toHeadlineFigures(figures) });
  }
  return {
    statistics: 2,
    evaluators,
    asked: predictions.asked,
    tokens: [...predictions.tokensByModel].map(([model, { prompt, cached, completion }]) => ({
      model,
      prompt_tokens: prompt,
      cached_tokens: cached,
      completion_tokens: completion,
    })),
    previous: run.status === "finished" ? await compareWithPrevious({ store }, requester, run) : null,
  };
}

function toHeadlineFigures(figures: HeadlineFigures): HeadlineFigures {
  const { count, failed, trajectories, mean, interval, pass_rate, pass_interval, unseen_share } = figures;
  const { lower_if_missing, pass_lower_if_missing, pass_rate_failures_as_zero, no_change } = figures;
  return {
    ...{ count, failed, trajectories, mean, interval, pass_rate, pass_interval, unseen_share },
    ...{ lower_if_missing, pass_lower_if_missing, pass_rate_failures_as_zero, no_change },
  };
}

/** Runs as lists have them. */
export async function toListedRuns(
  { store }: { store: Store },
  requester: Requester,
  runs: readonly HeadedRun[],
  prices: Prices | undefined,
): Promise<ListedRun[]> {
  const goals = await selectGoalsOf(store.briefReader(requester), requester.accountId, runs);
  return runs.map((run) => toListedRun(run, goals.get(run.name), prices));
}

/** By its goal's evaluator, at today's prices. */
function toListedRun(run: HeadedRun, goal: StoredGoal | undefined, prices: Prices | undefined): ListedRun {
  const { headline } = run;
  const evaluators = headline?.evaluators ?? [];
  return {
    ...toRun(run),
    headline: headline && toHeadline(run, headline, goal, prices),
    goal:
      goal === undefined
        ? null
        : judgeGoal(goal, evaluators, {
            isPreliminary: headline === null && isPreliminary(run),
            isLeaky: run.provenance.leaky === true,
            isPilot: run.provenance.draw !== undefined,
          }),
  };
}

function toHeadline(
  run: Run,
  { evaluators, asked, tokens }: StoredHeadline,
  goal: StoredGoal | undefined,
  prices: Prices | undefined,
): RunHeadline | null {
  const main = evaluators.find((one) => goal !== undefined && isMeant(goal, one)) ?? evaluators[0];
  if (main === undefined) return null;
  const tokensByModel = new Map(
    tokens.map(({ model, prompt_tokens: prompt, cached_tokens: cached, completion_tokens: completion }) => [
      model,
      { prompt, cached, completion },
    ]),
  );
  const cost = runCost(run, { tokensByModel }, prices);
  if (cost === null) return { ...main, cost: null };
  const { currency, total, unpriced_tokens } = cost;
  const isWhole = total !== null && unpriced_tokens === 0 && asked > 0;
  return {
    ...main,
    cost: {
      currency,
      total,
      unpriced_tokens,
      per_1000: isWhole ? withoutNoise((1000 * total) / asked) : null,
    },
  };
}
