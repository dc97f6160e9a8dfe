import type { ReplicaFigures } from "../observability/metrics.ts";
import type { Deployment } from "../upstream/deployments/create-deployments.ts";
import { replicaAddress } from "../upstream/replicas/replica-address.ts";

/** What the metrics say of a deployment's replicas. */
export function replicaFigures({ name, upstream }: Deployment): ReplicaFigures[] {
  return upstream.replicas.all.map((replica) => {
    const averageMs = replica.latency.average()?.ms;
    return {
      deployment: name,
      replica: replicaAddress(replica.url),
      presage_replica_in_flight: replica.inFlight,
      presage_replica_up: replica.health.state() === "up" ? 1 : 0,
      presage_replica_ejections_total: replica.health.ejections(),
      presage_replica_requests_total: replica.requests,
      presage_replica_prefix_requests_total: replica.prefixRequests,
      presage_replica_latency_seconds: averageMs === undefined ? undefined : averageMs / 1000,
    };
  });
}
