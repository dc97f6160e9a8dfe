import type { Presage, Run, RunCreateRequest } from "@presage/sdk";
import { queryOptions, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { usePresage } from "../use-presage.ts";
import { comparableRunsQuery } from "./compared-runs.ts";
import { isActive } from "./recent-runs.ts";
import { runQuery } from "./run-samples.ts";

const runsKey = ["runs"];
/** How often a list with unfinished runs is read again. */
const listRefreshMs = 3_000;
/** How often a run is read while its events do not arrive. */
const pollMs = 2_000;
/** A report of an unfinished run is some work for the server. */
const reportRefreshMs = 15_000;

/** All runs, newest first, read again while one of them is unfinished. */
export function runsQuery(presage: Presage) {
  return {
    ...comparableRunsQuery(presage),
    refetchInterval: ({ state: { data } }: { state: { data: Run[] | undefined } }) =>
      data?.some(isActive) === true ? listRefreshMs : false,
  };
}

/** A run that stays up to date until it has ended: by its events, or by asking where they do not arrive. */
export function useLiveRun(id: string) {
  const presage = usePresage();
  const queryClient = useQueryClient();
  const [hasEvents, setHasEvents] = useState(false);
  const query = useQuery({
    ...runQuery(presage, id),
    refetchInterval: ({ state: { data } }) =>
      data !== undefined && isActive(data) && !hasEvents ? pollMs : false,
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

/** What a run says so far. Read once when it has ended. */
export function runReportQuery(presage: Presage, run: Run) {
  const isUnfinished = isActive(run);
  return queryOptions({
    queryKey: [...runsKey, "one", run.id, "report", isUnfinished ? "so far" : `${run.evaluators.length}`],
    queryFn: ({ signal }) => presage.runs.report(run.id, { signal }),
    staleTime: isUnfinished ? reportRefreshMs : Number.POSITIVE_INFINITY,
    refetchInterval: isUnfinished ? reportRefreshMs : false,
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
      return queryClient.invalidateQueries({ queryKey: runsKey });
    },
  });
}
