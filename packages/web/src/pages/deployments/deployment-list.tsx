import type { DeploymentStatus } from "@presage/sdk";
import { Card } from "../../ui/card.tsx";
import { Cell, HeaderCell, RowHeader, Table } from "../../ui/table.tsx";
import { DefaultBadge, StateBadge } from "./deployment-card.tsx";

/** For accounts that do not see replicas. */
export function DeploymentList({ deployments }: { deployments: readonly DeploymentStatus[] }) {
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
