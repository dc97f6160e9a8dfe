import type { UsageRow } from "@presage/sdk";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { createLazyRoute } from "@tanstack/react-router";
import { useState } from "react";
import { usePresage } from "../../data/client.ts";
import { deploymentsQuery } from "../../data/predictions.ts";
import { countFailures, isPrediction, usageQuery } from "../../data/usage.ts";
import { formatCount, formatShortCount } from "../../format/numbers.ts";
import { type Period, periodBounds, periodLabels, stepStartsMs } from "../../format/times.ts";
import { Card } from "../../ui/card.tsx";
import { TimeChart } from "../../ui/charts/time-chart.tsx";
import type { ChartSeries } from "../../ui/charts/time-series.ts";
import { PeriodPicker } from "../../ui/form/choices.tsx";
import { ErrorNotice } from "../../ui/notice.tsx";
import { Page } from "../../ui/page.tsx";
import { ChartSkeleton, SkeletonRows } from "../../ui/skeleton.tsx";
import { HeaderCell, Table } from "../../ui/table.tsx";
import { useNow } from "../../ui/time.tsx";
import { ExplainedName } from "../../ui/tooltip.tsx";
import { DeploymentRow, isFine, ReplicaRow } from "./deployment-rows.tsx";

const refreshMs = 5_000;

export const deploymentsRoute = createLazyRoute("/deployments")({ component: DeploymentsPage });

function DeploymentsPage() {
  const presage = usePresage();
  const [period, setPeriod] = useState<Period>("24h");
  const {
    data: deployments,
    error,
    refetch,
  } = useQuery({ ...deploymentsQuery(presage), refetchInterval: refreshMs });
  const replicas = deployments?.flatMap(({ name, replicas = [] }) =>
    replicas.map((replica) => ({ name, replica })),
  );
  // The row of a deployment says as much of its only replica.
  const isSaid = replicas?.length === 1 && replicas.every(({ replica }) => isFine(replica));
  return (
    <Page
      title="Deployments"
      hint={
        <>
          The models behind this server. A request names one in{" "}
          <code className="font-mono text-xs whitespace-nowrap">x-presage-deployment</code>, or as the model
          of a chat.
        </>
      }
      actions={<PeriodPicker value={period} onChange={setPeriod} />}
    >
      {error !== null && <ErrorNotice error={error} onRetry={refetch} />}
      {deployments === undefined && error === null && (
        <Card>
          <SkeletonRows count={4} />
        </Card>
      )}
      {deployments !== undefined && (
        <Card
          title={`The last ${periodLabels[period]}`}
          hint="What your account stored of their predictions, runs included, through every process; at most the newest 10,000 of each."
        >
          <Table label="Deployments" isStacked className="min-w-160">
            <thead>
              <tr className="border-b border-line">
                <HeaderCell>Deployment</HeaderCell>
                <HeaderCell>Now</HeaderCell>
                <HeaderCell isNumber>Predictions</HeaderCell>
                <HeaderCell isNumber>Failed</HeaderCell>
                <HeaderCell isNumber>Median latency</HeaderCell>
                <HeaderCell isNumber>p95</HeaderCell>
              </tr>
            </thead>
            <tbody>
              {deployments.map((deployment) => (
                <DeploymentRow key={deployment.name} deployment={deployment} period={period} />
              ))}
            </tbody>
          </Table>
        </Card>
      )}
      {replicas !== undefined && replicas.length > 0 && !isSaid && (
        <Card
          title="Replicas, now"
          hint={
            <>
              Tries of the last 5 minutes and latencies of the last 256 answers, as{" "}
              <ExplainedName
                name="one process"
                explanation={`Each process of this server sees its own calls. Number ${deployments?.[0]?.process_id} answered.`}
              />{" "}
              sees them.
            </>
          }
        >
          <Table label="Replicas" isStacked className="min-w-184">
            <thead>
              <tr className="border-b border-line">
                <HeaderCell>Replica</HeaderCell>
                <HeaderCell>State</HeaderCell>
                <HeaderCell isNumber>Failed tries, 5 min</HeaderCell>
                <HeaderCell isNumber>Median latency</HeaderCell>
                <HeaderCell isNumber>p99</HeaderCell>
                <HeaderCell isNumber>
                  <span title="Requests in flight, and the most there may be; a 429 halves it">
                    In flight
                  </span>
                </HeaderCell>
                <HeaderCell>Last failure</HeaderCell>
              </tr>
            </thead>
            <tbody>
              {replicas.map(({ name, replica }) => (
                <ReplicaRow key={`${name} ${replica.url}`} deployment={name} replica={replica} />
              ))}
            </tbody>
          </Table>
        </Card>
      )}
      <TrafficCard period={period} />
      {replicas?.length === 0 && (
        <p className="text-xs text-ink-3">Replicas are shown to the account that runs this server.</p>
      )}
    </Page>
  );
}

/** All predictions that the account requested through any process, stored or not. */
function TrafficCard({ period }: { period: Period }) {
  const nowMs = useNow();
  const { data } = useQuery({
    ...usageQuery(usePresage(), period),
    refetchInterval: 30_000,
    placeholderData: keepPreviousData,
  });
  const rows = data?.data.filter((row) => isPrediction(row) || row.operation === "run") ?? [];
  const { since, step } = data ?? periodBounds(period, nowMs);
  const starts = Map.groupBy(rows, ({ start }) => Date.parse(start));
  const totals = countsOf(rows);
  const bar = (key: keyof typeof totals, label: string, color: string): ChartSeries => {
    return { key, label, color: `var(--color-${color})`, shape: "bar", total: formatCount(totals[key]) };
  };
  return (
    <Card
      title={`Calls by ${step}, UTC`}
      hint="Of your account to all deployments, stored or not. A run tries again, so a failed try is not a failed prediction."
    >
      {data === undefined ? (
        <ChartSkeleton />
      ) : (
        <TimeChart
          label={`Calls for predictions by ${step}`}
          step={step}
          series={[
            bar("live", "Live", "chart-1"),
            bar("runs", "Of runs", "chart-2"),
            bar("failed", "Failed tries", "fail"),
          ]}
          points={stepStartsMs(since, step, nowMs).map((startMs) => ({
            startMs,
            values: countsOf(starts.get(startMs) ?? []),
          }))}
          format={formatCount}
          formatTick={formatShortCount}
          isWhole
        />
      )}
    </Card>
  );
}

function countsOf(rows: readonly UsageRow[]) {
  const counts = { live: 0, runs: 0, failed: 0 };
  for (const row of rows) {
    const failed = countFailures(row);
    counts.failed += failed;
    counts[isPrediction(row) ? "live" : "runs"] += row.requests - failed;
  }
  return counts;
}
