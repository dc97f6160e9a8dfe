import { verifySession } from "../accounts/sessions.ts";
import { ensureOwner, isOperator } from "../accounts/users.ts";
import { createCommandLineAccess } from "../accounts/verify-api-key.ts";
import type { Config } from "../config/config.ts";
import { findEpisodePromptSource, readEpisodePrompt } from "../environments/episodes/episode-prompt.ts";
import { builtInProfileRevisions } from "../evaluators/profiles/profiles.ts";
import type { Phase } from "../http/exchange.ts";
import { browserAddress } from "../http/pages.ts";
import { createOpenSockets, type OpenSockets } from "../http/sockets.ts";
import { createByteBudget, quarterOfMemory } from "../platform/limits/memory.ts";
import { createLongWork } from "../platform/limits/turns.ts";
import type { Log } from "../platform/observability/logger.ts";
import { createMetrics, watchUp } from "../platform/observability/metrics.ts";
import { connectRedis } from "../platform/redis.ts";
import { forgetInstance, noteInstance, sharedSecret } from "../platform/storage/settings-store.ts";
import type { Store } from "../platform/storage/store.ts";
import type { FindPrompts } from "../predictions/stored-predictions.ts";
import { readRealityLines } from "../reality/check-run.ts";
import { watchClocks } from "../results/times.ts";
import { createRunStreams } from "../runs/run-events.ts";
import { findRunPrompt } from "../runs/runner/stored-prompt.ts";
import { createCompletionCache } from "../upstream/cache.ts";
import type { CountUnreachable } from "../upstream/deployments.ts";
import { createWorldParts } from "../worlds/world-parts.ts";
import { composeFirstKey, composeKeyVerifier, composeSignIn, createSignInPath } from "./compose-accounts.ts";
import { composeDeployments, composeLimits, composePrices, servedModels } from "./compose-deployments.ts";
import { composeEnvironments, warnOfReservedNames } from "./compose-environments.ts";
import { composeDatasets, composeEvaluation } from "./compose-evaluation.ts";
import { composeRealEnvironments, composeReplays, composeWatch } from "./compose-reality.ts";
import { composeRuns, warnOfHiddenWorlds, worldUses } from "./compose-runs.ts";
import { composeTelemetry, composeUsage, countWorldAnswer, watchFigures } from "./compose-telemetry.ts";
import { composeCapture, composeRetention } from "./retention.ts";
import { type App, createApp } from "./routes.ts";
import type { EvaluationServices, Services } from "./services.ts";
import { logFailure, type OpenedStore, openStore } from "./storage.ts";
import type { SupervisorLink } from "./supervise.ts";
import type { WorkerStart } from "./workers.ts";

/** The body limit of requests without a prediction's texts or samples. */
const maxShortBodyBytes = 1024 * 1024;

export interface Presage {
  app: App;
  /** The address that browsers use. */
  publicUrl: string;
  setPhase(phase: Phase): void;
  /** The owner's first key, if this start created it. It is not stored. */
  firstKey: string | undefined;
  /** The one-time sign-in link of local mode. It is not stored. */
  signInAddress: string | undefined;
  /** Reads the files of deployments, prices and real environments again. */
  rereadFiles(): Promise<void>;
  /** Writes what is pending and releases all resources. */
  dispose(): Promise<void>;
}

/** Options that only a worker process has. */
export interface WorkerOptions extends Pick<WorkerStart, "instanceId"> {
  link: Pick<SupervisorLink, "readMetrics" | "forgetKey" | "answerWith">;
  /** Whether it replaces a worker that ended: it prints no sign-in link. */
  isReplacement: boolean;
}

type Base = Awaited<ReturnType<typeof composeBase>>;

/** The services that all features build on. */
async function composeBase(config: Config, log: Log, worker: WorkerOptions | undefined) {
  const { logger } = log;
  const { reread: rereadPrices, ...prices } = await composePrices(config, logger);
  const metrics = createMetrics();
  const memory = createByteBudget(config.memoryBudgetBytes ?? quarterOfMemory());
  const instanceId = worker?.instanceId ?? Bun.randomUUIDv7();
  const tracing = await composeTelemetry(config, logger, metrics, instanceId);
  const store = await openStore(config, log);
  const redis = config.redisUrl === undefined ? undefined : connectRedis(config.redisUrl, logger);
  watchUp(metrics.registry, "presage_database_up", log.isStoreUp);
  if (redis !== undefined) watchUp(metrics.registry, "presage_redis_up", redis.isUp);
  const limits = composeLimits(config, { redis, keyDigest: store.keyDigest, metrics });
  const usage = await composeUsage(config, log, store.database, prices);
  return {
    prices,
    rereadPrices,
    metrics,
    memory,
    instanceId,
    tracing,
    store,
    redis,
    limits,
    usage,
  };
}

/** Everything for sign-in and keys. */
async function composeAccess(
  config: Config,
  store: OpenedStore,
  address: string,
  worker: WorkerOptions | undefined,
) {
  const firstKey = await composeFirstKey(config, store);
  const publicUrl = config.listen.publicUrl ?? browserAddress(address);
  const composed = await composeSignIn(config, store, publicUrl);
  const offersSignIn = composed.signIn.kind === "local" && worker?.isReplacement !== true;
  const signInPath = offersSignIn ? await createSignInPath(store) : undefined;
  return {
    ...composed,
    firstKey,
    publicUrl,
    signInAddress: signInPath === undefined ? undefined : publicUrl + signInPath,
  };
}

/** The deployments, with the cache of their completions. */
async function composeUpstreams(config: Config, log: Log, { metrics, memory, store, redis, usage }: Base) {
  const countUnreachable: CountUnreachable = (of, reason) => metrics.upstreamUnreachable([of, reason]);
  const completions = createCompletionCache({
    ...config.cache,
    shared: redis && { redis, secret: await sharedSecret(store.database, "completion_names") },
  });
  const { findRefusal } = usage.spending;
  const options = { memory, completions, countUnreachable, findRefusal };
  return { completions, countUnreachable, ...(await composeDeployments(config, log.logger, options)) };
}

type Upstreams = Awaited<ReturnType<typeof composeUpstreams>>;

/** The work of the features apart from requests, and how it ends. */
async function composeFeatures(
  config: Config,
  log: Log,
  base: Base,
  { deployments, countUnreachable }: Pick<Upstreams, "deployments" | "countUnreachable">,
) {
  const { store, metrics, memory, limits, tracing, usage } = base;
  const { keyVerifier, stop: stopLastUses } = composeKeyVerifier(config, log, store, metrics);
  const {
    dispose: disposeEvaluation,
    judgeCalls,
    countTagsSoon,
    ...evaluation
  } = composeEvaluation(config, log, store, {
    deployments,
    memory,
    countUnreachable,
    findRefusal: usage.spending.findRefusal,
    recordJudgeCall: usage.recordCallsOf("judge"),
  });
  const { liveInFlight } = limits.placesBehindLive;
  const { dispose: disposeDatasets, ...datasets } = composeDatasets(config, log, store, liveInFlight);
  const capture = composeCapture(config, log, store, { memory, metrics });
  const worlds = createWorldParts(store, config, (answered) => countWorldAnswer(metrics, answered));
  const runs = composeRuns(config, log, store, {
    ...worlds,
    ...limits.placesBehindLive,
    deployments,
    recordCall: usage.recordCallsOf("run"),
    startSpan: tracing.startRun,
  });
  const { dispose: disposeRetention, ...deletions } = composeRetention(config, log, store, {
    metrics,
    onResultsDeleted() {
      evaluation.countsMerger.schedule();
      countTagsSoon();
    },
  });
  const sessionSecret = await sharedSecret(store.database, "ors_sessions");
  const { dispose: disposeEnvironments, ...environments } = composeEnvironments(
    config,
    log,
    store,
    sessionSecret,
  );
  const asked = { ...evaluation, ...environments, ...worlds, deployments };
  const reality = await composeReality(config, log, base, asked);
  return {
    keyVerifier,
    recordUsage: usage.record,
    judgeCalls,
    evaluation,
    datasets,
    capture,
    runs,
    deletions,
    environments,
    worlds,
    ...reality,
    /** Writes what is pending. */
    stopWriting: () => Promise.all([stopLastUses(), usage.settle(), capture.stop()]),
    async dispose(stopSandbox: () => Promise<void>): Promise<void> {
      await disposeRetention();
      await Promise.all([runs.dispose(), reality.replays.stop()]);
      // Comes before the sandbox stops: a step that this would cut off has not failed.
      await disposeEnvironments();
      await stopSandbox();
      await worlds.indexes.stop();
      await disposeDatasets();
      await disposeEvaluation();
      // Also counts the work that ended above.
      await usage.stop();
      // Comes last, as the spans of unfinished runs and evaluations end with them.
      await tracing.stop().catch(warnOfUnsent(log));
    },
  };
}

const warnOfUnsent =
  ({ logger }: Log) =>
  (error: unknown) =>
    logger.warn({ err: error }, "could not send the last traces and metrics");

/** Everything about how successes end in reality: the figures, and the replays behind them. */
async function composeReality(
  config: Config,
  log: Log,
  { store, memory, limits, usage }: Base,
  asked: Omit<Parameters<typeof composeReplays>[1], "store" | "realEnvironments" | "realityOf" | "patience">,
) {
  const reality = composeWatch(log, store);
  const real = await composeRealEnvironments(config, log.logger, asked);
  const { realEnvironments } = real;
  const replays = composeReplays(
    log,
    { ...asked, store, realEnvironments, realityOf: reality.stateOf, patience: config.patience },
    {
      ...limits.placesBehindLive,
      recordCall: usage.recordCallsOf("run"),
      memoryBytes: memory.maxBytes,
    },
  );
  return { reality, real, replays };
}

interface Parts {
  base: Base;
  access: Awaited<ReturnType<typeof composeAccess>>;
  deployments: Services["deployments"];
  features: Awaited<ReturnType<typeof composeFeatures>>;
  sockets: OpenSockets;
}

/** The services for operations, and those for the work on runs. */
function toServices(
  config: Config,
  log: Log,
  { base, access, deployments, features, sockets }: Parts,
  { worker, commandLineKey, phase }: ServerStart & { phase: () => Phase },
): { services: Services; ofRuns: EvaluationServices } {
  const { store, metrics, memory, instanceId, tracing, prices, limits, usage } = base;
  const { database, keyDigest } = store;
  const { keyVerifier, evaluation, datasets, runs, deletions } = features;
  const ofRuns: EvaluationServices = {
    store,
    admission: limits.evaluations,
    builtInProfiles: builtInProfileRevisions(evaluation.registry.families),
    datasets,
    runs,
    deletions,
    ...evaluation,
  };
  const identity = {
    store,
    keyDigest,
    keyVerifier,
    forgetKeyElsewhere: worker?.link.forgetKey ?? (async () => {}),
    ...access.sessions,
  };
  const services: Services = {
    settings: settingsOf(config, instanceId),
    phase,
    log,
    metrics,
    readMetrics: worker?.link.readMetrics ?? (() => metrics.registry.metrics()),
    tracing,
    memory,
    longWork: createLongWork(),
    deployments,
    capture: features.capture,
    isOperator: (caller) => isOperator(database, caller),
    findPrompt: composePrompts(store),
    recordUsage: features.recordUsage,
    prices,
    spending: usage.spending,
    settleUsage: usage.settle,
    pricedModels: () => servedModels(config, deployments),
    ...identity,
    ...ofRuns,
    admission: limits.predictions,
    evaluationAdmission: limits.evaluations,
    authenticator: {
      verifyKey: keyVerifier.verify,
      verifySession: (token) =>
        verifySession(identity, token, (error) =>
          logFailure(log, error, "could not write the last use of a browser session; will retry"),
        ),
      commandLine: createCommandLineAccess(commandLineKey, () => ensureOwner(database)),
    },
    ...features.environments,
    realEnvironments: features.real.realEnvironments,
    ...features.worlds,
    worldUses,
    realityLines: (requester, selection) => readRealityLines({ store }, requester, selection),
    replays: features.replays,
    realityOf: features.reality.stateOf,
    runStreams: createRunStreams(),
    sockets,
    sessionCookie: access.sessionCookie,
    signIn: access.signIn,
  };
  return { services, ofRuns };
}

interface ServerStart {
  worker: WorkerOptions | undefined;
  commandLineKey: string | undefined;
}

/** Builds the server that will listen at `address`. Commands with `commandLineKey` are let in. */
export async function composeServer(
  config: Config,
  log: Log,
  address: string,
  worker?: WorkerOptions,
  commandLineKey?: string,
): Promise<Presage> {
  const base = await composeBase(config, log, worker);
  const { store, metrics, instanceId } = base;
  const access = await composeAccess(config, store, address, worker);
  const { firstKey, publicUrl, signInAddress } = access;
  const { deployments, completions, ...upstreams } = await composeUpstreams(config, log, base);
  const features = await composeFeatures(config, log, base, { deployments, ...upstreams });
  const sockets = createOpenSockets();
  watchFigures(metrics, { ...base, ...features, deployments, sockets, completions });

  async function rereadFiles(): Promise<void> {
    if (config.deployments !== undefined) await upstreams.reread();
    await base.rereadPrices();
    if (config.realEnvironments !== undefined) await features.real.reread();
    await base.usage.settle();
  }
  worker?.link.answerWith({
    figures: () => metrics.registry.getMetricsAsJSON(),
    forgetKey: features.keyVerifier.forget,
    rereadFiles,
  });

  let phase: Phase = "starting";
  const parts = { base, access, deployments, features, sockets };
  const start = { worker, commandLineKey, phase: () => phase };
  const { services, ofRuns } = toServices(config, log, parts, start);
  features.runs.start(ofRuns);
  await warnOfReservedNames(store, log);
  await warnOfHiddenWorlds(store, deployments, log);
  const clocks = watchClocks(store.database, log.logger);
  await noteInstance(store.database, { id: instanceId, address: publicUrl });
  return {
    app: createApp(services),
    setPhase: (next) => {
      phase = next;
    },
    firstKey,
    publicUrl,
    signInAddress,
    rereadFiles,
    async dispose() {
      // If the database is down, the entry stays, and `presage sign-in` notices that this server does not answer.
      const forgotten = forgetInstance(store.database, instanceId).catch(() => {});
      await Promise.all([clocks.stop(), forgotten, features.stopWriting()]);
      await features.dispose(upstreams.stopSandbox);
      await base.limits.stop();
      base.redis?.stop();
      await store.destroy();
    },
  };
}

/** Finds the prompts of predictions that runs and episodes made. */
function composePrompts(store: Store): FindPrompts {
  return {
    run: (requester, prediction) => findRunPrompt({ store }, requester, prediction),
    async episode(requester, prediction) {
      const source = await findEpisodePromptSource({ store }, requester, prediction);
      return (
        source && { bytes: source.characters, read: () => readEpisodePrompt({ store }, requester, source) }
      );
    },
  };
}

function settingsOf(config: Config, instanceId: string): Services["settings"] {
  const { maxBodyBytes } = config.listen;
  return {
    instanceId,
    maxBodyBytes,
    listsDeployments: config.deployments !== undefined,
    maxShortBodyBytes: Math.min(maxBodyBytes, maxShortBodyBytes),
    capture: config.capture,
    debugFields: config.prediction.debugFields,
    chatCompatibility: config.prediction.chatCompatibility,
    metricsToken: config.metricsToken,
    dashboardDirectory: Bun.fileURLToPath(new URL("../../../web/dist/", import.meta.url)),
  };
}
