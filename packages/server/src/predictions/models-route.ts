import {
  DeploymentListResponse,
  type DeploymentStatus,
  Model,
  ModelListResponse,
  ModelPath,
  type ReplicaStatus,
  readWorldReference,
} from "@presage/contract";
import { z } from "zod";
import { type CallWithCaller, requestAddress } from "../http/call.ts";
import type { Caller } from "../http/caller.ts";
import { errorResponse, response, unauthorized } from "../http/describe.ts";
import { reserveResponse } from "../http/memory.ts";
import { reply, route } from "../http/route.ts";
import { ServiceError } from "../platform/errors.ts";
import type { Requester, Store } from "../platform/storage/store.ts";
import { isStoreUnavailable } from "../platform/storage/store-error.ts";
import type { Deployment, Deployments } from "../upstream/deployments.ts";
import type { Replica } from "../upstream/replica.ts";
import { replicaAddress } from "../upstream/replicas.ts";
import type { ListedModel } from "../upstream/upstream.ts";
import type { KnownWorlds } from "../worlds/find-world.ts";
import { selectListedNames } from "../worlds/worlds-store.ts";
import examples from "./examples.json" with { type: "json" };
import { rateLimit, timeout, upstreamFailed, upstreamUnavailable } from "./predictions-openapi.ts";

const listDeployments = route("GET", "/v1/deployments", {
  needs: "read",
  id: "listDeployments",
  summary: "List the deployments and their replicas",
  description:
    "Lists the models behind this server and, for the account `default`, the state of each replica as the answering process sees it.",
  responses: {
    "200": response("The deployments", DeploymentListResponse, examples.deployments),
  },
  async handle(
    { deployments, isOperator }: { deployments: Deployments; isOperator(caller: Caller): Promise<boolean> },
    { call },
  ) {
    const showsReplicas = await isOperator(call.caller);
    const byDefault = deployments.getDefault();
    const data = deployments.all().map(
      (deployment): DeploymentStatus => ({
        ...toStatus(deployment, deployment === byDefault),
        ...(showsReplicas && { replicas: deployment.upstream.replicas.all.map(toReplicaStatus) }),
      }),
    );
    return reply(200, { data });
  },
});

/** Fewer calls than this may all have failed by bad luck. */
const callsToTell = 3;
const degradedFromErrorRate = 0.05;

function toStatus({ name, upstream }: Deployment, isDefault: boolean): DeploymentStatus {
  const { all } = upstream.replicas;
  const recent = all.map((replica) => replica.recent.read());
  const calls = recent.reduce((sum, one) => sum + one.calls, 0);
  const failed = recent.reduce((sum, one) => sum + one.failed, 0);
  const out = all.filter(isFailing).length;
  const isOut = out === all.length || haveAllFailed({ calls, failed });
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

function haveAllFailed({ calls, failed }: ReturnType<Replica["recent"]["read"]>): boolean {
  return failed === calls && calls >= callsToTell;
}

/** The only replica of a deployment is never ejected, so its state alone does not show that it is failing. */
function isFailing({ health, recent }: Replica): boolean {
  return health.state() === "ejected" || health.isFailing() || haveAllFailed(recent.read());
}

function toReplicaStatus(replica: Replica): ReplicaStatus {
  const { health, lastFailure, requests, prefixRequests } = replica;
  return {
    url: replicaAddress(replica.url),
    state: health.state(),
    is_failing: isFailing(replica),
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

const modelFailures = {
  ...unauthorized,
  "413": errorResponse(
    "The upstream answered 413 (context_exceeded)",
    "The input exceeds the upstream model's context length.",
    { upstream_status: 413, upstream_body: "", category: "context_exceeded" },
  ),
  "429": { ...rateLimit, description: "The upstream's rate limit was reached (rate_limit)" },
  "502": { ...upstreamFailed, description: "The upstream failed (upstream)" },
  "503": { ...upstreamUnavailable, description: "The upstream is temporarily unavailable (unavailable)" },
  "504": timeout,
};

const listPath = "/v1/models";
const mostWorlds = 1_000;

interface ModelServices {
  store: Store;
  deployments: Deployments;
  knownWorlds: KnownWorlds;
}

const listModels = route("GET", listPath, {
  needs: "nothing",
  id: "listModels",
  summary: "List the upstream's models",
  description:
    "Lists the models that the upstream serves, as OpenAI's clients expect it. With a file of deployments, these come first, followed by the default one's models. The account's worlds come last.",
  responses: {
    "200": response(
      "The upstream's list, unchanged where there is one deployment and no world",
      ModelListResponse.or(
        z.looseObject({ data: z.array(z.unknown()).meta({ description: "The models." }) }),
      ),
      { object: "list", data: [examples.model] },
    ),
    ...modelFailures,
  },
  hasOwnFailures: true,
  async handle(services: ModelServices & { settings: { listsDeployments: boolean } }, { call, requester }) {
    const { deployments, settings, store } = services;
    const named = settings.listsDeployments ? modelsOf(deployments) : [];
    const { bytes, models } = await listUpstream(deployments, call);
    const worlds = (await worldNames(store, requester)).map(toModel);
    if (named.length + worlds.length === 0)
      return new Response(bytes, { headers: { "content-type": "application/json" } });
    const names = new Set([...named, ...worlds].map(({ id }) => id));
    // Clients take the first model for the one that is served.
    const data = [...named, ...models.filter(({ id }) => !names.has(id)), ...worlds];
    return Response.json({ object: "list", data });
  },
});

const getModel = route("GET", `${listPath}/*`, {
  // Not `:id`: the slashes of an id such as `org/model` are encoded by some clients and not by others.
  describedPath: `${listPath}/{id}`,
  needs: "nothing",
  id: "getModel",
  summary: "Get one of the upstream's models",
  description: "Shows one of the models in `GET /v1/models`, as OpenAI's clients expect it.",
  more: { requestParams: { path: ModelPath } },
  responses: {
    "200": response("The model, as the upstream lists it", Model, examples.model),
    ...modelFailures,
    "404": errorResponse("The upstream lists no model with this id", "The upstream lists no such model."),
  },
  hasOwnFailures: true,
  async handle({ deployments, knownWorlds }: ModelServices, { call, requester }) {
    const id = decoded(requestAddress(call.request).pathname.slice(listPath.length + 1));
    const isNamed = (listed: ListedModel) => listed.id === id;
    const reference = readWorldReference(id);
    const findWorld = async () =>
      reference && (await knownWorlds.find(requester, reference).catch(listedAnyway)) && toModel(id);
    const model =
      modelsOf(deployments).find(isNamed) ??
      (await findWorld()) ??
      (await listUpstream(deployments, call)).models.find(isNamed);
    if (model === undefined) throw new ServiceError("not_found", "The upstream lists no such model.");
    return Response.json(model);
  },
});

export const modelRoutes = [listDeployments, listModels, getModel];

/** Deployments as models that requests may name. */
function modelsOf(deployments: Deployments): ListedModel[] {
  return deployments.all().map(({ name }) => toModel(name));
}

/** The names of worlds; none while the store is away, because clients list models to see whether the server answers. */
async function worldNames(store: Store, requester: Requester): Promise<string[]> {
  const page = { limit: mostWorlds, after: undefined };
  try {
    return await selectListedNames(store.briefReader(requester), requester.accountId, page);
  } catch (error) {
    if (isStoreUnavailable(error)) return [];
    throw error;
  }
}

/** The list has worlds whose examples are gone, too. */
function listedAnyway(error: unknown): true {
  if (error instanceof ServiceError && error.code === "examples_gone") return true;
  throw error;
}

function toModel(id: string): ListedModel {
  return { id, object: "model", created: 0, owned_by: "presage" };
}

async function listUpstream(deployments: Deployments, { request, exchange }: CallWithCaller) {
  const list = await deployments.getDefault().upstream.listModels(request.signal);
  reserveResponse(exchange, list.bytes.length);
  return list;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
