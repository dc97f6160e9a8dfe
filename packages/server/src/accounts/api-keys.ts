import { type KeyScope, readInstant } from "@presage/contract";
import type { AccessChanger } from "../http/caller.ts";
import { type Author, recordChange } from "../platform/audit.ts";
import { conflict, notFound } from "../platform/errors.ts";
import { nowMicros, toMicros } from "../platform/storage/columns.ts";
import { doOnce, type Once } from "../platform/storage/once.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import { claimOnce } from "../platform/storage/settings-store.ts";
import {
  type ApiKey,
  type ChangedSettings,
  countActiveKeys,
  insertApiKey,
  markRevoked,
  selectHolder,
  updateSettings,
} from "./api-keys-store.ts";
import {
  type AccessServices,
  accessWriter,
  changeAccess,
  type KeyChangeServices,
  lockCaller,
} from "./change-access.ts";
import { lockUsers } from "./users-store.ts";
import { generateKey, type KeyDigest, visibleParts } from "./verify-api-key.ts";

/**
 * Changes one of the caller's keys or, for an owner, any key of the account. `change` gets the id of the key's holder and returns
 * the key's digest. All workers of this server see the change immediately, other servers within 5 s.
 */
async function changeKey<Changed extends { digest: string }>(
  services: KeyChangeServices,
  changer: AccessChanger,
  keyId: string,
  change: (transaction: Database, userId: string) => Promise<Changed>,
): Promise<Changed> {
  const { userId } = changer.caller;
  const changed = await accessWriter(services, changer)
    .transaction()
    .execute(async (transaction) => {
      const found = await selectHolder(transaction, userId, keyId);
      // Lock both together: owners who revoke each other's keys must not deadlock.
      await lockUsers(transaction, [userId, found ?? userId]);
      await lockCaller(transaction, services.sessionRules, changer.caller);
      // The caller may have lost the owner role in the meantime.
      const holder = await selectHolder(transaction, userId, keyId);
      if (holder === undefined || holder !== found) throw notFound("API key");
      return await change(transaction, holder);
    });
  services.keyVerifier.forget(changed.digest);
  await services.forgetKeyElsewhere(changed.digest);
  return changed;
}

/** Changes the settings of one of the caller's keys or, for an owner, of any key of the account. */
export async function changeKeySettings(
  services: KeyChangeServices,
  changer: AccessChanger,
  keyId: string,
  settings: ChangedSettings,
): Promise<ApiKey> {
  const { digest: _, ...apiKey } = await changeKey(services, changer, keyId, (transaction, userId) =>
    setSettings(transaction, changer, { userId, keyId, settings }),
  );
  return apiKey;
}

/** Changes the settings of a user's key for the command line. They apply in running servers within 5 s. */
export async function changeKeySettingsOf(database: Database, changer: Author, change: SettingsChange) {
  await database.transaction().execute(async (transaction) => {
    await lockUsers(transaction, [change.userId]);
    await setSettings(transaction, changer, change);
  });
}

export interface SettingsChange {
  userId: string;
  keyId: string;
  settings: ChangedSettings;
}

async function setSettings(
  transaction: Database,
  changer: Author,
  { userId, keyId, settings }: SettingsChange,
) {
  const apiKey = await updateSettings(transaction, userId, keyId, settings);
  if (apiKey === undefined) throw notFound("API key");
  if (Object.keys(settings).length > 0)
    await recordChange(transaction, changer, "api_key.update", keyId, { name: apiKey.name, ...settings });
  return apiKey;
}

export type CreatedApiKey = ApiKey & { key: string };

/**
 * Encrypts a new key for its creator, so that a repeated request can return it although it is not stored in plain text. The
 * encryption key is derived from the request's credential, of which the database has only a digest: a copy of the database does not
 * reveal keys.
 */
async function createNewKeySeal(credential: string, requestId: string) {
  const { CompactEncrypt, compactDecrypt } = await import("jose");
  const [alg, enc] = ["dir", "A256GCM"];
  const secret = new Bun.CryptoHasher("sha256", credential).update(`new API key: ${requestId}`).digest();
  return {
    async close(created: CreatedApiKey) {
      return await new CompactEncrypt(new TextEncoder().encode(JSON.stringify(created)))
        .setProtectedHeader({ alg, enc })
        .encrypt(secret);
    },
    /** Undefined if it was sealed with another credential. */
    async open(sealed: string) {
      const options = { keyManagementAlgorithms: [alg], contentEncryptionAlgorithms: [enc] };
      const opened = await compactDecrypt(sealed, secret, options).catch(() => undefined);
      if (opened === undefined) return undefined;
      // Encryption is authenticated, so this is what `seal` wrote.
      return JSON.parse(new TextDecoder().decode(opened.plaintext)) as CreatedApiKey;
    },
  };
}

export interface NewApiKey {
  userId: string;
  name: string;
  expiresAt: Date | null;
  /** Absent or null: everything that the user may do. */
  scopes?: KeyScope[] | null;
  /** Absent: the server's defaults. */
  settings?: ChangedSettings;
}

/** No one needs this many, but each key has its own rate limit, so their number must be limited. */
const maxActiveKeys = 1_000;

/** Creates a key for the caller. A repeated request returns the same key if its `credential` (key or session token) is the same. */
export async function createApiKey(
  services: AccessServices & { keyDigest: KeyDigest },
  changer: AccessChanger & { credential: string },
  newKey: NewApiKey,
  once: Once | undefined,
): Promise<CreatedApiKey> {
  const create = async (transaction: Database) => {
    const created = await addApiKey(transaction, services.keyDigest, newKey);
    await recordNewKey(transaction, changer, newKey, created.id);
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
      throw conflict(
        "Another of your keys or sessions created an API key with this Idempotency-Key, and only that one can retrieve it. Use a new Idempotency-Key to create another.",
      );
    },
  });
}

/** Adds a key to a user. The limit of active keys is exact only in a transaction that has locked the user. */
export async function addApiKey(
  transaction: Database,
  digestOf: KeyDigest,
  newKey: NewApiKey,
): Promise<CreatedApiKey> {
  const { userId } = newKey;
  if ((await countActiveKeys(transaction, userId, nowMicros(), maxActiveKeys)) >= maxActiveKeys) {
    throw conflict(
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
  changer: Author,
  { userId, name, scopes = null }: NewApiKey,
  keyId: string,
): Promise<void> {
  await recordChange(transaction, changer, "api_key.create", keyId, { name, scopes, user_id: userId });
}

function describeNewKey(
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

/**
 * Gives a user the bootstrap key, or a generated key if none is configured and the database is new. Returns the generated key.
 * Processes that start at the same time create one key; a revoked bootstrap key stays revoked.
 */
export async function ensureFirstKey(
  database: Database,
  digestOf: KeyDigest,
  userId: string,
  bootstrapKey: string | undefined,
): Promise<string | undefined> {
  if (bootstrapKey !== undefined) {
    const apiKey = describeNewKey(bootstrapKey, { userId, name: "bootstrap", expiresAt: null });
    await insertApiKey(database, { ...apiKey, digest: digestOf(bootstrapKey) });
    return undefined;
  }
  return await database.transaction().execute(async (transaction) => {
    if (!(await claimOnce(transaction, "first_key"))) return undefined;
    await lockUsers(transaction, [userId]);
    return (await addApiKey(transaction, digestOf, { userId, name: "first key", expiresAt: null })).key;
  });
}

/** The last four-digit year; a date-time with an offset can exceed it. */
const maxYear = 9999;

/** An expiry in the past or too far in the future. */
export class ExpiryError extends Error {
  readonly isPast: boolean;

  constructor(isPast: boolean) {
    super(isPast ? "the expiry is in the past" : `the expiry is after the year ${maxYear}`);
    this.name = "ExpiryError";
    this.isPast = isPast;
  }
}

/** Parses an ISO 8601 date-time, which must be in the future; without an offset it is UTC. */
export function parseExpiry(text: string): Date {
  return checkExpiry(new Date(readInstant(text) / 1_000));
}

/** Returns the expiry, which must be in the future and before the year 10000. */
export function checkExpiry(expiresAt: Date): Date {
  if (Number.isNaN(expiresAt.getTime()) || expiresAt.getUTCFullYear() > maxYear) throw new ExpiryError(false);
  if (expiresAt.getTime() <= Date.now()) throw new ExpiryError(true);
  return expiresAt;
}

/** Revokes one of the caller's keys or, for an owner, any key of the account. */
export async function revokeApiKey(services: KeyChangeServices, changer: AccessChanger, keyId: string) {
  await changeKey(services, changer, keyId, (transaction, userId) =>
    endKey(transaction, changer, userId, keyId),
  );
}

/** Revokes a user's key for the command line. Running servers refuse it within 5 s. */
export async function revokeKeyOf(database: Database, changer: Author, userId: string, keyId: string) {
  await database.transaction().execute(async (transaction) => {
    await lockUsers(transaction, [userId]);
    await endKey(transaction, changer, userId, keyId);
  });
}

async function endKey(transaction: Database, changer: Author, userId: string, keyId: string) {
  const now = nowMicros();
  const key = await markRevoked(transaction, userId, keyId, now);
  if (key === undefined) throw notFound("API key");
  // Only the first revocation is recorded.
  if (key.revoked_at === now)
    await recordChange(transaction, changer, "api_key.revoke", keyId, { name: key.name, user_id: userId });
  return key;
}
