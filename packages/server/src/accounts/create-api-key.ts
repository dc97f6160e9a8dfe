import type { KeyScope } from "@presage/contract";
import type { Changer } from "../platform/actor.ts";
import { ServiceError } from "../platform/errors.ts";
import { recordChange } from "../platform/record-change.ts";
import { doOnce } from "../platform/storage/do-once.ts";
import { nowMicros, toMicros } from "../platform/storage/micros.ts";
import type { Once } from "../platform/storage/once.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import { type ApiKey, type ChangedSettings, countActiveKeys, insertApiKey } from "./api-keys-store.ts";
import { type AccessChanger, accessWriter, auditOf, changeAccess, lockCaller } from "./change-access.ts";
import type { IdentityServices } from "./identity-services.ts";
import { generateKey, visibleParts } from "./key-format.ts";
import { type CreatedApiKey, createNewKeySeal } from "./seal-new-key.ts";
import type { KeyDigest } from "./verify-api-key.ts";

export interface NewApiKey {
  userId: string;
  name: string;
  expiresAt: Date | null;
  /** Absent or null: all that the user may. */
  scopes?: KeyScope[] | null;
  /** Absent: the server's. */
  settings?: ChangedSettings;
}

/** No one needs this many, but each key has its own rate limit, so their number must be limited. */
const maxActiveKeys = 1_000;

/** Creates a key for the caller. A repeated request returns the same key if it has the same `credential`: key or session token. */
export async function createApiKey(
  services: Pick<IdentityServices, "store" | "sessionRules" | "keyDigest">,
  changer: AccessChanger & { credential: string },
  newKey: NewApiKey,
  once: Once | undefined,
): Promise<CreatedApiKey> {
  const create = async (transaction: Database) => {
    const created = await addApiKey(transaction, services.keyDigest, newKey);
    await recordNewKey(transaction, auditOf(changer), newKey, created.id);
    return created;
  };
  if (once === undefined) return await changeAccess(services, changer, create);
  const seal = await createNewKeySeal(changer.credential, once.id);
  return await doOnce(accessWriter(services, changer), once, {
    async work(transaction) {
      await lockCaller(transaction, services.sessionRules, changer.caller);
      return await create(transaction);
    },
    toReceipt: async (created) => ({ sealed: await seal.close(created) }),
    async recall({ sealed }) {
      // A caller who may no longer create keys does not get an earlier one either.
      const created = await changeAccess(services, changer, () => seal.open(sealed));
      if (created !== undefined) return created;
      throw new ServiceError(
        "conflict",
        "Another of your keys or sessions created an API key with this Idempotency-Key, and only that one can retrieve it. Use a new Idempotency-Key to create another.",
      );
    },
  });
}

/** Adds a key to a user. Only in a transaction that has locked the user is the limit of active keys exact. */
export async function addApiKey(
  transaction: Database,
  digestOf: KeyDigest,
  newKey: NewApiKey,
): Promise<CreatedApiKey> {
  const { userId } = newKey;
  if ((await countActiveKeys(transaction, userId, nowMicros(), maxActiveKeys)) >= maxActiveKeys) {
    throw new ServiceError(
      "conflict",
      `A user can have ${maxActiveKeys} active API keys. Revoke one that is no longer needed, and try again.`,
    );
  }
  const key = generateKey();
  const apiKey = describeNewKey(key, newKey);
  await insertApiKey(transaction, { ...apiKey, digest: digestOf(key) });
  return { ...apiKey, key };
}

export async function recordNewKey(
  transaction: Database,
  changer: Pick<Changer, "accountId" | "actor">,
  { userId, name, scopes = null }: NewApiKey,
  keyId: string,
): Promise<void> {
  await recordChange(transaction, changer, {
    action: "api_key.create",
    objectId: keyId,
    detail: { name, scopes, user_id: userId },
  });
}

export function describeNewKey(
  key: string,
  { userId, name, expiresAt, scopes = null, settings = {} }: NewApiKey,
): ApiKey {
  const { prefix, lastFour } = visibleParts(key);
  return {
    id: Bun.randomUUIDv7(),
    user_id: userId,
    name,
    prefix,
    last_four: lastFour,
    created_at: nowMicros(),
    expires_at: expiresAt === null ? null : toMicros(expiresAt),
    revoked_at: null,
    last_used_at: null,
    rate_limit_rpm: settings.rate_limit_rpm ?? null,
    max_in_flight: settings.max_in_flight ?? null,
    capture: settings.capture ?? null,
    scopes: scopes === null ? null : JSON.stringify(scopes),
  };
}
