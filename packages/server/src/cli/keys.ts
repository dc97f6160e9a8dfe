import { ApiKeyCreateRequest } from "@presage/contract";
import type { Config } from "../config.ts";
import { toApiKeyResponse } from "../http/resources/api-keys/api-key-response.ts";
import { type ApiKey, selectApiKeys } from "../identity/api-keys/api-keys-store.ts";
import { addApiKey } from "../identity/api-keys/create-api-key.ts";
import { revokeKeyOf } from "../identity/api-keys/revoke-api-key.ts";
import { lockUsers } from "../identity/users/users-store.ts";
import { printable } from "../printable.ts";
import type { Keyset } from "../storage/keyset.ts";
import { type Micros, nowMicros, toIsoInstant } from "../storage/micros.ts";
import { CommandError } from "./command-error.ts";
import { readExpiry } from "./read-expiry.ts";
import { printList } from "./terminal/print-list.ts";
import { printNotice } from "./terminal/print-notice.ts";
import type { Column } from "./terminal/text-table.ts";
import { withDatabase } from "./with-database.ts";

const pageSize = 1_000;

export async function createKey(
  config: Config,
  options: { name: string; expiresAt?: string },
): Promise<void> {
  const { name } = options;
  if (!ApiKeyCreateRequest.shape.name.safeParse(name).success)
    throw new CommandError("--name takes 1 to 120 characters");
  const expiresAt = options.expiresAt === undefined ? null : readExpiry(options.expiresAt);
  await withDatabase(config, async ({ database, owner, keyDigest }) => {
    const newKey = { userId: owner.id, name, expiresAt };
    const { key, id } = await database.transaction().execute(async (transaction) => {
      await lockUsers(transaction, [owner.id]);
      return await addApiKey(transaction, keyDigest, newKey);
    });
    process.stdout.write(`${key}\n`);
    const expiry = expiresAt === null ? "It does not expire." : `It expires at ${expiresAt.toISOString()}.`;
    printNotice(`The key is not shown again. Its id is ${id}.\n${expiry}`);
  });
}

export async function listKeys(config: Config, options: { json?: boolean }): Promise<void> {
  await withDatabase(config, async ({ database, owner }) => {
    const keys: ApiKey[] = [];
    let after: Keyset | undefined;
    do {
      const { rows, next } = await selectApiKeys(database, owner.id, { limit: pageSize, after });
      keys.push(...rows);
      after = next;
    } while (after !== undefined);
    printList(keys, { columns: keyColumns, json: options.json ? toApiKeyResponse : undefined });
  });
}

export async function revokeKey(config: Config, id: string): Promise<void> {
  await withDatabase(config, async ({ database, owner }) => {
    await revokeKeyOf(database, owner.id, id.toLowerCase());
    process.stdout.write("Revoked.\n");
  });
}

/** The last ones are left out where a terminal is too narrow. */
const keyColumns: readonly Column<ApiKey>[] = [
  { heading: "ID", text: ({ id }) => id },
  { heading: "NAME", text: ({ name }) => printable(name), canWrap: true },
  { heading: "STATE", text: stateOf },
  { heading: "EXPIRES", text: ({ expires_at }) => day(expires_at) },
  { heading: "LAST USED", text: ({ last_used_at }) => day(last_used_at) },
  { heading: "CREATED", text: ({ created_at }) => day(created_at) },
  { heading: "KEY", text: ({ prefix, last_four }) => `${prefix}…${last_four}` },
];

function stateOf({ revoked_at, expires_at }: ApiKey): string {
  if (revoked_at !== null) return "revoked";
  return expires_at !== null && expires_at <= nowMicros() ? "expired" : "active";
}

function day(instant: Micros | null): string {
  return instant === null ? "never" : toIsoInstant(instant).slice(0, "2026-01-31".length);
}
