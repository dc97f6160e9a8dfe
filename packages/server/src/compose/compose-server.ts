import { totalmem } from "node:os";
import type { Config } from "../config.ts";
import { builtInProfileRevisions } from "../evaluation/profiles/built-in-profiles.ts";
import { watchClocks } from "../evaluation/results/times/watch-clocks.ts";
import { type App, createApp } from "../http/app.ts";
import { browserAddress } from "../http/browser-address.ts";
import type { Phase, Services } from "../http/services.ts";
import { selectKeyRecord, writeLastUses } from "../identity/api-keys/api-keys-store.ts";
import { collectLastUses } from "../identity/api-keys/collect-last-uses.ts";
import { ensureFirstKey } from "../identity/api-keys/ensure-first-key.ts";
import { createKeyVerifier } from "../identity/api-keys/verify-api-key.ts";
import { createByteBudget } from "../limits/byte-budget.ts";
import { createInFlight } from "../limits/in-flight.ts";
import type { Log } from "../observability/logger.ts";
import { createMetrics } from "../observability/metrics.ts";
import { openTracing } from "../observability/tracing.ts";
import { createAdmission } from "../prediction/admission.ts";
import { ClockSkewError, findClockSkew } from "../storage/clock-skew.ts";
import { isStoreUnavailable } from "../storage/store-error.ts";
import { type CountUnreachable, watchOutages } from "../upstream/watch-outages.ts";
import { collectUsage } from "../usage/collect-usage.ts";
import { writeUsage } from "../usage/usage-store.ts";
import { composeStore, composeUpstream, type OpenedStore } from "./compose-command-line.ts";
import { composeEvaluation } from "./compose-evaluation.ts";
import { composeSignIn, createSignInPath } from "./compose-sign-in.ts";

/** For requests without a prediction's texts or samples. */
const maxShortBodyBytes = 1024 * 1024;

export interface Presage {
  app: App;
  setPhase(phase: Phase): void;
  /** The owner's first key, if this start created it. It is not stored. */
  firstKey: string | undefined;
  /** The one-time sign-in link of local mode. It is not stored. */
  signInAddress: string | undefined;
  /** Writes what is pending and releases all resources. */
  dispose(): Promise<void>;
}

/** Builds the server, which does not listen at `address` yet. */
export async function composeServer(config: Config, log: Log, address: string): Promise<Presage> {
  const { logger } = log;
  let phase: Phase = "starting";
  const metrics = createMetrics();
  const memory = createByteBudget(config.memoryBudgetBytes ?? quarterOfMemory());
  const tracing = config.otlpEndpoint === undefined ? undefined : await openTracing(config.otlpEndpoint);
  const store = await composeStore(config, log);
  const { database, keyDigest } = store;
  await refuseWrongClock(store);
  const firstKey = await composeFirstKey(config, store);
  const publicUrl = config.listen.publicUrl ?? browserAddress(address);
  const signIn = await composeSignIn(config, store, publicUrl);
  const signInPath = signIn.signIn.kind === "local" ? await createSignInPath(store) : undefined;
  const countUnreachable: CountUnreachable = (of, reason) => metrics.upstreamUnreachable([of, reason]);
  const { upstream, stopSandbox } = await composeUpstream(config, logger, memory);

  const lastUses = collectLastUses(
    (batch) => writeLastUses(database, batch),
    (error, isFirst) =>
      logWriteFailure(log, error, isFirst, "could not write last-used times of API keys; will retry"),
  );
  const usage = collectUsage(
    (batch) => writeUsage(database, batch),
    (error, isFirst) => logWriteFailure(log, error, isFirst, "could not write usage; will retry"),
  );
  const admission = createAdmission(config.prediction);
  const { maxInFlight: maxEvaluations } = config.evaluation;
  const evaluationsInFlight = createInFlight(
    maxEvaluations,
    `At most ${maxEvaluations} evaluation requests may be in progress at once; this account has no free slot right now.`,
  );
  const {
    dispose: disposeEvaluation,
    judgeCalls,
    ...evaluation
  } = composeEvaluation(config, log, store, {
    memory,
    countUnreachable,
  });
  metrics.watch({
    presage_predictions_in_flight: admission.inFlight,
    presage_evaluations_in_flight: evaluationsInFlight.count,
    presage_judge_calls_in_flight: () => judgeCalls?.held() ?? 0,
    presage_judge_calls_waiting: () => judgeCalls?.waiting() ?? 0,
    presage_memory_held_bytes: memory.heldBytes,
    presage_memory_budget_bytes: () => memory.maxBytes,
  });

  const { maxBodyBytes } = config.listen;
  const services: Services = {
    settings: {
      maxBodyBytes,
      maxShortBodyBytes: Math.min(maxBodyBytes, maxShortBodyBytes),
      debugFields: config.prediction.debugFields,
      metricsToken: config.metricsToken,
      dashboardDirectory: Bun.fileURLToPath(new URL("../../../web/dist/", import.meta.url)),
    },
    phase: () => phase,
    log,
    metrics,
    tracing,
    memory,
    store,
    upstream: watchOutages(upstream, { logger, upstream: "predictions", count: countUnreachable }),
    admission,
    evaluationsInFlight,
    recordUsage: usage.record,
    keyDigest,
    keyVerifier: createKeyVerifier({
      digestOf: keyDigest,
      find: (digest) => selectKeyRecord(database, digest),
      recordUse: lastUses.record,
      count: (outcome) => metrics.keyVerifications([outcome]),
    }),
    builtInProfiles: builtInProfileRevisions(evaluation.registry.families),
    imports: new Map(),
    ...signIn,
    ...evaluation,
  };

  const clocks = watchClocks(database, logger);
  return {
    app: createApp(services),
    setPhase: (next) => {
      phase = next;
    },
    firstKey,
    signInAddress: signInPath === undefined ? undefined : publicUrl + signInPath,
    async dispose() {
      await Promise.all([lastUses.stop(), usage.stop(), clocks.stop()]);
      await tracing
        ?.stop()
        .catch((error: unknown) => logger.warn({ err: error }, "could not send the last traces"));
      await stopSandbox();
      await disposeEvaluation();
      await store.destroy();
    },
  };
}

/** Batches are retried every few seconds; only the first failure is logged. */
function logWriteFailure(log: Log, error: unknown, isFirst: boolean, message: string): void {
  if (isStoreUnavailable(error)) log.storeFailed(error);
  else if (isFirst) log.logger.warn({ err: error }, message);
}

/** This process dates keys and sessions, the database dates results, so their clocks must agree. */
async function refuseWrongClock({ database, destroy }: OpenedStore): Promise<void> {
  const skew = await findClockSkew(database);
  if (skew === undefined) return;
  await destroy();
  throw new ClockSkewError(skew);
}

/** A quarter of the machine's memory, or of the container's if that is less. */
function quarterOfMemory(): number {
  // 0 if no limit is known.
  const limitBytes = process.constrainedMemory() || Number.POSITIVE_INFINITY;
  return Math.floor(Math.min(totalmem(), limitBytes) / 4);
}

/** Creates the key for the first request: the bootstrap key, or in local mode one that is printed once. */
async function composeFirstKey(
  config: Config,
  { database, owner, keyDigest }: OpenedStore,
): Promise<string | undefined> {
  const { bootstrapKey, oidc } = config.identity;
  if (bootstrapKey === undefined && oidc !== undefined) return undefined;
  return await ensureFirstKey(database, keyDigest, owner.id, bootstrapKey);
}
