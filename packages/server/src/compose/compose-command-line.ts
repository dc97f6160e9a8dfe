import type { Config } from "../config.ts";
import type { EvaluateServices } from "../evaluation/evaluate/evaluate.ts";
import { createKeyDigest, type KeyDigest } from "../identity/api-keys/key-digest.ts";
import { ensureOwner } from "../identity/users/ensure-owner.ts";
import type { User } from "../identity/users/users-store.ts";
import type { ByteBudget } from "../limits/byte-budget.ts";
import type { Log, Logger } from "../observability/logger.ts";
import { type OpenedDatabase, openDatabase } from "../storage/open-database.ts";
import { sharedSecret } from "../storage/settings-store.ts";
import { createUpstream } from "../upstream/create-upstream.ts";
import type { Upstream } from "../upstream/upstream.ts";
import { composeEvaluation } from "./compose-evaluation.ts";

export interface OpenedStore extends Omit<OpenedDatabase, "migrated"> {
  owner: User;
  keyDigest: KeyDigest;
}

/** Opens and migrates the database, and ensures its owner. */
export async function composeStore(config: Config, log: Log): Promise<OpenedStore> {
  const { migrated, ...opened } = await openDatabase(config.databaseUrl, log.storeFailed, log.storeResponded);
  if (migrated.length > 0) log.logger.info({ migrated }, "migrated the database");
  const keyDigest = createKeyDigest(await sharedSecret(opened.database, "api_key_digest"));
  return { ...opened, owner: await ensureOwner(opened.database), keyDigest };
}

/** Evaluation without a server, for the command line. */
export async function composeEvaluator(
  config: Config,
  log: Log,
): Promise<{ services: EvaluateServices; accountId: string; stop(): Promise<void> }> {
  const store = await composeStore(config, log);
  const { dispose, ...evaluation } = composeEvaluation(config, log, store);
  return {
    services: { store, ...evaluation },
    accountId: store.owner.account_id,
    async stop() {
      await dispose();
      await store.destroy();
    },
  };
}

/** The configured deployment, or the sandbox if there is none. */
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
    "PRESAGE_UPSTREAM_URL is not set: predictions come from the built-in sandbox, a rule-based simulator, not a language model",
  );
  const upstream = createUpstream({ ...options, url: sandbox.url, apiKey: undefined, model: undefined });
  return { upstream, stopSandbox: sandbox.stop };
}
