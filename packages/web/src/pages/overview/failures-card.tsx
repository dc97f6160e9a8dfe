import type { UsageFailure } from "@presage/sdk";
import { Link } from "@tanstack/react-router";
import { CircleCheck, CircleDashed } from "lucide-react";
import type { Period } from "../../data/figures/period.ts";
import { isPrediction, rankFailures, shareOf, sumUsage } from "../../data/figures/usage-figures.ts";
import type { ComparedUsage } from "../../data/usage.ts";
import { formatCount, formatShare } from "../../format/format-number.ts";
import { failureLabels } from "../../format/usage-labels.ts";
import { categories } from "../../parts/predictions.ts";
import { Card } from "../../ui/card.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { SkeletonRows } from "../../ui/skeleton.tsx";

export function FailuresCard({ usage }: { usage: ComparedUsage | undefined }) {
  return (
    <Card
      title="Errors by reason"
      hint="Click one to see those that are stored."
      className="flex h-80 flex-col"
    >
      <div className="min-h-0 flex-1 overflow-y-auto">
        {usage === undefined ? (
          <SkeletonRows count={4} className="h-8" />
        ) : (
          <Failures rows={usage.current.data.filter(isPrediction)} period={usage.period} />
        )}
      </div>
    </Card>
  );
}

function Failures({ rows, period }: { rows: ComparedUsage["current"]["data"]; period: Period }) {
  const { requests, failed } = sumUsage(rows);
  if (failed === 0) {
    return (
      <EmptyState
        icon={requests === 0 ? CircleDashed : CircleCheck}
        title={requests === 0 ? "No requests" : "No errors"}
      >
        {requests > 0 && `All ${formatCount(requests)} requests succeeded.`}
      </EmptyState>
    );
  }
  return (
    <ul className="flex flex-col gap-3 p-4">
      {rankFailures(rows).map(({ reason, count }) => (
        <li key={reason} className="flex flex-col gap-1 text-sm">
          <div className="flex justify-between gap-3">
            <Reason reason={reason} period={period} />
            <span className="whitespace-nowrap tabular-nums">
              {formatCount(count)} <span className="text-ink-3">{formatShare(shareOf(count, failed))}</span>
            </span>
          </div>
          <div aria-hidden className="h-1 rounded-full bg-sunken">
            <div className="h-1 rounded-full bg-fail" style={{ width: `${(count / failed) * 100}%` }} />
          </div>
        </li>
      ))}
    </ul>
  );
}

/** Opens the log, which has no requests that were refused before a model was asked. */
function Reason({ reason, period }: { reason: UsageFailure; period: Period }) {
  const category = categories.find((known) => known === reason);
  if (category === undefined) {
    return (
      <span
        className="min-w-0 truncate"
        title="Not in the log of predictions: refused or cancelled before a model could respond."
      >
        {failureLabels[reason]}
      </span>
    );
  }
  return (
    <Link
      to="/predictions"
      search={{ source: "live", status: "failed", category, period }}
      className="-my-1 min-w-0 truncate py-1 text-accent-ink underline-offset-2 hover:underline"
    >
      {failureLabels[reason]}
    </Link>
  );
}
