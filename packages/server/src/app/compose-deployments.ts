import type { KeyDigest } from "../accounts/verify-api-key.ts";
import { type Config, ConfigError } from "../config/config.ts";
import { parseDeployments, parsePrices, readSettingsFile } from "../config/files.ts";
import { createAdmission } from "../platform/limits/admission.ts";
import type { ByteBudget } from "../platform/limits/memory.ts";
import {
  countProcesses,
  createSharedTokenBuckets,
  createTokenBuckets,
  type TakeTokens,
} from "../platform/limits/token-buckets.ts";
import type { Logger } from "../platform/observability/logger.ts";
import { type Metrics, watchProcesses } from "../platform/observability/metrics.ts";
import type { FindRefusal, PriceList, Prices } from "../platform/prices.ts";
import type { Redis } from "../platform/redis.ts";
import { defined } from "../platform/words.ts";
import type { CompletionCache } from "../upstream/cache.ts";
import { createUpstream, type Upstream } from "../upstream/create-upstream.ts";
import {
  type CountUnreachable,
  createDeployments,
  type DeploymentSettings,
  type Deployments,
  type NamedDeploymentSettings,
  watchOutages,
} from "../upstream/deployments.ts";
import { replicaAddress } from "../upstream/replicas.ts";
import { shareOf } from "./workers.ts";

interface DeploymentsOptions {
  memory?: ByteBudget;
  /** Absent: no completions are cached. */
  completions?: CompletionCache;
  countUnreachable?: CountUnreachable;
  findRefusal?: FindRefusal;
}

/** The deployments of the file, or else the configured upstream, or else the sandbox. */
export async function composeDeployments(
  config: Config,
  logger: Pick<Logger, "info" | "warn" | "error">,
  { memory, completions, countUnreachable: count, findRefusal }: DeploymentsOptions = {},
) {
  const { retries, keepAlive, client } = config.upstream;
  const sandbox = needsSandbox(config) ? (await import("@presage/sandbox")).startSandbox() : undefined;
  if (sandbox !== undefined) logger.warn("PRESAGE_UPSTREAM_URL is not set: the built-in sandbox predicts");

  function openUpstream({ fallback, cache: policy, ...settings }: NamedDeploymentSettings): Upstream {
    const upstream = createUpstream({
      ...defined(settings),
      apiKey: settings.apiKey,
      model: settings.model,
      retries,
      keepAlive,
      client,
      hasFallback: fallback !== undefined,
      findRefusal,
      ...defined({ memory, cache: completions && { policy, completions } }),
      onReplicaChange: (url, state, why) => {
        const about = { deployment: settings.name, replica: replicaAddress(url), ...why };
        if (state === "ejected") logger.warn(about, "a replica fails and is ejected");
        else if (state === "up") logger.info(about, "a replica is back");
      },
    });
    const deployment = config.deployments === undefined ? undefined : settings.name;
    return watchOutages(upstream, { logger, deployment, count });
  }
  const deployments = createDeployments(
    sandbox === undefined
      ? await readDeploymentSettings(config)
      : settingsOf(
          { name: "sandbox", isSandbox: true, urls: [sandbox.url], apiKey: undefined, model: undefined },
          config,
        ),
    openUpstream,
  );

  const reread = () =>
    readAgain(logger, "deployments", async () => {
      deployments.replace(await readDeploymentSettings(config));
      return { deployments: deployments.all().map(({ name }) => name) };
    });

  return { deployments, reread, stopSandbox: async () => await sandbox?.stop() };
}

/** Reads a file of settings again, and logs its contents. A file with an issue changes nothing and is logged. */
export async function readAgain(
  logger: Pick<Logger, "info" | "error">,
  what: string,
  read: () => Promise<object>,
): Promise<void> {
  try {
    logger.info(await read(), `read the ${what} again`);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    logger.error({ issues: error.message.split("\n") }, `the ${what} are not valid and stay as they were`);
  }
}

/** Whether the sandbox answers, which cannot be a model for judges. */
export function needsSandbox({ deployments, upstream }: Config): boolean {
  return deployments === undefined && upstream.urls === undefined;
}

export async function readDeploymentSettings(config: Config): Promise<DeploymentSettings> {
  const { upstream, deployments } = config;
  if (deployments === undefined) {
    const { apiKey, model, urls = [] } = upstream;
    return settingsOf({ name: "default", urls, apiKey, model }, config);
  }
  const { path, environment } = deployments;
  const text = await readSettingsFile("PRESAGE_DEPLOYMENTS", path);
  const settings = parseDeployments(path, text, { raw: environment, timeoutMs: upstream.timeoutMs });
  return { ...settings, deployments: settings.deployments.map((each) => shareOfReplicas(each, config)) };
}

/** A server's workers share each replica's limit of requests in flight. */
function shareOfReplicas(
  { maxInFlightPerReplica: limit, ...settings }: NamedDeploymentSettings,
  { workers }: Config,
): NamedDeploymentSettings {
  return { ...settings, maxInFlightPerReplica: limit === undefined ? undefined : shareOf(limit, workers) };
}

/** The settings of one deployment that no file describes. */
function settingsOf(
  named: Pick<NamedDeploymentSettings, "name" | "isSandbox" | "urls" | "apiKey" | "model">,
  { upstream, cache }: Config,
): DeploymentSettings {
  // The sandbox has no chat template; anything that looks like control tokens was in its input.
  const controlTokens = named.isSandbox ? ("accept" as const) : ("fail" as const);
  const rest = { timeoutMs: upstream.timeoutMs, firstByteTimeoutMs: 0, maxInFlightPerReplica: undefined };
  const one = { ...named, ...rest, fallback: undefined, cache: cache.policy, controlTokens };
  return { defaultName: named.name, deployments: [one] };
}

export interface ComposedPrices extends PriceList {
  /** Reads the file again. A file with an issue changes nothing and is logged. */
  reread(): Promise<void>;
}

/** The models used unless a request names another, as far as they are known. */
export function servedModels({ judge }: Config, deployments: Deployments): string[] {
  const served = deployments.all().flatMap(({ upstream }) => upstream.model() ?? []);
  return [...new Set(judge.model === undefined ? served : [...served, judge.model])];
}

/** The price list of the file, if one is configured. */
export async function composePrices(
  { pricesPath: path }: Pick<Config, "pricesPath">,
  logger: Pick<Logger, "info" | "error">,
): Promise<ComposedPrices> {
  if (path === undefined) return { current: () => undefined, async reread() {} };
  let prices = await readPrices(path);
  return {
    current: () => prices,
    reread: () =>
      readAgain(logger, "prices", async () => {
        prices = await readPrices(path);
        return { models: prices.models.size };
      }),
  };
}

async function readPrices(path: string): Promise<Prices> {
  return parsePrices(path, await readSettingsFile("PRESAGE_PRICES", path));
}

interface LimitServices {
  /** Absent: each process counts for itself. */
  redis: Redis | undefined;
  keyDigest: KeyDigest;
  metrics: Metrics;
}

/** The limits on who may make how many requests. */
export function composeLimits(config: Config, services: LimitServices) {
  const { takeTokens, stop } = composeBuckets(config, services);
  const { prediction, evaluation, workers } = config;
  const ofWorker = { shareOf: (limit: number) => shareOf(limit, workers) };
  const predictions = createAdmission(
    { what: "prediction", maxInFlightEach: prediction.maxInFlight, ...prediction, ...ofWorker },
    takeTokens,
  );
  const { maxInFlight } = prediction;
  return {
    predictions,
    /** The places that runs and replays share. */
    placesBehindLive: { liveInFlight: predictions.inFlight, calls: { inFlight: 0 }, maxInFlight },
    evaluations: createAdmission(
      { what: "evaluation", ratePerMinute: 0, userRatePerMinute: 0, ...evaluation, ...ofWorker },
      takeTokens,
    ),
    stop,
  };
}

function composeBuckets(
  { workers }: Config,
  { redis, keyDigest, metrics }: LimitServices,
): { takeTokens: TakeTokens; stop(): Promise<void> } {
  const own = createTokenBuckets();
  if (redis === undefined) {
    return { takeTokens: (buckets) => own.take(buckets, 1 / workers.count), stop: async () => {} };
  }
  // Processes that share a database share limits; processes on other databases may use the same Redis.
  const prefix = `presage:${keyDigest("limits in Redis").slice(0, 16)}:`;
  const seen = countProcesses(redis, `${prefix}processes`);
  watchProcesses(metrics.registry, seen.count);
  const takeTokens = createSharedTokenBuckets({
    redis,
    prefix: `${prefix}rate:`,
    own,
    // Workers know of each other, even if none has reached Redis yet.
    processes: () => Math.max(seen.count(), workers.count),
    count: (decidedBy) => metrics.rateChecks([decidedBy]),
  });
  return { takeTokens, stop: seen.stop };
}
