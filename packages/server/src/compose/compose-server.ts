import { totalmem } from "node:os";
import type { Config } from "../config.ts";
import type { Evaluate } from "../evaluation/evaluate/evaluate.ts";
import { archiveProfile } from "../evaluation/profiles/archive-profile.ts";
import { changeProfileOnce } from "../evaluation/profiles/change-profile-once.ts";
import { createProfile } from "../evaluation/profiles/create-profile.ts";
import { findOwnProfile } from "../evaluation/profiles/find-own-profile.ts";
import { listProfiles } from "../evaluation/profiles/list-profiles.ts";
import { measureAgreement } from "../evaluation/profiles/measure-agreement.ts";
import { reviseProfile } from "../evaluation/profiles/revise-profile.ts";
import { systemRevisions } from "../evaluation/profiles/system-revisions.ts";
import { findErrorFindings } from "../evaluation/results/error-findings/find-error-findings.ts";
import { listApps } from "../evaluation/results/search/list-apps.ts";
import { watchClocks } from "../evaluation/results/times/watch-clocks.ts";
import { createRevisionOnce } from "../evaluation/taxonomies/create-revision-once.ts";
import { findRevision } from "../evaluation/taxonomies/find-revision.ts";
import { listRevisions } from "../evaluation/taxonomies/list-revisions.ts";
import { removeLabels } from "../evaluation/taxonomies/remove-labels.ts";
import { setLabels } from "../evaluation/taxonomies/set-labels.ts";
import { type App, createApp } from "../http/app.ts";
import { browserAddress } from "../http/browser-address.ts";
import type { Phase } from "../http/resources/probes/probes.ts";
import { selectApiKeys, selectKeyRecord, writeLastUses } from "../identity/api-keys/api-keys-store.ts";
import { createFirstKey } from "../identity/api-keys/create-first-key.ts";
import { createKeyForCaller } from "../identity/api-keys/create-key-for-caller.ts";
import { ensureBootstrapKey } from "../identity/api-keys/ensure-bootstrap-key.ts";
import { createKeyDigest, type KeyDigest } from "../identity/api-keys/key-digest.ts";
import { collectLastUses } from "../identity/api-keys/last-uses.ts";
import { revokeApiKey } from "../identity/api-keys/revoke-api-key.ts";
import { createKeyVerifier } from "../identity/api-keys/verify-api-key.ts";
import { selectAccount } from "../identity/users/accounts-store.ts";
import { ensureOwner } from "../identity/users/ensure-owner.ts";
import { selectUser, type User } from "../identity/users/users-store.ts";
import { type ByteBudget, createByteBudget } from "../limits/byte-budget.ts";
import { createInFlight } from "../limits/in-flight.ts";
import type { Log, Logger } from "../observability/logger.ts";
import { createMetrics } from "../observability/metrics.ts";
import { openTracing } from "../observability/tracing.ts";
import { createAdmission } from "../prediction/admission.ts";
import { ClockSkewError, findClockSkew } from "../storage/clock-skew.ts";
import { type OpenedDatabase, openDatabase } from "../storage/open-database.ts";
import { sharedSecret } from "../storage/settings-store.ts";
import { isStoreUnavailable } from "../storage/store-failure.ts";
import { createUpstream } from "../upstream/create-upstream.ts";
import type { Upstream } from "../upstream/upstream.ts";
import { type CountUnreachable, watchOutages } from "../upstream/watch-outages.ts";
import { collectUsage } from "../usage/note-usage.ts";
import { readLatency } from "../usage/read-latency.ts";
import { readUsage } from "../usage/read-usage.ts";
import { writeUsage } from "../usage/usage-store.ts";
import { composeEvaluation } from "./compose-evaluation.ts";
import { composeResults } from "./compose-results.ts";
import { composeSignIn, createSignInPath } from "./compose-sign-in.ts";

export interface Presage {
  app: App;
  setPhase(phase: Phase): void;
  /** The owner's first key, where this start made it. It is not kept anywhere. */
  firstKey: string | undefined;
  /** The address that signs a browser in once, in local mode. It is not kept anywhere. */
  signInAddress: string | undefined;
  /** Writes what is still to be written and lets go of everything. */
  dispose(): Promise<void>;
}

/** Builds the whole server, short of listening at `address`. */
export async function compose(config: Config, log: Log, address: string): Promise<Presage> {
  const { logger } = log;
  let phase: Phase = "starting";
  const metrics = createMetrics();
  const memory = createByteBudget(config.memoryBudgetBytes ?? quarterOfMemory());
  const tracing = config.otlpEndpoint === undefined ? undefined : await openTracing(config.otlpEndpoint);
  const store = await composeStore(config, log);
  const { database, digestOf } = store;
  await refuseWrongClock(store);
  const firstKey = await composeFirstKey(config, store);
  const publicUrl = config.listen.publicUrl ?? browserAddress(address);
  const { signIn, sessions, holdOf, writerOf } = await composeSignIn(config, store, publicUrl);
  const signInPath = signIn.kind === "local" ? await createSignInPath(store) : undefined;
  const { upstream: sender, stopSandbox } = await composeUpstream(config, logger, memory);
  const countUnreachable: CountUnreachable = (of, reason) => metrics.upstreamUnreachable([of, reason]);
  const upstream = watchOutages(sender, { logger, upstream: "predictions", count: countUnreachable });

  const lastUses = collectLastUses(
    (batch) => writeLastUses(database, batch),
    (error, isFirst) =>
      noteUnwritten(log, error, isFirst, "last uses of keys are not written yet; they are kept"),
  );
  const usage = collectUsage(
    (batch) => writeUsage(database, batch),
    (error, isFirst) => noteUnwritten(log, error, isFirst, "usage is not written yet; it is kept"),
  );
  const verifier = createKeyVerifier({
    digestOf,
    find: (digest) => selectKeyRecord(database, digest),
    noteUse: lastUses.note,
    count: (outcome) => metrics.keyVerifications([outcome]),
  });
  const admission = createAdmission(config.prediction);
  const { maxInFlight: maxEvaluations } = config.evaluation;
  const evaluationsInFlight = createInFlight(
    maxEvaluations,
    `${maxEvaluations} evaluation requests are allowed under way at once, and none is left for this account right now.`,
  );

  const { registry, evaluate, findEvaluatorIssues, judgeCalls, checkInThread, ...evaluation } =
    composeEvaluation(config, log, store, { memory, countUnreachable });
  metrics.watch({
    presage_predictions_in_flight: admission.inFlight,
    presage_evaluations_in_flight: evaluationsInFlight.count,
    presage_judge_calls_in_flight: () => judgeCalls?.held() ?? 0,
    presage_judge_calls_waiting: () => judgeCalls?.waiting() ?? 0,
    presage_memory_held_bytes: memory.heldBytes,
    presage_memory_budget_bytes: () => memory.maxBytes,
  });
  const managed = systemRevisions(registry.families);

  const app = createApp({
    phase: () => phase,
    metricsToken: config.metricsToken,
    memory,
    dashboardDirectory: Bun.fileURLToPath(new URL("../../../web/dist/", import.meta.url)),
    verifier,
    signIn,
    sessions,
    predictions: {
      complete: upstream.complete,
      admission,
      debugFields: config.prediction.debugFields,
      maxBodyBytes: config.listen.maxBodyBytes,
    },
    listModels: upstream.listModels,
    apiKeys: {
      createApiKey: (caller, signal, credential, newKey, once) => {
        const keyCaller = { credential, hold: holdOf(caller) };
        return createKeyForCaller(writerOf(caller, signal), digestOf, keyCaller, newKey, once);
      },
      listApiKeys: (asker, userId, page) => selectApiKeys(store.briefReader(asker), userId, page),
      revokeApiKey: (caller, signal, keyId) =>
        revokeApiKey(writerOf(caller, signal), verifier, holdOf(caller), caller.userId, keyId),
    },
    errorTaxonomies: {
      createRevision: (asker, newRevision, once) =>
        createRevisionOnce(store.writer(asker), newRevision, once),
      listRevisions: (asker, filter) => listRevisions(store.briefReader(asker), asker.accountId, filter),
      findRevision: (accountId, revisionId) => findRevision(database, accountId, revisionId),
      findErrorFindings: (asker, revisionId, period) =>
        findErrorFindings(store.reader(asker), asker.accountId, revisionId, period),
      setLabels: (asker, revisionId, labels) =>
        setLabels(store.writer(asker), asker.accountId, revisionId, labels),
      removeLabels: (asker, revisionId, labels) =>
        removeLabels(store.writer(asker), asker.accountId, revisionId, labels),
    },
    registry,
    evaluations: {
      evaluate,
      findEvaluatorIssues,
      inFlight: evaluationsInFlight,
    },
    evaluationResults: composeResults(store, registry, evaluation),
    evaluatorProfiles: {
      findFamily: (name) => registry.find(name)?.family,
      checkInThread,
      createProfile: (asker, profile, once) =>
        changeProfileOnce(store.writer(asker), asker.accountId, once, (transaction) =>
          createProfile(transaction, profile),
        ),
      findOwnProfile: (accountId, publicId) => findOwnProfile(database, managed, accountId, publicId),
      reviseProfile: (asker, revision, once) =>
        changeProfileOnce(store.writer(asker), asker.accountId, once, (transaction) =>
          reviseProfile(transaction, revision),
        ),
      archiveProfile: (asker, publicId) => {
        const stores = { database: store.writer(asker), reader: store.briefReader(asker) };
        return archiveProfile(stores, managed, asker.accountId, publicId);
      },
      listProfiles: (asker, filter, page) =>
        listProfiles(store.briefReader(asker), managed, asker.accountId, filter, page),
      measureAgreement: (asker, publicId) =>
        measureAgreement(store.reader(asker), managed, asker.accountId, publicId),
    },
    usage: {
      readUsage: (asker, period, keyId) => readUsage(store.reader(asker), asker.accountId, period, keyId),
      readLatency: (asker, period) => readLatency(store.reader(asker), asker.accountId, period),
    },
    listApps: (asker, page) => listApps(store.briefReader(asker), asker.accountId, page),
    findUser: (userId) => selectUser(database, userId),
    findAccount: (accountId) => selectAccount(database, accountId),
    observers: { log, metrics, tracing, noteUsage: usage.note },
  });

  const clocks = watchClocks(database, logger);
  return {
    app,
    setPhase: (next) => {
      phase = next;
    },
    firstKey,
    signInAddress: signInPath === undefined ? undefined : publicUrl + signInPath,
    async dispose() {
      await Promise.all([lastUses.stop(), usage.stop(), clocks.stop()]);
      await tracing
        ?.stop()
        .catch((error: unknown) => logger.warn({ err: error }, "the last traces are lost"));
      await stopSandbox();
      await evaluation.dispose();
      await store.destroy();
    },
  };
}

/** A batch is tried every few seconds, and what keeps it from being written is worth one line. */
function noteUnwritten(log: Log, error: unknown, isFirst: boolean, message: string): void {
  if (isStoreUnavailable(error)) log.storeFailed(error);
  else if (isFirst) log.logger.warn({ err: error }, message);
}

/** Keys and sessions are dated by this process, and results by the database: with two clocks nothing would fit. */
async function refuseWrongClock({ database, destroy }: Store): Promise<void> {
  const skew = await findClockSkew(database);
  if (skew === undefined) return;
  await destroy();
  throw new ClockSkewError(skew);
}

export interface Store extends Omit<OpenedDatabase, "migrated"> {
  owner: User;
  digestOf: KeyDigest;
}

/** The database, up to date, with its owner and the way in which it digests keys. */
export async function composeStore(config: Config, log: Log): Promise<Store> {
  const { migrated, ...opened } = await openDatabase(config.databaseUrl, log.storeFailed, log.storeAnswered);
  if (migrated.length > 0) log.logger.info({ migrated }, "the database's schema is up to date");
  const digestOf = createKeyDigest(await sharedSecret(opened.database, "api_key_digest"));
  return { ...opened, owner: await ensureOwner(opened.database), digestOf };
}

/** What evaluates, without a server: for the command line. */
export async function composeEvaluator(
  config: Config,
  log: Log,
): Promise<{ evaluate: Evaluate; accountId: string; stop(): Promise<void> }> {
  const store = await composeStore(config, log);
  const { evaluate, dispose } = composeEvaluation(config, log, store);
  return {
    evaluate,
    accountId: store.owner.account_id,
    async stop() {
      await dispose();
      await store.destroy();
    },
  };
}

/** The configured deployment, or the sandbox where none is configured. */
export async function composeUpstream(
  config: Config,
  logger: Logger,
  memory?: ByteBudget,
): Promise<{ upstream: Upstream; stopSandbox(): Promise<void> }> {
  const { url, ...rest } = config.upstream;
  const options = { ...rest, ...(memory && { memory }) };
  if (url !== undefined)
    return { upstream: createUpstream({ url, ...options }), stopSandbox: async () => {} };
  const { startSandbox } = await import("@presage/sandbox");
  const sandbox = startSandbox();
  logger.warn(
    "PRESAGE_UPSTREAM_URL is not set: predictions come from the built-in sandbox, a rule-based simulator and no language model",
  );
  const upstream = createUpstream({ ...options, url: sandbox.url, apiKey: undefined, model: undefined });
  return { upstream, stopSandbox: sandbox.stop };
}

/** Of the machine's, or of the container's where that has less. */
function quarterOfMemory(): number {
  // 0 where nobody knows of a limit.
  const limitBytes = process.constrainedMemory() || Number.POSITIVE_INFINITY;
  return Math.floor(Math.min(totalmem(), limitBytes) / 4);
}

/** Someone must be able to make the first call: the bootstrap key, or in local mode a key that is printed once. */
async function composeFirstKey(
  config: Config,
  { database, owner, digestOf }: Store,
): Promise<string | undefined> {
  const { bootstrapKey, oidc } = config.identity;
  if (bootstrapKey === undefined) {
    return oidc === undefined ? await createFirstKey(database, digestOf, owner.id) : undefined;
  }
  await ensureBootstrapKey(database, digestOf, { userId: owner.id, key: bootstrapKey });
  return undefined;
}
