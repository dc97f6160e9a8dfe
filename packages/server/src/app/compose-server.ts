import { verifySession } from "../accounts/sessions.ts";
import { ensureOwner } from "../accounts/users.ts";
import { createCommandLineAccess } from "../accounts/verify-api-key.ts";
import type { Config } from "../config/config.ts";
import type { ModelUse } from "../evaluators/judge/judge-model.ts";
import { builtInProfileRevisions } from "../evaluators/profiles/find-profile.ts";
import type { Phase } from "../http/exchange.ts";
import { browserAddress } from "../http/pages.ts";
import { createOpenSockets, type OpenSockets } from "../http/sockets.ts";
import { type ByteBudget, createByteBudget, quarterOfMemory } from "../platform/limits/memory.ts";
import { createLongWork } from "../platform/limits/turns.ts";
import type { Log } from "../platform/observability/logger.ts";
import {
  createMetrics,
  type Metrics,
  type ReplicaFigures,
  watchCounts,
  watchRedis,
  watchReplicas,
} from "../platform/observability/metrics.ts";
import type { PriceList } from "../platform/prices.ts";
import { connectRedis } from "../platform/redis.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import { forgetInstance, noteInstance, sharedSecret } from "../platform/storage/settings-store.ts";
import type { Capture } from "../predictions/capture.ts";
import type { EvaluationServices } from "../results/evaluation-services.ts";
import { watchClocks } from "../results/times.ts";
import { type CompletionCache, createCompletionCache } from "../upstream/cache.ts";
import type { CountUnreachable, Deployment } from "../upstream/deployments.ts";
import { replicaAddress } from "../upstream/replicas.ts";
import { collectUsage } from "../usage/usage.ts";
import { writeUsage } from "../usage/usage-store.ts";
import { composeFirstKey, composeKeyVerifier, composeSignIn, createSignInPath } from "./compose-accounts.ts";
import { composeDeployments, composePrices } from "./compose-deployments.ts";
import { composeEnvironments } from "./compose-environments.ts";
import { type ComposedEvaluation, composeDatasets, composeEvaluation } from "./compose-evaluation.ts";
import { type ComposedLimits, composeLimits } from "./compose-limits.ts";
import { composeRuns } from "./compose-runs.ts";
import { composeTelemetry } from "./compose-telemetry.ts";
import { composeCapture, composeRetention } from "./retention.ts";
import { type App, createApp } from "./routes.ts";
import type { Services } from "./services.ts";
import { logFailure, openStore } from "./storage.ts";
import type { SupervisorLink } from "./supervisor-link.ts";
import type { WorkerStart } from "./workers.ts";

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
function watchFigures(
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
  const usage = composeUsage(log, database, prices);
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
  const { dispose: disposeCapture, ...capture } = composeCapture(config, log, store, { memory, metrics });
  const runs = composeRuns(config, log, store, {
    deployments,
    liveInFlight: limits.predictions.inFlight,
    recordCall: usage.recordCallsOf("run"),
    startSpan: tracing.startRun,
  });
  const { dispose: disposeRetention, ...deletions } = composeRetention(config, log, store, {
    metrics,
    onResultsDeleted() {
      evaluation.folder.schedule();
      countTagsSoon();
    },
  });
  const sockets = createOpenSockets();
  watchFigures(metrics, { deployments, limits, sockets, judgeCalls, memory, capture, completions });

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
    evaluation: evaluationServices,
    ...environments,
    sockets,
    sessionCookie,
    signIn,
  };

  runs.start(services.evaluation);
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
      await Promise.all([stopLastUses(), usage.stop(), disposeCapture(), clocks.stop(), forgotten]);
      await disposeRetention();
      await runs.dispose();
      // Before the sandbox: a step that it cuts off has not failed.
      await disposeEnvironments();
      await stopSandbox();
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

function composeUsage(log: Log, database: Database, prices: PriceList) {
  const { record, stop } = collectUsage(
    (batch) => writeUsage(database, batch),
    (error, isFirst) => logFailure(log, error, "could not write usage; will retry", isFirst),
    (model) => prices.current()?.models.has(model) === true,
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
