import { setTimeout as sleep } from "node:timers/promises";
import { verifySession } from "../accounts/sessions.ts";
import { ensureOwner, isOperator } from "../accounts/users.ts";
import { createCommandLineAccess } from "../accounts/verify-api-key.ts";
import type { Config } from "../config/config.ts";
import { findEpisodePromptSource, readEpisodePrompt } from "../environments/episodes/step-episode.ts";
import type { ModelUse } from "../evaluators/judge/judge-model.ts";
import { builtInProfileRevisions } from "../evaluators/profiles/find-profile.ts";
import type { Phase } from "../http/exchange.ts";
import { browserAddress } from "../http/pages.ts";
import { createOpenSockets, type OpenSockets } from "../http/sockets.ts";
import { type ByteBudget, createByteBudget, quarterOfMemory } from "../platform/limits/memory.ts";
import { createLongWork } from "../platform/limits/turns.ts";
import { exportMetrics, exportTraces, forwardTraces } from "../platform/observability/export.ts";
import { type Log, type Logger, watchOutage } from "../platform/observability/logger.ts";
import {
  createMetrics,
  type Metrics,
  type ReplicaFigures,
  watchCounts,
  watchRedis,
  watchReplicas,
} from "../platform/observability/metrics.ts";
import type { LogExport } from "../platform/observability/otlp.ts";
import type { Tracing } from "../platform/observability/tracing.ts";
import type { PriceList } from "../platform/prices.ts";
import { connectRedis } from "../platform/redis.ts";
import { usualIntervalMs } from "../platform/storage/batches.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import { forgetInstance, noteInstance, sharedSecret } from "../platform/storage/settings-store.ts";
import type { Store } from "../platform/storage/store.ts";
import type { Capture } from "../predictions/capture.ts";
import type { FindPrompts } from "../predictions/stored-predictions.ts";
import { watchClocks } from "../results/times.ts";
import { createRunStreams } from "../runs/run-events.ts";
import { findRunPrompt } from "../runs/runner/predict-step.ts";
import { type CompletionCache, createCompletionCache } from "../upstream/cache.ts";
import type { CountUnreachable, Deployment } from "../upstream/deployments.ts";
import { replicaAddress } from "../upstream/replicas.ts";
import { collectUsage } from "../usage/collect-usage.ts";
import { writeUsage } from "../usage/usage-store.ts";
import { createWorldParts, type ObservedAnswer, type WorldParts } from "../worlds/examples.ts";
import { composeFirstKey, composeKeyVerifier, composeSignIn, createSignInPath } from "./compose-accounts.ts";
import {
  type ComposedLimits,
  composeDeployments,
  composeLimits,
  composePrices,
} from "./compose-deployments.ts";
import { composeEnvironments } from "./compose-environments.ts";
import { type ComposedEvaluation, composeDatasets, composeEvaluation } from "./compose-evaluation.ts";
import { composeRuns, worldUses } from "./compose-runs.ts";
import { composeCapture, composeRetention } from "./retention.ts";
import { type App, createApp } from "./routes.ts";
import type { EvaluationServices, Services } from "./services.ts";
import { logFailure, openStore } from "./storage.ts";
import type { SupervisorLink } from "./supervise.ts";
import type { WorkerStart } from "./workers.ts";

/** A server that stops has little time before it is killed. */
const maxStopMs = 10_000;

/** Spans and metrics, sent where there is an endpoint. An endpoint that is away costs a line in the log. */
async function composeTelemetry(
  { telemetry: { attributes, traces, metrics }, workers }: Pick<Config, "telemetry" | "workers">,
  logger: Logger,
  { registry }: Pick<Metrics, "registry">,
  instanceId: string,
): Promise<Tracing> {
  const ofProcess = { ...attributes, [instanceName]: instanceOf(attributes, instanceId, workers.count) };
  const exported =
    metrics && (await exportMetrics(metrics, ofProcess, logEnds(logger, "metrics", metrics.url), registry));
  const tracing =
    traces === undefined
      ? forwardTraces(exported?.chats)
      : await exportTraces(traces, ofProcess, logEnds(logger, "traces", traces.url), exported?.chats);
  return {
    ...tracing,
    async stop() {
      const timeoutMs = Math.max(0, ...[traces, metrics].map((target) => target?.timeoutMs ?? 0));
      const waitMs = Math.min(timeoutMs, maxStopMs);
      const sent = Promise.all([tracing.stop(), exported?.stop()]);
      // The SDK waits for several exports, one after the other.
      await Promise.race([sent, sleep(waitMs, undefined, { ref: false })]);
    },
  };
}

const instanceName = "service.instance.id";

/** Processes count apart: an operator's name is enough for one. */
function instanceOf(
  { [instanceName]: given }: Config["telemetry"]["attributes"],
  instanceId: string,
  processes: number,
): string {
  return given !== undefined && processes === 1 ? given : `${given ?? instanceId}/${process.pid}`;
}

/** The error may name the address, which has no credentials; headers are in none. */
function logEnds(logger: Logger, signal: "traces" | "metrics", url: string): LogExport {
  const outage = watchOutage(logger, {
    begins: `could not send ${signal}; those in between are lost`,
    ends: `${signal} are sent again`,
    fields: { url },
  });
  return (error) => {
    if (error === undefined) outage.responded();
    else outage.failed("export", () => ({ reason: error.message }));
  };
}

interface Watched {
  deployments: Services["deployments"];
  limits: ComposedLimits;
  sockets: OpenSockets;
  judgeCalls: ComposedEvaluation["judgeCalls"];
  memory: ByteBudget;
  capture: Pick<Capture, "heldBytes">;
  completions: Pick<CompletionCache, "bytes">;
  worlds: Pick<WorldParts, "indexes">;
}

/** Metrics that are read when `/metrics` is requested. */
function watchFigures(
  { registry }: Pick<Metrics, "registry">,
  { deployments, limits, sockets, judgeCalls, memory, capture, completions, worlds }: Watched,
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
    presage_index_bytes: worlds.indexes.bytes,
  });
}

function countWorldAnswer(
  metrics: Pick<Metrics, "worldPredictions" | "worldAbstentions" | "retrievalSeconds">,
  { isFromRecords, isAbstained, isEscalated, retrievalMs }: ObservedAnswer,
): void {
  metrics.worldPredictions([isFromRecords ? "retrieval" : "deployment"]);
  metrics.retrievalSeconds.observe(retrievalMs / 1000);
  if (isAbstained || isEscalated) metrics.worldAbstentions([isEscalated ? "escalated" : "abstained"]);
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

/** For requests without a prediction's texts or samples. */
const maxShortBodyBytes = 1024 * 1024;

export interface Presage {
  app: App;
  /** Where browsers reach it. */
  publicUrl: string;
  setPhase(phase: Phase): void;
  /** The owner's first key, if this start created it. It is not stored. */
  firstKey: string | undefined;
  /** The one-time sign-in link of local mode. It is not stored. */
  signInAddress: string | undefined;
  /** Reads the files of deployments and of prices again. */
  rereadFiles(): Promise<void>;
  /** Writes what is pending and releases all resources. */
  dispose(): Promise<void>;
}

/** What only a worker process has. */
export interface WorkerOptions extends Pick<WorkerStart, "instanceId"> {
  link: Pick<SupervisorLink, "readMetrics" | "forgetKey" | "answerWith">;
  /** Whether it replaces a worker that ended: it prints no sign-in link. */
  isReplacement: boolean;
}

/** Builds the server that will listen at `address`. Commands with `commandLineKey` are let in. */
export async function composeServer(
  config: Config,
  log: Log,
  address: string,
  worker?: WorkerOptions,
  commandLineKey?: string,
): Promise<Presage> {
  const { logger } = log;
  let phase: Phase = "starting";
  const { reread: rereadPrices, ...prices } = await composePrices(config, logger);
  const metrics = createMetrics();
  const memory = createByteBudget(config.memoryBudgetBytes ?? quarterOfMemory());
  const instanceId = worker?.instanceId ?? Bun.randomUUIDv7();
  const tracing = await composeTelemetry(config, logger, metrics, instanceId);
  const store = await openStore(config, log);
  const { database, keyDigest } = store;
  const redis = config.redisUrl === undefined ? undefined : connectRedis(config.redisUrl, logger);
  if (redis !== undefined) watchRedis(metrics.registry, redis.isUp);
  const firstKey = await composeFirstKey(config, store);
  const publicUrl = config.listen.publicUrl ?? browserAddress(address);
  const { signIn, sessionCookie, sessions } = await composeSignIn(config, store, publicUrl);
  const offersSignIn = signIn.kind === "local" && worker?.isReplacement !== true;
  const signInPath = offersSignIn ? await createSignInPath(store) : undefined;
  const countUnreachable: CountUnreachable = (of, reason) => metrics.upstreamUnreachable([of, reason]);
  const completions = createCompletionCache({
    ...config.cache,
    shared: redis && { redis, secret: await sharedSecret(database, "completion_names") },
  });
  const {
    deployments,
    reread: rereadDeployments,
    stopSandbox,
  } = await composeDeployments(config, logger, {
    memory,
    completions,
    countUnreachable,
  });

  const { keyVerifier, stop: stopLastUses } = composeKeyVerifier(log, store, metrics);
  const usage = composeUsage(config, log, database, prices);
  const limits = composeLimits(config, { redis, keyDigest, metrics });
  const {
    dispose: disposeEvaluation,
    judgeCalls,
    countTagsSoon,
    ...evaluation
  } = composeEvaluation(config, log, store, {
    deployments,
    memory,
    countUnreachable,
    recordJudgeCall: usage.recordCallsOf("judge"),
  });
  const { dispose: disposeDatasets, ...datasets } = composeDatasets(config, log, store);
  const capture = composeCapture(config, log, store, { memory, metrics });
  const worlds = createWorldParts(store, config.worlds.maxIndexBytes, (answered) =>
    countWorldAnswer(metrics, answered),
  );
  const runs = composeRuns(config, log, store, {
    ...worlds,
    deployments,
    liveInFlight: limits.predictions.inFlight,
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
  const sockets = createOpenSockets();
  watchFigures(metrics, {
    ...{ deployments, limits, sockets, judgeCalls, memory, capture, completions, worlds },
  });

  async function rereadFiles(): Promise<void> {
    if (config.deployments !== undefined) await rereadDeployments();
    await rereadPrices();
  }
  worker?.link.answerWith({
    figures: () => metrics.registry.getMetricsAsJSON(),
    forgetKey: keyVerifier.forget,
    rereadFiles,
  });

  const evaluationServices: EvaluationServices = {
    store,
    admission: limits.evaluations,
    builtInProfiles: builtInProfileRevisions(evaluation.registry.families),
    datasets,
    runs,
    deletions,
    ...evaluation,
  };
  const { dispose: disposeEnvironments, ...environments } = composeEnvironments(
    log,
    store,
    await sharedSecret(database, "ors_sessions"),
  );
  const identity = {
    store,
    keyDigest,
    keyVerifier,
    forgetKeyElsewhere: worker?.link.forgetKey ?? (async () => {}),
    ...sessions,
  };
  const services: Services = {
    settings: settingsOf(config, instanceId),
    phase: () => phase,
    log,
    metrics,
    readMetrics: worker?.link.readMetrics ?? (() => metrics.registry.metrics()),
    tracing,
    memory,
    longWork: createLongWork(),
    deployments,
    capture,
    isOperator: (caller) => isOperator(database, caller),
    findPrompt: composePrompts(store),
    recordUsage: usage.record,
    prices,
    ...identity,
    ...evaluationServices,
    admission: limits.predictions,
    evaluationAdmission: limits.evaluations,
    authenticator: {
      verifyKey: keyVerifier.verify,
      verifySession: (token) => verifySession(identity, token),
      commandLine: createCommandLineAccess(commandLineKey, () => ensureOwner(database)),
    },
    ...environments,
    ...worlds,
    worldUses,
    runStreams: createRunStreams(),
    sockets,
    sessionCookie,
    signIn,
  };

  runs.start(evaluationServices);
  const clocks = watchClocks(database, logger);
  await noteInstance(database, { id: instanceId, address: publicUrl });
  return {
    app: createApp(services),
    setPhase: (next) => {
      phase = next;
    },
    firstKey,
    publicUrl,
    rereadFiles,
    signInAddress: signInPath === undefined ? undefined : publicUrl + signInPath,
    async dispose() {
      // If the database is down the note stays, and `presage sign-in` notices that this server does not answer.
      const forgotten = forgetInstance(database, instanceId).catch(() => {});
      await Promise.all([stopLastUses(), usage.stop(), capture.stop(), clocks.stop(), forgotten]);
      await disposeRetention();
      await runs.dispose();
      // Before the sandbox: a step that it cuts off has not failed.
      await disposeEnvironments();
      await stopSandbox();
      await worlds.indexes.stop();
      await disposeDatasets();
      await disposeEvaluation();
      // The spans of runs and of evaluations at work end with them.
      await tracing
        .stop()
        .catch((error: unknown) => logger.warn({ err: error }, "could not send the last traces and metrics"));
      await limits.stop();
      redis?.stop();
      await store.destroy();
    },
  };
}

/** Where the prompts of predictions are stored that runs and episodes made. */
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

function composeUsage(
  { patience }: Pick<Config, "patience">,
  log: Log,
  database: Database,
  prices: PriceList,
) {
  const { record, stop } = collectUsage(
    (batch) => writeUsage(database, batch),
    (error, isFirst) => logFailure(log, error, "could not write usage; will retry", isFirst),
    (model) => prices.current()?.models.has(model) === true,
    usualIntervalMs * patience,
  );
  return {
    record,
    /** Without latencies: usage has those of clients' predictions only. */
    recordCallsOf: (operation: "judge" | "run") => (call: ModelUse) =>
      record({ ...call, operation, totalMs: 0, upstreamMs: undefined }),
    stop,
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
