import { useQuery } from "@tanstack/react-query";
import { createLazyRoute } from "@tanstack/react-router";
import { deploymentsQuery } from "../../data/deployments.ts";
import { usePresage } from "../../data/use-presage.ts";
import { Card } from "../../ui/card.tsx";
import { ErrorNotice } from "../../ui/error-notice.tsx";
import { Page } from "../../ui/page.tsx";
import { SkeletonRows } from "../../ui/skeleton.tsx";
import { DeploymentCard } from "./deployment-card.tsx";
import { DeploymentList } from "./deployment-list.tsx";

const refreshMs = 5_000;

export const deploymentsRoute = createLazyRoute("/deployments")({ component: DeploymentsPage });

function DeploymentsPage() {
  const presage = usePresage();
  const {
    data: deployments,
    error,
    refetch,
  } = useQuery({ ...deploymentsQuery(presage), refetchInterval: refreshMs });
  const processId = deployments?.[0]?.process_id;
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
    >
      {error !== null && <ErrorNotice error={error} onRetry={refetch} />}
      {deployments === undefined && error === null && (
        <Card>
          <SkeletonRows count={4} />
        </Card>
      )}
      {deployments !== undefined && !showsReplicas && <DeploymentList deployments={deployments} />}
      {showsReplicas && (
        <>
          {deployments.map((deployment) => (
            <DeploymentCard key={deployment.name} deployment={deployment} />
          ))}
          <p className="text-xs text-ink-3">
            Requests of process {processId} only, refreshed every {refreshMs / 1000} seconds.
          </p>
        </>
      )}
    </Page>
  );
}
