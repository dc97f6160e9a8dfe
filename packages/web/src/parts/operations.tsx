import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { findQueryError, usePresage } from "../data/client.ts";
import { isPrediction, latencyQuery, sumUsage, usageQuery } from "../data/usage.ts";
import { formatCost, formatCount, formatDuration, formatShare } from "../format/numbers.ts";
import { periodLabels } from "../format/times.ts";
import { Tiles } from "../ui/card.tsx";
import { ErrorNotice } from "../ui/notice.tsx";
import { Skeleton } from "../ui/skeleton.tsx";

const period = "24h";
const live = { refetchInterval: 30_000, placeholderData: keepPreviousData } as const;

/** How recent requests for predictions went. */
export function Operations() {
  const presage = usePresage();
  const usage = useQuery({ ...usageQuery(presage, period), ...live });
  const latency = useQuery({ ...latencyQuery(presage, period), ...live });
  const failure = findQueryError([usage, latency]);
  if (failure && (usage.data === undefined || latency.data === undefined))
    return <ErrorNotice error={failure.error} onRetry={failure.retry} />;
  const rows = usage.data?.data;
  const asked = rows && sumUsage(rows.filter(isPrediction));
  const others = rows && sumUsage(rows.filter((row) => !isPrediction(row)));
  const p95 = latency.data?.overall.total_ms?.p95;
  const currency = usage.data?.currency;
  const isPriced =
    currency != null && [asked, others].some((one) => one?.cost != null || one?.requests === 0);
  const facts = [
    {
      name: `Requests, ${periodLabels[period]}`,
      value: asked && formatCount(asked.requests),
      note: "live, for predictions; not of runs",
    },
    {
      name: "Error rate",
      value: asked && (asked.requests === 0 ? "–" : `${formatShare(asked.failed / asked.requests)}`),
      note: asked && `${formatCount(asked.failed)} of ${formatCount(asked.requests)} failed`,
    },
    {
      name: "Latency, p95",
      value: latency.data && (p95 === undefined ? "–" : formatDuration(p95)),
      note: "of live requests, with the upstream’s time",
    },
    {
      name: `Cost, ${periodLabels[period]}`,
      value:
        asked && (isPriced ? formatCost((asked.cost ?? 0) + (others?.cost ?? 0), currency) : "no prices"),
      note: isPriced
        ? `${formatCost(asked?.cost ?? 0, currency)} live, ${formatCost(others?.cost ?? 0, currency)} runs and judges`
        : "of all requests",
    },
  ];
  return (
    <Tiles
      tiles={facts.map(({ name, value, note }) => ({
        name,
        value: value ?? <Skeleton className="h-4 w-20" />,
        note: value !== undefined && note,
      }))}
    />
  );
}
