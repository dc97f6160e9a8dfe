import type { OpenSockets } from "../http/sockets.ts";
import type { ByteBudget } from "../platform/limits/memory.ts";
import { type Metrics, type ReplicaFigures, watchCounts, watchReplicas } from "../platform/observability/metrics.ts";
import type { Capture } from "../predictions/capture.ts";
import type { CompletionCache } from "../upstream/cache.ts";
import type { Deployment } from "../upstream/deployments.ts";
import { replicaAddress } from "../upstream/replicas.ts";
import type { ComposedEvaluation } from "./compose-evaluation.ts";
import type { ComposedLimits } from "./compose-limits.ts";
import type { Services } from "./services.ts";

interface Watched {
  deployments: Services["deployments"];
  limits: ComposedLimits;
  sockets: OpenSockets;
  judgeCalls: ComposedEvaluation["judgeCalls"];
  memory: ByteBudget;
  capture: Pick<Capture, "heldBytes">;
  completions: Pick<CompletionCache, "bytes">;
}

/** Metrics that are read when `/metrics` is requested. */
export function watchFigures(
  { registry }: Pick<Metrics, "registry">,
  { deployments, limits, sockets, judgeCalls, memory, capture, completions }: Watched,
): void {
  watchReplicas(registry, () => deployments.all().flatMap(replicaFigures));
  watchCounts(registry, {
    presage_predictions_in_flight: limits.predictions.inFlight,
    presage_evaluations_in_flight: limits.evaluations.inFlight,
    presage_openenv_sockets: sockets.count,
    presage_judge_calls_in_flight: () => judgeCalls?.inUse() ?? 0,
    presage_judge_calls_waiting: () => judgeCalls?.waiting() ?? 0,
    presage_memory_held_bytes: memory.reservedBytes,
    presage_memory_budget_bytes: () => memory.maxBytes,
    presage_capture_held_bytes: capture.heldBytes,
    presage_cache_bytes: completions.bytes,
  });
}

/** What the metrics say of a deployment's replicas. */
function replicaFigures({ name, upstream }: Deployment): ReplicaFigures[] {
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
