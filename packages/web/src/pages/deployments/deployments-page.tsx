import type { DeploymentStatus } from "@presage/sdk";
import { useQuery } from "@tanstack/react-query";
import { createLazyRoute } from "@tanstack/react-router";
import { usePresage } from "../../data/client.ts";
import { deploymentsQuery } from "../../data/predictions.ts";
import { formatShare } from "../../format/numbers.ts";
import { Badge } from "../../ui/badge.tsx";
import { Card } from "../../ui/card.tsx";
import { ErrorNotice } from "../../ui/notice.tsx";
import { Page } from "../../ui/page.tsx";
import { SkeletonRows } from "../../ui/skeleton.tsx";
import { Cell, HeaderCell, RowHeader, Table } from "../../ui/table.tsx";
import { ReplicaTable } from "./replica-table.tsx";

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

function DeploymentCard({ deployment }: { deployment: DeploymentStatus }) {
  const { name, model, is_default, state, error_rate, replicas = [] } = deployment;
  const up = replicas.filter(({ state }) => state === "up").length;
  return (
    <Card
      title={
        <span className="flex flex-wrap items-center gap-2">
          <span className="wrap-anywhere">{name}</span>
          {is_default && <DefaultBadge />}
        </span>
      }
      hint={<span className="wrap-anywhere">{hintOf(name, model)}</span>}
      actions={<StateBadge state={state} error_rate={error_rate} up={`${up} of ${replicas.length} up`} />}
    >
      <ReplicaTable deployment={name} replicas={replicas} />
    </Card>
  );
}

function hintOf(name: string, model: string | null): string {
  if (name === "sandbox")
    return "The built-in sandbox, a rule-based simulator and not a language model. Set PRESAGE_UPSTREAM_URL to use one.";
  return model === null ? "Its model is not known yet: nothing was asked so far." : `Model ${model}`;
}

/** For accounts that do not see replicas. */
function DeploymentList({ deployments }: { deployments: readonly DeploymentStatus[] }) {
  return (
    <>
      <Card>
        <Table label="Deployments">
          <thead>
            <tr className="border-b border-line">
              <HeaderCell>Deployment</HeaderCell>
              <HeaderCell>Model</HeaderCell>
              <HeaderCell>State</HeaderCell>
            </tr>
          </thead>
          <tbody>
            {deployments.map(({ name, model, is_default, ...health }) => (
              <tr key={name} className="h-11 border-b border-line last:border-b-0">
                <RowHeader>
                  <span className="flex flex-wrap items-center gap-2 font-medium">
                    <span className="wrap-anywhere">{name}</span>
                    {is_default && <DefaultBadge />}
                  </span>
                </RowHeader>
                <Cell className="text-ink-2 wrap-anywhere">{model ?? "Not asked yet"}</Cell>
                <Cell>
                  <StateBadge {...health} />
                </Cell>
              </tr>
            ))}
          </tbody>
        </Table>
      </Card>
      <p className="text-xs text-ink-3">
        Replicas and their state are shown to the account that runs this server.
      </p>
    </>
  );
}

const states = {
  up: { tone: "pass", label: "Up" },
  degraded: { tone: "warn", label: "Degraded" },
  out: { tone: "fail", label: "Out" },
} as const;

type Health = Pick<DeploymentStatus, "state" | "error_rate">;

function StateBadge({ state, error_rate, up }: Health & { up?: string }) {
  const { tone, label } = states[state];
  const errors = error_rate ? `${formatShare(error_rate)} errors` : undefined;
  const said = [state === "up" && up !== undefined ? undefined : label, up, errors];
  return <Badge tone={tone}>{said.filter((text) => text !== undefined).join(", ")}</Badge>;
}

function DefaultBadge() {
  return <Badge tone="accent">Default</Badge>;
}
