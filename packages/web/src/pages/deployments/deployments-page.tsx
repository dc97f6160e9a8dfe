import { useQuery } from "@tanstack/react-query";
import { createLazyRoute } from "@tanstack/react-router";
import { useState } from "react";
import { usePresage } from "../../data/client.ts";
import { deploymentsQuery } from "../../data/predictions.ts";
import { type Period, periodLabels } from "../../format/times.ts";
import { Operations } from "../../parts/operations.tsx";
import { Card } from "../../ui/card.tsx";
import { PeriodPicker } from "../../ui/form/choices.tsx";
import { ErrorNotice } from "../../ui/notice.tsx";
import { Page } from "../../ui/page.tsx";
import { SkeletonRows } from "../../ui/skeleton.tsx";
import { HeaderCell, Table } from "../../ui/table.tsx";
import { DeploymentRows } from "./deployment-rows.tsx";

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
  const showsReplicas = deployments?.some(({ replicas }) => replicas !== undefined) === true;
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
        <>
          <Operations period={period} />
          <Card>
            <Table label="Deployments" isStacked className={showsReplicas ? "min-w-184" : ""}>
              <thead>
                <tr className="border-b border-line">
                  <HeaderCell>Deployment</HeaderCell>
                  <HeaderCell>State</HeaderCell>
                  <HeaderCell isNumber>Failed, {periodLabels[period]}</HeaderCell>
                  {showsReplicas &&
                    columns.map(({ name, title, isNumber = false }) => (
                      <HeaderCell key={name} isNumber={isNumber}>
                        <span title={title}>{name}</span>
                      </HeaderCell>
                    ))}
                </tr>
              </thead>
              {deployments.map((deployment) => (
                <DeploymentRows
                  key={deployment.name}
                  deployment={deployment}
                  period={period}
                  columnCount={columns.length}
                />
              ))}
            </Table>
          </Card>
          <p className="text-xs text-ink-3">
            Failures are counted among your account’s stored predictions of the last {periodLabels[period]},
            whichever process made them.{" "}
            {showsReplicas
              ? `Tries, latency, requests in flight and the last failure are of the process that answered just now, every ${refreshMs / 1000} seconds; the latency above is of all processes.`
              : "Replicas and their state are shown to the account that runs this server."}
          </p>
        </>
      )}
    </Page>
  );
}

/** Of a replica, behind those that a deployment has too. */
const columns: { name: string; title?: string; isNumber?: boolean }[] = [
  { name: "Tries failed", title: "Tries of the last 5 minutes that the replica failed", isNumber: true },
  {
    name: "Latency here",
    title: "Median and 99th percentile of the latency of its last 256 answers",
    isNumber: true,
  },
  {
    name: "In flight",
    title: "Requests in flight, and the most there may be; a 429 halves it",
    isNumber: true,
  },
  { name: "Last failure" },
];
