import type { Presage, RunSample, RunSampleFilter, RunSampleView } from "@presage/sdk";
import { queryOptions } from "@tanstack/react-query";
import { pagedQuery } from "./client.ts";
import { runsKey } from "./runs.ts";

const rowsOnPage = 200;
const excerptCharacters = 160;
/** The most predictions of one trajectory that a page shows. */
export const maxStepPredictions = 5_000;
const predictionsAtOnce = 1_000;
/** As many as a run may have. */
const maxRepeats = 20;
/** A list that the user left is loaded from the start again after this time. */
const listCacheMs = 15_000;

/** The predictions of a run with all verdicts, page by page. Loaded pages are never fetched again, so that rows do not move. */
export function runSamplePagesQuery(
  presage: Presage,
  runId: string,
  filter: RunSampleFilter & RunSampleView,
) {
  return {
    ...pagedQuery([...runsKey, "samples", runId, filter], ({ after, signal }) =>
      presage.runs.pageOfSamples(
        runId,
        { ...filter, text_limit: excerptCharacters },
        { limit: rowsOnPage, after, signal },
      ),
    ),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: listCacheMs,
    structuralSharing: false,
  };
}

/** All predictions for one sample, by repeat. */
export function runSampleQuery(presage: Presage, runId: string, sampleId: string) {
  return queryOptions({
    queryKey: [...runsKey, "sample", runId, sampleId],
    async queryFn({ signal }) {
      const filter = { dataset_sample_id: sampleId };
      return (await presage.runs.pageOfSamples(runId, filter, { limit: maxRepeats, signal })).data;
    },
  });
}

/** The predictions of a trajectory by step and repeat, without their texts. */
export function runTrajectoryQuery(presage: Presage, runId: string, trajectoryId: string) {
  return queryOptions({
    queryKey: [...runsKey, "trajectory", runId, trajectoryId],
    async queryFn({ signal }) {
      const all: RunSample[] = [];
      for (let after: string | undefined; all.length < maxStepPredictions; ) {
        const filter = { trajectory_id: trajectoryId, order: "step" } as const;
        const page = await presage.runs.pageOfSamples(runId, filter, {
          limit: predictionsAtOnce,
          after,
          signal,
        });
        all.push(...page.data);
        if (page.next === null) return { samples: all, isWhole: true };
        after = page.next;
      }
      return { samples: all, isWhole: false };
    },
  });
}
