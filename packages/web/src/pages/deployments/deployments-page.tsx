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
                  <HeaderCell isNumber>Failed</HeaderCell>
                  <HeaderCell isNumber>Latency, median</HeaderCell>
                  {showsReplicas && (
                    <>
                      <HeaderCell isNumber>
                        <span title="Requests in flight, and the most there may be; a 429 halves it">
                          In flight
                        </span>
                      </HeaderCell>
                      <HeaderCell>Last failure</HeaderCell>
                    </>
                  )}
                </tr>
              </thead>
              {deployments.map((deployment) => (
                <DeploymentRows key={deployment.name} deployment={deployment} period={period} />
              ))}
            </Table>
          </Card>
          <p className="text-xs text-ink-3">
            A deployment’s row is of your account’s stored predictions of the last {periodLabels[period]},
            runs included, at most the newest 10,000.{" "}
            {showsReplicas
              ? "A replica’s is of the process that answered just now: tries of the last 5 minutes, and its last 256 answers."
              : "Replicas and their state are shown to the account that runs this server."}
          </p>
        </>
      )}
    </Page>
  );
}
