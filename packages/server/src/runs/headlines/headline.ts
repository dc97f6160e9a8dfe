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
import { keepHeadline, type StoredHeadline, selectRunWithoutHeadline } from "./headlines-store.ts";
import { compareWithPrevious } from "./previous.ts";

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
  };
}

/** Makes the headlines of ended runs, one after the other. Other processes may make the same one: the figures are equal. */
export function keepHeadlines(
  { store, room }: { store: Store; room: RoomForBytes },
  onError: (error: unknown) => void,
): Looker {
  /** Runs whose headlines cannot be made; they are not tried again. */
  const failed = new Set<string>();

  async function makeAll(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const run = await selectRunWithoutHeadline(store.database, failed);
      if (run === undefined) return;
      const giveBack = await room.take(headlineMemoryBytes(run), signal);
      try {
        const requester = { accountId: run.account_id, signal };
        const headline = await makeHeadline({ store }, requester, run);
        await keepHeadline(store.writer(requester), run, headline);
      } catch (error) {
        if (signal.aborted || isStoreUnavailable(error)) throw error;
        failed.add(run.id);
        onError(error);
      } finally {
        giveBack();
      }
    }
  }

  return startLooking({ look: makeAll, onFailure: onError });
}
