import type { Presage, Run, RunReport } from "@presage/sdk";
import { queryOptions, useQueries, useQuery } from "@tanstack/react-query";
import { type Period, periodBounds } from "../../format/times.ts";
import { usePresage } from "../use-presage.ts";

const maxRuns = 4;
const pageSize = 50;
const refreshMs = 30_000;

interface RecentRuns {
  runs: Run[];
  /** Of the period, also those that are not shown. More than a page of them are not counted. */
  count: number;
  hasMore: boolean;
}

/** The newest runs of a period that predict something. */
function recentRunsQuery(presage: Presage, period: Period) {
  return queryOptions({
    queryKey: ["runs", "recent", period],
    async queryFn({ signal }): Promise<RecentRuns> {
      const { since } = periodBounds(period, Date.now());
      const { data, next } = await presage.runs.listPage({ limit: pageSize }, { signal });
      const inPeriod = data.filter(({ created_at }) => Date.parse(created_at) >= Date.parse(since));
      return {
        runs: inPeriod.slice(0, maxRuns),
        count: inPeriod.length,
        hasMore: next !== null && inPeriod.length === data.length,
      };
    },
  });
}

function reportQuery(presage: Presage, run: Run) {
  return queryOptions({
    // Not one of the keys of runs: when those are read again, this one's run may just have been deleted.
    queryKey: ["headlines of runs", run.id, run.status, run.evaluators.length],
    async queryFn({ signal }): Promise<Headline[]> {
      return (await presage.runs.report(run.id, { signal })).evaluators.map(toHeadline);
    },
    // A run that has ended says the same from then on, unless evaluators are added.
    staleTime: isActive(run) ? refreshMs : Number.POSITIVE_INFINITY,
    refetchInterval: isActive(run) ? refreshMs : false,
  });
}

/** What an overview shows of one evaluator of a run. */
export type Headline = Omit<RunReport["evaluators"][number], "strata" | "strata_left_out">;

/** Strata of thousands of steps are not kept. */
function toHeadline({ strata: _, strata_left_out: __, ...rest }: RunReport["evaluators"][number]): Headline {
  return rest;
}

/** The newest runs and their figures. */
export function useRecentRuns(period: Period) {
  const presage = usePresage();
  const recent = useQuery({ ...recentRunsQuery(presage, period), refetchInterval: refreshMs });
  return { recent, headlines: useHeadlines(recent.data?.runs ?? []) };
}

/** The figures of some runs. Reports are read one after the other, as each takes the server some work. */
export function useHeadlines(runs: readonly Run[]) {
  const presage = usePresage();
  const settled = useQueries({
    queries: runs.map((run) => ({ ...reportQuery(presage, run), enabled: false })),
    combine: (results) => results.findIndex(({ status }) => status === "pending"),
  });
  return useQueries({
    queries: runs.map((run, index) => ({
      ...reportQuery(presage, run),
      enabled: settled === -1 || index <= settled,
    })),
    combine: (results) => results.map(({ data, isError }) => ({ data, isError })),
  });
}

export function isActive({ status }: Run): boolean {
  return status === "queued" || status === "running" || status === "paused";
}
