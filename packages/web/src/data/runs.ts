import { mainEvaluator } from "@presage/contract/describe-runs";
import type {
  GoalRequest,
  ListedRun,
  Presage,
  Run,
  RunCreateRequest,
  RunHeadline,
  RunSample,
  RunSampleFilter,
  RunSampleListResponse,
  RunSampleView,
} from "@presage/sdk";
import {
  keepPreviousData,
  queryOptions,
  useMutation,
  useQueries,
  useQuery,
  useQueryClient,
} from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { pagedQuery, refreshWhile, useChange, usePresage } from "./client.ts";

const runsKey = ["runs"];

/** How often a list with unfinished runs is reloaded. */
const listRefreshMs = 3_000;
/** How often a run is loaded while its events do not arrive. */
const pollMs = 2_000;
/** Long, since the server has to work for the report of an unfinished run. */
const reportRefreshMs = 15_000;

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const namesFreshMs = 60_000;

/** All runs, newest first. */
export function allRunsQuery(presage: Presage) {
  return queryOptions({
    queryKey: [...runsKey, "all"],
    queryFn: ({ signal }) => presage.runs.list({}, { signal }),
  });
}

/** How long a headline may take to appear. */
const headlineWaitMs = 60_000;

function isAwaited(run: ListedRun): boolean {
  if (isActive(run)) return true;
  const { headline, dataset_id, finished_at } = run;
  if (headline !== null || dataset_id === null || finished_at === null) return false;
  return Date.now() - Date.parse(finished_at) < headlineWaitMs;
}

/** All runs, reloaded while one of them is unfinished. A headline appears seconds after its run has ended. */
export function runsQuery(presage: Presage) {
  return {
    ...allRunsQuery(presage),
    refetchInterval: refreshWhile((runs: ListedRun[] | undefined) =>
      runs?.some(isAwaited) === true ? listRefreshMs : false,
    ),
  };
}

/** Whether there is any run. */
export function everRanQuery(presage: Presage) {
  return queryOptions({
    queryKey: [...runsKey, "ever"],
    queryFn: async ({ signal }) => (await presage.runs.listPage({ limit: 1 }, { signal })).data.length > 0,
  });
}

export function runQuery(presage: Presage, id: string) {
  return queryOptions({
    queryKey: [...runsKey, "one", id],
    queryFn: ({ signal }) => presage.runs.get(id, { signal }),
  });
}

/** Whether an ended run's confidences can be trusted, as judged by one of its evaluators. */
export function calibrationQuery(presage: Presage, id: string, evaluator: string, profile_name?: string) {
  return queryOptions({
    queryKey: [...runsKey, "calibration", id, evaluator, profile_name],
    queryFn: ({ signal }) => presage.runs.calibration(id, { evaluator, profile_name }, { signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** The names of all runs by their ids. */
export function runNamesQuery(presage: Presage) {
  return {
    ...allRunsQuery(presage),
    staleTime: namesFreshMs,
    select: (runs: readonly Run[]) => new Map(runs.map(({ id, name }) => [id, name])),
  };
}

/** The name of a run, taken from all runs, so that a list of results makes only one request; null if no run has this id. */
export function runNameQuery(presage: Presage, id: string) {
  return {
    ...allRunsQuery(presage),
    staleTime: namesFreshMs,
    // A result's `evaluation_run_id` may be any text, but a run's id is always a UUID.
    enabled: uuid.test(id),
    select: (runs: readonly Run[]) => runs.find((run) => run.id === id)?.name ?? null,
  };
}

/** Whether a run has not ended. */
export function isActive({ status }: Run): boolean {
  return status === "queued" || status === "running" || status === "paused";
}

/** Whether the run paused itself and tries its deployment again every 30 seconds; a run that a person paused has no reason. */
export function waitsForDeployment({ status, status_reason }: Run): boolean {
  return status === "paused" && status_reason !== null;
}

/** A run that stays up to date until it has ended: through its events, or by polling if they do not arrive. */
export function useLiveRun(id: string) {
  const presage = usePresage();
  const queryClient = useQueryClient();
  const [hasEvents, setHasEvents] = useState(false);
  const query = useQuery({
    ...runQuery(presage, id),
    refetchInterval: refreshWhile((run: Run | undefined) =>
      run !== undefined && isActive(run) && !hasEvents ? pollMs : false,
    ),
  });
  const isUnfinished = query.data !== undefined && isActive(query.data);
  useEffect(() => {
    if (!isUnfinished) return;
    const events = new EventSource(`/v1/runs/${encodeURIComponent(id)}/events`);
    events.onopen = () => setHasEvents(true);
    events.onerror = () => setHasEvents(false);
    events.addEventListener("run", ({ data }: MessageEvent<string>) => {
      queryClient.setQueryData<Run>([...runsKey, "one", id], JSON.parse(data));
    });
    return () => {
      events.close();
      setHasEvents(false);
    };
  }, [id, isUnfinished, queryClient]);
  return query;
}

/** The report of a run so far. Loaded once after the run has ended. */
export function runReportQuery(presage: Presage, run: Run) {
  const isUnfinished = isActive(run);
  return queryOptions({
    queryKey: [...runsKey, "one", run.id, "report", isUnfinished ? "so far" : run.finished_at],
    queryFn: ({ signal }) => presage.runs.report(run.id, { signal }),
    staleTime: isUnfinished ? reportRefreshMs : Number.POSITIVE_INFINITY,
    refetchInterval: refreshWhile<unknown>(() => (isUnfinished ? reportRefreshMs : false)),
  });
}

export function useCreateRun({ onSuccess }: { onSuccess?(run: Run): void } = {}) {
  const presage = usePresage();
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: (request: RunCreateRequest) => presage.runs.create(request),
    onSuccess(run) {
      onSuccess?.(run);
      void queryClient.invalidateQueries({ queryKey: [...runsKey, "all"] });
      void queryClient.invalidateQueries({ queryKey: ["datasets", "runs"] });
    },
  });
}

export type RunChange = "pause" | "resume" | "finish" | "cancel";

export function useChangeRun(id: string) {
  const presage = usePresage();
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: (change: RunChange) => presage.runs[change](id),
    onSuccess(run) {
      queryClient.setQueryData([...runsKey, "one", id], run);
      void queryClient.invalidateQueries({ queryKey: [...runsKey, "all"] });
    },
  });
}

export function useDeleteRun({ onSuccess }: { onSuccess(): void }) {
  const presage = usePresage();
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: (id: string) => presage.runs.delete(id),
    onSuccess(_, id) {
      onSuccess();
      queryClient.removeQueries({ queryKey: [...runsKey, "one", id] });
      for (const queryKey of [["datasets", "runs"], ["comparisons"], ["example"]])
        void queryClient.invalidateQueries({ queryKey });
      return queryClient.invalidateQueries({ queryKey: runsKey });
    },
  });
}

/** Whether a run cannot begin, as its predictions are made elsewhere and have not been uploaded. */
export function waitsForUpload({ target, status, progress }: Run): boolean {
  return "predictions" in target && status === "queued" && progress.predicted === 0;
}

export function useUploadPredictions(id: string) {
  return useChange(runsKey, ({ runs }, file: File) =>
    runs.uploadPredictions(id, file, { isGzip: file.name.endsWith(".gz") }),
  );
}

/** Has evaluators of a run try their failed verdicts again. */
export function useJudgeAgain(id: string) {
  return useChange(runsKey, ({ runs }, evaluators: Run["evaluators"]) =>
    runs.addEvaluators(
      id,
      evaluators.map(({ evaluator, profile_name, profile_revision }) => ({
        evaluator,
        profile_name: profile_name && `${profile_name}:${profile_revision}`,
      })),
    ),
  );
}

const recentRefreshMs = 30_000;

/** The figures of a run that a list shows. */
export type Headline = Omit<RunHeadline, "cost">;

/** The latest figures of each target and dataset. */
export function headlinesQuery(presage: Presage) {
  return queryOptions({
    queryKey: [...runsKey, "headlines"],
    queryFn: ({ signal }) => presage.runs.headlines({ signal }),
    refetchInterval: recentRefreshMs,
  });
}

export const maxPausedRuns = 20;

/** The newest of the runs that wait until someone resumes them. */
export function pausedRunsQuery(presage: Presage) {
  return queryOptions({
    queryKey: [...runsKey, "paused"],
    queryFn: async ({ signal }) =>
      (await presage.runs.listPage({ status: "paused", limit: maxPausedRuns }, { signal })).data,
    refetchInterval: recentRefreshMs,
  });
}

/** Sets the goal of all runs with a name; null removes it. */
export function useSetGoal(runName: string) {
  return useChange(runsKey, async ({ goals }, goal: GoalRequest | null) => {
    if (goal === null) await goals.remove(runName);
    else await goals.set(runName, goal);
  });
}

/** The figures of external runs, which lists lack. Reports are loaded one at a time, since each takes the server some work. */
export function useExternalHeadlines(runs: readonly Run[]) {
  const presage = usePresage();
  const settled = useQueries({
    queries: runs.map((run) => ({ ...externalHeadlineQuery(presage, run), enabled: false })),
    combine: (results) => results.findIndex(({ status }) => status === "pending"),
  });
  return useQueries({
    queries: runs.map((run, index) => ({
      ...externalHeadlineQuery(presage, run),
      enabled: settled === -1 || index <= settled,
    })),
    combine: (results) => results.map(({ data, isError }) => ({ data, isError })),
  });
}

function externalHeadlineQuery(presage: Presage, run: Run) {
  return queryOptions({
    // Not under the key of runs: when runs are reloaded, this run may just have been deleted.
    queryKey: ["headlines of runs", run.id, run.status, run.evaluators.length],
    async queryFn({ signal }): Promise<Headline | null> {
      const { evaluators, goal } = await presage.runs.report(run.id, { signal });
      const first = mainEvaluator(evaluators, goal);
      if (first === undefined) return null;
      // Strata may have thousands of steps, so they are not kept.
      const { strata: _, strata_left_out: __, ...headline } = first;
      return { ...headline, baseline_outcome: null };
    },
    // The report of an ended run stays the same, unless evaluators are added.
    staleTime: isActive(run) ? recentRefreshMs : Number.POSITIVE_INFINITY,
    refetchInterval: refreshWhile<unknown>(() => (isActive(run) ? recentRefreshMs : false)),
  });
}

const rowsOnPage = 200;
const excerptCharacters = 160;
/** The greatest number of predictions of one trajectory that a page shows. */
export const maxStepPredictions = 5_000;
const predictionsAtOnce = 1_000;
/** The greatest number of repeats that a run may have. */
const maxRepeats = 20;
/** A list that the user left is reloaded from the start after this time. */
const listCacheMs = 15_000;

/** The predictions of a run with all verdicts, page by page. Loaded pages are never reloaded, so that rows do not move. */
export function runSamplePagesQuery(
  presage: Presage,
  { id: runId, status }: Pick<Run, "id" | "status">,
  filter: RunSampleFilter & RunSampleView,
) {
  return {
    // After a run has ended, there are more predictions than before.
    ...pagedQuery([...runsKey, "samples", runId, status, filter], ({ after, signal }) =>
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

/** A run's first prediction with its texts; null if there is none yet. */
export function firstPredictionQuery(presage: Presage, runId: string) {
  return queryOptions({
    queryKey: [...runsKey, "one", runId, "first prediction"],
    async queryFn({ signal }) {
      const { data } = await presage.runs.pageOfSamples(runId, {}, { limit: 1, signal });
      const [first] = data;
      return first === undefined
        ? null
        : await presage.storedPredictions.get(first.prediction.id, { signal });
    },
  });
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

/** The predictions of a trajectory by step and repeat, without their texts, and the trajectories around it. */
export function runTrajectoryQuery(presage: Presage, runId: string, trajectoryId: string) {
  return queryOptions({
    queryKey: [...runsKey, "trajectory", runId, trajectoryId],
    async queryFn({ signal }) {
      const all: RunSample[] = [];
      let around: RunSampleListResponse["trajectory"];
      for (let after: string | undefined; all.length < maxStepPredictions; ) {
        const filter = { trajectory_id: trajectoryId, order: "step" } as const;
        const page = await presage.runs.pageOfSamples(runId, filter, {
          limit: predictionsAtOnce,
          after,
          signal,
        });
        all.push(...page.data);
        around = page.trajectory;
        if (page.next === null) return { samples: all, around, isWhole: true };
        after = page.next;
      }
      return { samples: all, around, isWhole: false };
    },
  });
}

export const agreementKey = ["agreement"];

/** How far an evaluator agrees with people's labels so far. */
export function agreementQuery(presage: Presage, query: Parameters<Presage["labels"]["agreement"]>[0]) {
  return queryOptions({
    queryKey: [...agreementKey, query],
    queryFn: ({ signal }) => presage.labels.agreement(query, { signal }),
    // The figures from before the last label are shown until the new ones arrive.
    placeholderData: keepPreviousData,
  });
}
