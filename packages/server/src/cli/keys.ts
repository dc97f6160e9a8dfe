import { ApiKeyCreateRequest } from "@presage/contract";
import type { Config } from "../config.ts";
import { type ApiKey, selectApiKeys } from "../identity/api-keys/api-keys-store.ts";
import { addApiKey } from "../identity/api-keys/create-api-key.ts";
import { ExpiryError, parseExpiry } from "../identity/api-keys/parse-expiry.ts";
import { revokeKeyOf } from "../identity/api-keys/revoke-api-key.ts";
import { lockUsers } from "../identity/users/users-store.ts";
import type { Keyset } from "../storage/keyset.ts";
import { nowMicros, toIsoInstant } from "../storage/micros.ts";
import { CommandError } from "./command-error.ts";
import { withDatabase } from "./with-database.ts";

const pageSize = 1_000;

export async function createKey(
  config: Config,
  options: { name: string; expiresAt?: string },
): Promise<void> {
  const { name, expiresAt } = options;
  const request = ApiKeyCreateRequest.safeParse({ name, expires_at: expiresAt });
  if (!request.success) throw new CommandError("--name takes 1 to 120 characters, --expires-at a date-time");
  const expiry = expiresAt === undefined ? null : readExpiry(expiresAt);
  await withDatabase(config, async ({ database, owner, keyDigest }) => {
    const newKey = { userId: owner.id, name, expiresAt: expiry };
    const { key, id } = await database.transaction().execute(async (transaction) => {
      await lockUsers(transaction, [owner.id]);
      return await addApiKey(transaction, keyDigest, newKey);
    });
    process.stdout.write(`${key}\n`);
    process.stderr.write(`The id of the key is ${id}. The key is not shown again.\n`);
  });
}

function readExpiry(text: string): Date {
  try {
    return parseExpiry(text);
  } catch (error) {
    throw error instanceof ExpiryError ? new CommandError(`--expires-at: ${error.message}`) : error;
  }
}

export async function listKeys(config: Config): Promise<void> {
  await withDatabase(config, async ({ database, owner }) => {
    let after: Keyset | undefined;
    do {
      const { rows, next } = await selectApiKeys(database, owner.id, { limit: pageSize, after });
      for (const apiKey of rows) process.stdout.write(`${describeKey(apiKey)}\n`);
      after = next;
    } while (after !== undefined);
  });
}

export async function revokeKey(config: Config, id: string): Promise<void> {
  await withDatabase(config, async ({ database, owner }) => {
    await revokeKeyOf(database, owner.id, id.toLowerCase());
    process.stdout.write("Revoked.\n");
  });
}

function describeKey({
  id,
  name,
  prefix,
  last_four,
  created_at,
  expires_at,
  revoked_at,
  last_used_at,
}: ApiKey): string {
  const state = revoked_at !== null ? "revoked" : isPast(expires_at) ? "expired" : "active";
  const used = last_used_at === null ? "never used" : `last used ${toIsoInstant(last_used_at)}`;
  return [
    id,
    `${prefix}…${last_four}`,
    state,
    `created ${toIsoInstant(created_at)}`,
    used,
    JSON.stringify(name),
  ].join("  ");
}

function isPast(instant: number | null): boolean {
  return instant !== null && instant <= nowMicros();
}
