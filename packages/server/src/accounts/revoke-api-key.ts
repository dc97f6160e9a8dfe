import type { Changer } from "../platform/actor.ts";
import { recordChange } from "../platform/record-change.ts";
import { nowMicros } from "../platform/storage/micros.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import { markRevoked } from "./api-keys-store.ts";
import { type AccessChanger, auditOf } from "./change-access.ts";
import { changeKey, noSuchKey } from "./change-key.ts";
import type { IdentityServices } from "./identity-services.ts";
import { lockUsers } from "./users-store.ts";

/** Revokes one of the caller's keys or, for an owner, of the account's. */
export async function revokeApiKey(
  services: Pick<IdentityServices, "store" | "sessionRules" | "keyVerifier" | "forgetKeyElsewhere">,
  changer: AccessChanger,
  keyId: string,
): Promise<void> {
  await changeKey(services, changer, keyId, (transaction, userId) =>
    endKey(transaction, auditOf(changer), userId, keyId),
  );
}

/** Revokes a user's key for the command line. Running servers refuse it within 5 s. */
export async function revokeKeyOf(
  database: Database,
  changer: Pick<Changer, "accountId" | "actor">,
  userId: string,
  keyId: string,
): Promise<void> {
  await database.transaction().execute(async (transaction) => {
    await lockUsers(transaction, [userId]);
    await endKey(transaction, changer, userId, keyId);
  });
}

async function endKey(
  transaction: Database,
  changer: Pick<Changer, "accountId" | "actor">,
  userId: string,
  keyId: string,
): Promise<{ digest: string }> {
  const now = nowMicros();
  const key = await markRevoked(transaction, userId, keyId, now);
  if (key === undefined) throw noSuchKey();
  // Revoking it again changes nothing.
  if (key.revoked_at === now)
    await recordChange(transaction, changer, {
      action: "api_key.revoke",
      objectId: keyId,
      detail: { name: key.name, user_id: userId },
    });
  return key;
}
