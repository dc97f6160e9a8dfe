import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { findQueryError } from "../../data/find-query-error.ts";
import type { Period } from "../../data/period.ts";
import { periodSummaryQuery } from "../../data/summaries.ts";
import { latencyQuery, usageQuery } from "../../data/usage.ts";
import { usePresage } from "../../data/use-presage.ts";

/** While the page is in sight it is never older than this. */
const refreshMs = 30_000;
/** Another period takes the place of this one when it is there. */
const live = { refetchInterval: refreshMs, placeholderData: keepPreviousData } as const;

/** The figures of the page. */
export function useOverview(period: Period) {
  const presage = usePresage();
  const usage = useQuery({ ...usageQuery(presage, period), ...live });
  const latency = useQuery({ ...latencyQuery(presage, period), ...live });
  const summary = useQuery({ ...periodSummaryQuery(presage, period), ...live });
  const queries = [usage, latency, summary];
  return {
    usage: usage.data,
    latency: latency.data,
    summary: summary.data,
    failure: findQueryError(queries),
    /** Nothing came, and nothing is on its way. */
    isMissing: queries.every(({ isError, data }) => isError && data === undefined),
    /** What is shown is still that of the period before the choice. */
    isOld: queries.some(({ isPlaceholderData }) => isPlaceholderData),
  };
}
