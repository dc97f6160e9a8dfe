import { DeploymentListResponse, type DeploymentStatus, type ReplicaStatus } from "@presage/contract";
import type { ZodOpenApiPathsObject } from "zod-openapi";
import { isOperator } from "../accounts/users.ts";
import type { Services } from "../app/services.ts";
import { type CallWithCaller, requestAddress } from "../http/call.ts";
import { operation, response } from "../http/describe.ts";
import { reserveResponse } from "../http/memory.ts";
import { type Route, withCaller } from "../http/route.ts";
import { ServiceError } from "../platform/errors.ts";
import type { Deployment } from "../upstream/deployments.ts";
import { type Replica, replicaAddress } from "../upstream/replicas.ts";
import type { ListedModel } from "../upstream/upstream.ts";

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

export const deploymentPaths: ZodOpenApiPathsObject = {
  "/v1/deployments": {
    get: operation("listDeployments", "prediction", "List the deployments and their replicas", {
      description:
        "Lists the models behind this server and, for the account `default`, the state of each replica as the answering process sees it.",
      responses: {
        "200": response("The deployments", DeploymentListResponse, {
          data: [
            {
              name: "default",
              model: "Qwen/Qwen3-8B-wm",
              is_default: true,
              state: "up",
              error_rate: 0.0201,
              process_id: 4021,
              replicas: [
                {
                  url: "http://10.0.0.1:30000/v1",
                  state: "up",
                  in_flight: 61,
                  limit: null,
                  ejections: 1,
                  last_failure: { at: "2026-01-31T12:00:00.000Z", category: "unavailable" },
                  recent: { calls: 1_840, failed: 37 },
                  latency_ms: { p50: 212.4, p99: 941.7 },
                  prefix_share: 0.97,
                },
              ],
            },
          ],
        }),
      },
    }),
  },
};

const listPath = "/v1/models";

export function modelRoutes({ deployments, settings }: Services): Route[] {
  /** As models that requests may name. */
  function listDeployments(): ListedModel[] {
    return deployments
      .all()
      .map(({ name }) => ({ id: name, object: "model", created: 0, owned_by: "presage" }));
  }

  async function listUpstream({ request, exchange }: CallWithCaller) {
    const list = await deployments.getDefault().upstream.listModels(request.signal);
    reserveResponse(exchange, list.bytes.length);
    return list;
  }

  return [
    withCaller("GET", listPath, "nothing", async (call) => {
      const own = settings.listsDeployments ? listDeployments() : [];
      const { bytes, models } = await listUpstream(call);
      if (own.length === 0) return new Response(bytes, { headers: { "content-type": "application/json" } });
      const names = new Set(own.map(({ id }) => id));
      return Response.json({ object: "list", data: [...own, ...models.filter(({ id }) => !names.has(id))] });
    }),
    // Not `:id`: the slashes of an id such as `org/model` are encoded by some clients and not by others.
    withCaller("GET", `${listPath}/*`, "nothing", async (call) => {
      const id = decoded(requestAddress(call.request).pathname.slice(listPath.length + 1));
      const isNamed = (listed: ListedModel) => listed.id === id;
      const model = listDeployments().find(isNamed) ?? (await listUpstream(call)).models.find(isNamed);
      if (model === undefined) throw new ServiceError("not_found", "The upstream lists no such model.");
      return Response.json(model);
    }),
  ];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
