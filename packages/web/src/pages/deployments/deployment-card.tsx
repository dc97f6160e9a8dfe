import type { DeploymentStatus } from "@presage/sdk";
import { formatShare } from "../../format/format-number.ts";
import { Badge } from "../../ui/badge.tsx";
import { Card } from "../../ui/card.tsx";
import { ReplicaTable } from "./replica-table.tsx";

export function DeploymentCard({ deployment }: { deployment: DeploymentStatus }) {
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

const states = {
  up: { tone: "pass", label: "Up" },
  degraded: { tone: "warn", label: "Degraded" },
  out: { tone: "fail", label: "Out" },
} as const;

type Health = Pick<DeploymentStatus, "state" | "error_rate">;

export function StateBadge({ state, error_rate, up }: Health & { up?: string }) {
  const { tone, label } = states[state];
  const errors = error_rate ? `${formatShare(error_rate)} errors` : undefined;
  const said = [state === "up" && up !== undefined ? undefined : label, up, errors];
  return <Badge tone={tone}>{said.filter((text) => text !== undefined).join(", ")}</Badge>;
}

export function DefaultBadge() {
  return <Badge tone="accent">Default</Badge>;
}

function hintOf(name: string, model: string | null): string {
  if (name === "sandbox")
    return "The built-in sandbox, a rule-based simulator and not a language model. Set PRESAGE_UPSTREAM_URL to use one.";
  return model === null ? "Its model is not known yet: nothing was asked so far." : `Model ${model}`;
}
