import { selectKeyRecord, writeLastUses } from "../accounts/api-keys-store.ts";
import { collectLastUses, createKeyVerifier, type KeyVerifier } from "../accounts/verify-api-key.ts";
import { ensureFirstKey } from "../accounts/api-keys.ts";
import type { Config } from "../config/config.ts";
import type { Log } from "../platform/observability/logger.ts";
import type { Metrics } from "../platform/observability/metrics.ts";
import type { OpenedStore } from "./compose-command-line.ts";
import { logFailure } from "./log-failure.ts";

/** Finds whose a key is, and writes when it was last used. */
export function composeKeyVerifier(
  log: Log,
  { database, keyDigest }: OpenedStore,
  metrics: Metrics,
): { keyVerifier: KeyVerifier; stop(): Promise<void> } {
  const { record, stop } = collectLastUses(
    (batch) => writeLastUses(database, batch),
    (error, isFirst) =>
      logFailure(log, error, "could not write last-used times of API keys; will retry", isFirst),
  );
  const keyVerifier = createKeyVerifier({
    digestOf: keyDigest,
    find: (digest) => selectKeyRecord(database, digest),
    recordUse: record,
    count: (outcome) => metrics.keyVerifications([outcome]),
  });
  return { keyVerifier, stop };
}

/** Creates the key for the first request: the bootstrap key, or in local mode one that is printed once. */
export async function composeFirstKey(
  config: Config,
  { database, owner, keyDigest }: OpenedStore,
): Promise<string | undefined> {
  const { bootstrapKey, oidc } = config.identity;
  if (bootstrapKey === undefined && oidc !== undefined) return undefined;
  return await ensureFirstKey(database, keyDigest, owner.id, bootstrapKey);
}
