import type { DeploymentStatus } from "@presage/sdk";
import { Badge } from "../../ui/badge.tsx";
import { Card } from "../../ui/card.tsx";
import { ReplicaTable } from "./replica-table.tsx";

export function DeploymentCard({ deployment }: { deployment: DeploymentStatus }) {
  const { name, model, is_default, replicas = [] } = deployment;
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
      actions={
        <Badge tone={up === replicas.length ? "pass" : up === 0 ? "fail" : "warn"}>
          {up} of {replicas.length} up
        </Badge>
      }
    >
      <ReplicaTable deployment={name} replicas={replicas} />
    </Card>
  );
}

export function DefaultBadge() {
  return <Badge tone="accent">Default</Badge>;
}

function hintOf(name: string, model: string | null): string {
  if (name === "sandbox")
    return "The built-in sandbox, a rule-based simulator and not a language model. Set PRESAGE_UPSTREAM_URL to use one.";
  return model === null ? "Its model is not known yet: nothing was asked so far." : `Model ${model}`;
}
