import { UpstreamError } from "../platform/errors.ts";
import { type Logger, watchOutage } from "../platform/observability/logger.ts";
import { defined } from "../platform/words.ts";
import type { Upstream } from "./create-upstream.ts";
import { isUnserved, type UnreachableReason } from "./failures.ts";
import { NoReplicaError } from "./replicas.ts";
import { NoResponseError } from "./send.ts";
import type { CachePolicy, CompletionRequest, ModelList, Purpose, UpstreamCompletion } from "./upstream.ts";

/** Models and where they are served. */
export interface DeploymentSettings {
  /** The deployment for requests that name none. */
  defaultName: string;
  deployments: readonly NamedDeploymentSettings[];
}

export interface NamedDeploymentSettings {
  name: string;
  /** False if absent. */
  isSandbox?: boolean;
  /** The base URL of each replica. */
  urls: readonly string[];
  apiKey: string | undefined;
  model: string | undefined;
  timeoutMs: number;
  firstByteTimeoutMs: number;
  maxInFlightPerReplica: number | undefined;
  /** The deployment that is asked when none of the replicas can be. */
  fallback: string | undefined;
  /** Which completions are cached. */
  cache: CachePolicy;
  controlTokens: ControlTokens;
}

/** How to treat an answer with control tokens of a chat template that would be fed back to the model: as a failure or as text. */
export const controlTokenRules = ["fail", "accept"] as const;
type ControlTokens = (typeof controlTokenRules)[number];

export interface Deployment {
  readonly name: string;
  readonly upstream: Upstream;
  readonly controlTokens: ControlTokens;
  readonly isSandbox: boolean;
  /** The time limit of one call, retries included. */
  readonly timeoutMs: number;
}

/** The deployments that this server stands in front of. They can be replaced while calls are under way, which end on the old ones. */
export type Deployments = ReturnType<typeof createDeployments>;

export function createDeployments(
  settings: DeploymentSettings,
  openUpstream: (settings: NamedDeploymentSettings) => Upstream,
) {
  let current = new Map<string, { deployment: Deployment; digest: string }>();
  let byDefault: Deployment;
  let areCached = false;
  let revision = 0;

  const find = (name: string) => current.get(name)?.deployment;

  function open(one: NamedDeploymentSettings): Deployment {
    const upstream = openUpstream(one);
    const { name, isSandbox = false, fallback, controlTokens, timeoutMs } = one;
    return {
      name,
      isSandbox,
      timeoutMs,
      controlTokens,
      upstream: fallback === undefined ? upstream : withFallback(upstream, () => find(fallback)?.upstream),
    };
  }

  function replace(next: DeploymentSettings): void {
    const replaced = next.deployments.map((one) => {
      const digest = JSON.stringify(one);
      const known = current.get(one.name);
      return known?.digest === digest ? known : { deployment: open(one), digest };
    });
    current = new Map(replaced.map((one) => [one.deployment.name, one]));
    const named = find(next.defaultName);
    if (named === undefined) throw new Error(`There is no deployment ${next.defaultName}.`);
    byDefault = named;
    revision += 1;
    areCached = next.deployments.some(({ cache }) => cache !== "off");
  }

  replace(settings);
  return {
    getDefault: (): Deployment => byDefault,
    find,
    /** In the order of the file. */
    all: (): readonly Deployment[] => [...current.values()].map(({ deployment }) => deployment),
    /** Whether any of them caches completions. */
    areCached: () => areCached,
    /** Grows when they are replaced, because the same request may then be for another deployment. */
    revision: () => revision,
    /** Replaces the settings. Unchanged deployments keep what is known about their replicas. */
    replace,
  };
}

/** The error of a call to a deployment that the file no longer declares. */
export function noDeployment(name: string | undefined): UpstreamError {
  return new UpstreamError("unavailable", `There is no deployment named ${JSON.stringify(name)} now.`);
}

/** Asks another deployment, for its own model, once no replica can be asked. A time-out is never tried again. */
function withFallback(upstream: Upstream, findFallback: () => Upstream | undefined): Upstream {
  return {
    ...upstream,
    complete: (request, clientSignal, options) =>
      upstream.complete(request, clientSignal, options).catch((error: unknown) => {
        // Until the model is known, the upstream has been asked nothing else.
        const isOut = upstream.model() === undefined || !upstream.replicas.canServe();
        const mayFallBack = isOut && isUnserved(error) && !hasBegun(error);
        const fallback = mayFallBack ? findFallback() : undefined;
        if (fallback === undefined) throw error;
        const { model: _, ...rest } = request;
        return fallback.complete(rest satisfies CompletionRequest, clientSignal, options);
      }),
  };
}

/** Whether a replica kept the call until it timed out, or had begun its answer. */
function hasBegun(error: UpstreamError): boolean {
  if (error.category === "timeout") return true;
  return error.status === undefined && !(error instanceof NoResponseError || error instanceof NoReplicaError);
}

/** Counts a call for which an upstream could not be reached. */
export type CountUnreachable = (upstream: Purpose, reason: UnreachableReason) => void;

interface OutageObservers {
  logger: Pick<Logger, "warn">;
  /** The deployment's name, where there may be several. */
  deployment?: string | undefined;
  count?: CountUnreachable | undefined;
}

/**
 * The same upstream, but its outages are logged: why it cannot be reached, each reason once per outage, and when it is back.
 * Clients are not told the reason, which is about our network and not about their request.
 */
export function watchOutages(
  { complete, listModels, ...rest }: Upstream,
  { logger, deployment, count }: OutageObservers,
): Upstream {
  function createWatch(upstream: Purpose) {
    const outage = watchOutage(logger, {
      begins: "the upstream cannot be reached",
      ends: "the upstream answers again",
      fields: defined({ upstream, deployment }),
    });

    function recordFailure(error: unknown): void {
      if (error instanceof NoResponseError) {
        const { reason, code } = error;
        count?.(upstream, reason);
        outage.failed(reason, () => ({ reason, code }));
      }
      // It responded, though with an error.
      else if (error instanceof UpstreamError && error.status !== undefined) outage.responded();
    }

    function recordResponse(answer: UpstreamCompletion | ModelList): void {
      // A cached completion says nothing about the upstream.
      if (!("cache" in answer) || answer.cache?.result !== "hit") outage.responded();
    }

    // Attached to the call rather than wrapped around it, because thousands wait at the same time.
    return <Answer extends UpstreamCompletion | ModelList>(call: Promise<Answer>): Promise<Answer> => {
      call.then(recordResponse, recordFailure);
      return call;
    };
  }

  const watch = { predictions: createWatch("predictions"), judges: createWatch("judges") };
  return {
    ...rest,
    complete: (request, clientSignal, options) =>
      watch[options?.purpose ?? "predictions"](complete(request, clientSignal, options)),
    listModels: (clientSignal) => watch.predictions(listModels(clientSignal)),
  };
}
