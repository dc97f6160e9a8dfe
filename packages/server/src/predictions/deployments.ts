import type { DeploymentListResponse, DeploymentStatus, ReplicaStatus } from "@presage/contract";
import { isOperator } from "../accounts/is-operator.ts";
import type { Services } from "../app/services.ts";
import { type Route, withCaller } from "../http/route.ts";
import type { Deployment } from "../upstream/deployments.ts";
import { replicaAddress, type Replica } from "../upstream/replicas.ts";

/** Fewer calls may all have failed by bad luck. */
const callsToTell = 3;
const degradedFromErrorRate = 0.05;

export function deploymentRoutes({ deployments, store }: Services): Route[] {
  return [
    withCaller("GET", "/v1/deployments", "read", async ({ caller }) => {
      const showsReplicas = await isOperator(store.database, caller);
      const byDefault = deployments.getDefault();
      const data = deployments.all().map(
        (deployment): DeploymentStatus => ({
          ...toStatus(deployment, deployment === byDefault),
          ...(showsReplicas && { replicas: deployment.upstream.replicas.all.map(toReplicaStatus) }),
        }),
      );
      return Response.json({ data } satisfies DeploymentListResponse);
    }),
  ];
}

function toStatus({ name, upstream }: Deployment, isDefault: boolean): DeploymentStatus {
  const { all } = upstream.replicas;
  const recent = all.map((replica) => replica.recent.read());
  const calls = recent.reduce((sum, one) => sum + one.calls, 0);
  const failed = recent.reduce((sum, one) => sum + one.failed, 0);
  const out = all.filter(({ health }) => health.state() === "ejected" || health.isFailing()).length;
  const isOut = out === all.length || (failed === calls && calls >= callsToTell);
  const isDegraded = out > 0 || (failed > 0 && failed >= calls * degradedFromErrorRate);
  return {
    name,
    model: upstream.model() ?? null,
    is_default: isDefault,
    state: isOut ? "out" : isDegraded ? "degraded" : "up",
    error_rate: calls === 0 ? null : failed / calls,
    process_id: process.pid,
  };
}

function toReplicaStatus(replica: Replica): ReplicaStatus {
  const { health, lastFailure, requests, prefixRequests } = replica;
  return {
    url: replicaAddress(replica.url),
    state: health.state(),
    in_flight: replica.inFlight,
    limit: Number.isFinite(replica.limit) ? replica.limit : null,
    ejections: health.ejections(),
    last_failure:
      lastFailure === undefined ? null : { at: lastFailure.at.toISOString(), category: lastFailure.category },
    recent: replica.recent.read(),
    latency_ms: replica.latency.percentiles() ?? null,
    prefix_share: requests === 0 ? null : prefixRequests / requests,
  };
}
