import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { periodSummaryQuery, summaryRefreshMs } from "../../data/evaluation/summaries.ts";
import type { Period } from "../../data/figures/period.ts";
import { findQueryError } from "../../data/query-errors.ts";
import { latencyQuery, usageQuery } from "../../data/usage.ts";
import { usePresage } from "../../data/use-presage.ts";

const refreshMs = 30_000;
/** The previous period stays visible until the new one is loaded. */
const live = { refetchInterval: refreshMs, placeholderData: keepPreviousData } as const;

export function useOverview(period: Period) {
  const presage = usePresage();
  const usage = useQuery({ ...usageQuery(presage, period), ...live });
  const latency = useQuery({ ...latencyQuery(presage, period), ...live });
  const summary = useQuery({
    ...periodSummaryQuery(presage, period),
    ...live,
    refetchInterval: summaryRefreshMs,
  });
  const queries = [usage, latency, summary];
  return {
    usage: usage.data,
    latency: latency.data,
    summary: summary.data,
    /** There is something to compare with. */
    hasBefore: (usage.data?.before.data.length ?? 0) > 0 || (summary.data?.before.count ?? 0) > 0,
    failure: findQueryError(queries),
    /** Everything failed to load. */
    isMissing: queries.every(({ isError, data }) => isError && data === undefined),
    /** The figures are still those of the previously chosen period. */
    isOld: queries.some(({ isPlaceholderData }) => isPlaceholderData),
  };
}
