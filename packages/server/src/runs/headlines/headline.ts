import { HeadlineFigures, type ReportEvaluator } from "@presage/contract";
import type { RoomForBytes } from "../../platform/limits/memory.ts";
import { type Looker, startLooking } from "../../platform/storage/leases.ts";
import type { Requester, Store } from "../../platform/storage/store.ts";
import { isStoreUnavailable } from "../../platform/storage/store-error.ts";
import { comparisonMemoryBytes } from "../compare/compare-runs.ts";
import { readOutcomes, totalPredictions } from "../report/outcomes.ts";
import { overallFigures, reportMemoryBytes } from "../report/report-run.ts";
import { readRunSamples } from "../report/samples.ts";
import { type Run, toEvaluatorNames } from "../run.ts";
import { baselineOf } from "./baselines.ts";
import {
  keepHeadline,
  type StoredHeadline,
  selectRivals,
  selectRunWithoutHeadline,
} from "./headlines-store.ts";
import { compareWithBaselines, compareWithPrevious } from "./previous.ts";

/** The memory that making a headline takes. */
function headlineMemoryBytes(run: Run): number {
  return Math.max(reportMemoryBytes(run), comparisonMemoryBytes([run, run]));
}

/** Makes the headline of a run over a dataset, with the same figures as its report. */
async function makeHeadline(
  { store }: { store: Store },
  requester: Requester,
  run: Run,
): Promise<StoredHeadline> {
  const reader = store.reader(requester);
  const samples = await readRunSamples(reader, run);
  const predictions = await totalPredictions(reader, run, samples.count);
  const evaluators: (ReportEvaluator & HeadlineFigures)[] = [];
  for (const [evaluatorIndex, evaluator] of run.evaluators.entries()) {
    const outcomes = await readOutcomes(reader, run, evaluatorIndex, predictions.failed);
    const figures = await overallFigures(samples, outcomes);
    evaluators.push({ ...toEvaluatorNames(evaluator), ...HeadlineFigures.parse(figures) });
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
    against: await compareWithBaselines({ store }, requester, run, evaluators),
  };
}

/** Makes the headlines of ended runs, one after the other. Other processes may make the same one: the figures are equal. */
export function keepHeadlines(
  { store, room }: { store: Store; room: RoomForBytes },
  onError: (error: unknown) => void,
): Looker {
  /** Runs whose headlines cannot be made; they are not tried again. */
  const failed = new Set<string>();

  /** Does the work within the memory that it takes. If it fails, the run is left alone from then on. */
  async function attempt(
    run: Run,
    signal: AbortSignal,
    work: (requester: Requester) => Promise<void>,
  ): Promise<void> {
    const giveBack = await room.take(headlineMemoryBytes(run), signal);
    try {
      await work({ accountId: run.account_id, signal });
    } catch (error) {
      if (signal.aborted || isStoreUnavailable(error)) throw error;
      failed.add(run.id);
      onError(error);
    } finally {
      giveBack();
    }
  }

  async function makeAll(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const run = await selectRunWithoutHeadline(store.database, failed);
      if (run === undefined) return;
      await attempt(run, signal, async (requester) =>
        keepHeadline(store.writer(requester), run, await makeHeadline({ store }, requester, run)),
      );
      if (baselineOf(run) === undefined || run.status !== "finished") continue;
      for (const { headline, ...rival } of await selectRivals(store.database, run))
        await attempt(rival, signal, async (requester) => {
          const against = await compareWithBaselines({ store }, requester, rival, headline.evaluators);
          await keepHeadline(store.writer(requester), rival, { ...headline, against });
        });
    }
  }

  return startLooking({ look: makeAll, onFailure: onError });
}
