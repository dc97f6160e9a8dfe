import type { Config } from "../config.ts";
import type { EvaluateServices } from "../evaluation/evaluate/evaluate.ts";
import { createKeyDigest, type KeyDigest } from "../identity/api-keys/verify-api-key.ts";
import { ensureOwner } from "../identity/users/ensure-owner.ts";
import type { User } from "../identity/users/users-store.ts";
import { createLog, type Log } from "../observability/logger.ts";
import { migrations } from "../storage/migrations/index.ts";
import { type OpenedDatabase, type OpenOptions, openDatabase } from "../storage/open-database.ts";
import { sharedSecret } from "../storage/settings-store.ts";
import { composeDeployments } from "./compose-deployments.ts";
import { composeEvaluation } from "./compose-evaluation.ts";

export interface OpenedStore extends Omit<OpenedDatabase, "migrated"> {
  owner: User;
  keyDigest: KeyDigest;
}

/** Opens and migrates the database, and ensures its owner. */
export async function composeStore(config: Config, log: Log, options?: OpenOptions): Promise<OpenedStore> {
  const { migrated, ...opened } = await openDatabase(
    config.databaseUrl,
    log.storeFailed,
    log.storeResponded,
    options,
  );
  if (migrated.length === Object.keys(migrations).length)
    log.logger.info({ path: opened.sqlitePath }, "created the database");
  else if (migrated.length > 0) log.logger.info({ migrated }, "migrated the database");
  try {
    const keyDigest = createKeyDigest(await sharedSecret(opened.database, "api_key_digest"));
    return { ...opened, owner: await ensureOwner(opened.database), keyDigest };
  } catch (error) {
    await opened.destroy();
    throw error;
  }
}

/** Evaluation without a server, for the command line. */
export async function composeEvaluator(
  config: Config,
  log: Log,
  options?: OpenOptions,
): Promise<{ services: EvaluateServices; accountId: string; stop(): Promise<void> }> {
  const store = await composeStore(config, log, options);
  // Without a configured model judges have none, so that nothing is said of the sandbox.
  const { deployments, stopSandbox } = await composeDeployments(config, createLog("silent").logger);
  const { dispose, ...evaluation } = composeEvaluation(config, log, store, { deployments });
  return {
    services: { store, ...evaluation },
    accountId: store.owner.account_id,
    async stop() {
      await dispose();
      await stopSandbox();
      await store.destroy();
    },
  };
}
